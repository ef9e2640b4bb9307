#include "server/runs/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "server/runs/markdown.h"
#include "server/runs/render.h"

namespace ratchet::plots {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 300;
constexpr double kLeft = 78;
constexpr double kBottom = 40;
constexpr double kTop = 16;
constexpr double kRight = 16;
constexpr double kBarHeight = 22;
constexpr double kNameWidth = 250;

/// A straight map from values to places; by logarithms when asked.
struct Scale {
  double from, to, begin, end;
  bool logarithmic = false;

  [[nodiscard]] double operator()(double value) const {
    const auto place = [&](double v) { return logarithmic ? std::log10(v) : v; };
    const double range = place(to) - place(from);
    return begin + (range == 0 ? 0.5 : (place(value) - place(from)) / range) * (end - begin);
  }
};

std::string text_at(double x, double y, std::string_view text, std::string_view anchor = "middle",
                    std::string_view style = "label") {
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", style,
                     x, y, anchor, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", style,
                     x1, y1, x2, y2);
}

std::string framed(double height, std::string_view title, const std::string& body) {
  return fmt::format(
      R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>)", kWidth,
      height, escaped(title), escaped(title), body);
}

std::string_view colour_of(const VersionState& version) {
  switch (verdict_of(version).value_or(Verdict::inconclusive)) {
    case Verdict::faster:
      return "good";
    case Verdict::slower:
    case Verdict::incorrect:
    case Verdict::invalid:
      return "bad";
    default:
      return "plain";
  }
}

std::vector<const VersionState*> timed_versions(const RunState& state) {
  std::vector<const VersionState*> versions;
  for (const auto& version : state.versions)
    if (version.profile && !version.profile->fault && version.profile->timing.median.value > 0 &&
        !state.masked.contains(version.id))
      versions.push_back(&version);
  return versions;
}

std::string horizontal_grid(const Scale& y, double to, std::string_view unit) {
  std::string body;
  for (int i = 0; i <= 4; ++i) {
    const double value = to * i / 4;
    body += line(kLeft, y(value), kWidth - kRight, y(value), "grid");
    body += text_at(kLeft - 6, y(value) + 4, fmt::format("{:.3g} {}", value, unit), "end");
  }
  return body;
}

struct Bar {
  std::string name;
  double value = 0;
  std::optional<double> low, high;
  std::string_view style = "plain";
};

/// Bars from zero, to the left where negative.
std::string bars(std::string_view title, std::string_view unit, const std::vector<Bar>& all) {
  if (all.empty()) return "";
  double least = 0;
  double most = 0;
  for (const auto& bar : all) {
    least = std::min({least, bar.value, bar.low.value_or(bar.value)});
    most = std::max({most, bar.value, bar.high.value_or(bar.value)});
  }
  if (most == least) most = least + 1;
  const Scale x{least, most, kNameWidth, kWidth - 90};
  std::string body;
  double y = kTop;
  for (const auto& bar : all) {
    const double from = std::min(x(0), x(bar.value));
    const double wide = std::max(1.0, std::abs(x(bar.value) - x(0)));
    const double middle = y + kBarHeight / 2;
    body += text_at(kNameWidth - 8, middle + 4, bar.name, "end");
    body +=
        fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                    bar.style, from, y + 3, wide, kBarHeight - 6);
    if (bar.low && bar.high) body += line(x(*bar.low), middle, x(*bar.high), middle, "whisker");
    body += text_at(std::max(x(bar.value), x(bar.high.value_or(bar.value))) + 6, middle + 4,
                    fmt::format("{:.3g} {}", bar.value, unit), "start");
    y += kBarHeight;
  }
  body += line(x(0), kTop, x(0), y, "axis");
  return framed(y + 8, title, body);
}

/// Where a version stands between its roofs, when no intensity is known.
std::string fraction_path(const std::vector<const VersionState*>& versions) {
  std::vector<Bar> all;
  for (const auto* version : versions) {
    const auto& roofline = version->profile->roofline;
    const auto& fraction =
        roofline.binding == "compute" ? roofline.compute_fraction : roofline.bandwidth_fraction;
    if (fraction)
      all.push_back({fmt::format("{}, {} roof", version->id.text(), roofline.binding),
                     *fraction * 100,
                     {},
                     {},
                     colour_of(*version)});
  }
  return bars("Share of the measured roof that each version reaches", "%", all);
}

struct RoofPoint {
  const VersionState* version;
  double intensity, flops;
};

std::string roof_lines(const Scale& x, const Scale& y, const Roofline& roofline) {
  std::string body;
  const auto clamp = [&](double flops) { return std::clamp(flops, y.from, y.to); };
  if (roofline.bandwidth_ceiling) {
    const double slope = *roofline.bandwidth_ceiling;
    const double top = roofline.compute_ceiling.value_or(y.to);
    const double from = std::max(x.from, y.from / slope);
    const double to = std::min(x.to, std::min(top, y.to) / slope);
    if (from < to)
      body += line(x(from), y(clamp(slope * from)), x(to), y(clamp(slope * to)), "roof");
    body += text_at(x(from) + 6, y(clamp(slope * from)) - 8,
                    fmt::format("{:.3g} GB/s measured", slope / 1e9), "start");
  }
  if (roofline.compute_ceiling) {
    const double ceiling = *roofline.compute_ceiling;
    const double ridge =
        roofline.bandwidth_ceiling ? ceiling / *roofline.bandwidth_ceiling : x.from;
    body += line(x(std::clamp(ridge, x.from, x.to)), y(clamp(ceiling)), x(x.to), y(clamp(ceiling)),
                 "roof");
    body += text_at(kWidth - kRight - 4, y(clamp(ceiling)) - 6,
                    fmt::format("{:.3g} GFLOP/s measured", ceiling / 1e9), "end");
  }
  return body;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string timeline(const RunState& state) {
  const auto versions = timed_versions(state);
  if (versions.empty()) return "";
  double most = 0;
  for (const auto* version : versions)
    most = std::max(most, version->profile->timing.ci_high.value / 1e3);
  most *= 1.1;
  const Scale y{0, most, kHeight - kBottom, kTop};
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(versions.size());
  std::string body = horizontal_grid(y, most, "µs");
  std::string path;
  double x = kLeft + step / 2;
  for (const auto* version : versions) {
    const auto& timing = version->profile->timing;
    const double middle = y(timing.median.value / 1e3);
    path += fmt::format("{}{:.1f},{:.1f} ", path.empty() ? "M" : "L", x, middle);
    body += line(x, y(timing.ci_low.value / 1e3), x, y(timing.ci_high.value / 1e3), "whisker");
    body += fmt::format(
        R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}: {} µs, {}</title></circle>)",
        colour_of(*version), x, middle, version->id.text(),
        markdown::number(timing.median.value / 1e3),
        name_of(verdict_of(*version).value_or(Verdict::baseline)));
    body += text_at(x, kHeight - 14, version->id.text());
    x += step;
  }
  body += fmt::format(R"(<path class="trail" d="{}"/>)", path);
  return framed(kHeight, "Median time of every version with its 95 % interval", body);
}

std::string roofline(const RunState& state) {
  const auto versions = timed_versions(state);
  std::vector<RoofPoint> points;
  for (const auto* version : versions) {
    const auto& roofline = version->profile->roofline;
    if (roofline.intensity.value_or(0) > 0 && roofline.achieved_flops_per_s.value_or(0) > 0)
      points.push_back({version, *roofline.intensity, *roofline.achieved_flops_per_s});
  }
  if (points.empty()) return fraction_path(versions);
  const auto& roofs = points.back().version->profile->roofline;
  const auto [low_i, high_i] = std::ranges::minmax(points, {}, &RoofPoint::intensity);
  const auto [low_f, high_f] = std::ranges::minmax(points, {}, &RoofPoint::flops);
  double most = std::max(high_f.flops, roofs.compute_ceiling.value_or(0));
  if (roofs.bandwidth_ceiling && !roofs.compute_ceiling)
    most = std::max(most, *roofs.bandwidth_ceiling * high_i.intensity);
  const Scale x{low_i.intensity / 8, high_i.intensity * 8, kLeft, kWidth - kRight, true};
  const Scale y{low_f.flops / 4, most * 2, kHeight - kBottom, kTop, true};
  std::string body = line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis") +
                     line(kLeft, kTop, kLeft, kHeight - kBottom, "axis");
  body += roof_lines(x, y, roofs);
  std::string path;
  for (const auto& point : points) {
    path += fmt::format("{}{:.1f},{:.1f} ", path.empty() ? "M" : "L", x(point.intensity),
                        y(point.flops));
    body += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5"/>)",
                        colour_of(*point.version), x(point.intensity), y(point.flops));
    body += text_at(x(point.intensity) + 9, y(point.flops) + 4, point.version->id.text(), "start");
  }
  body += fmt::format(R"(<path class="trail" d="{}"/>)", path);
  body += text_at((kLeft + kWidth) / 2, kHeight - 12, "FLOP per byte");
  body += text_at(kLeft + 4, kTop + 10, "FLOP/s", "start");
  return framed(kHeight, "Path of the versions under the measured roofs", body);
}

std::string stalls(const VersionState& version) {
  if (!version.profile) return "";
  const auto* const kernel = render::main_kernel(*version.profile);
  if (kernel == nullptr) return "";
  constexpr std::string_view kPrefix = "smsp__average_warps_issue_stalled_";
  std::vector<Bar> all;
  for (const auto& [name, value] : kernel->metrics) {
    if (!name.starts_with(kPrefix) || value <= 0) continue;
    const auto reason = name.substr(kPrefix.size());
    all.push_back({reason.substr(0, reason.find("_per_issue")), value});
  }
  std::ranges::sort(all, std::greater(), &Bar::value);
  constexpr std::size_t kMost = 12;
  if (all.size() > kMost) all.resize(kMost);
  return bars("Warps waiting per issue, by reason", "", all);
}

std::string attribution(const VersionState& version) {
  if (!version.ablation) return "";
  std::vector<Bar> all;
  for (const auto& one : version.ablation->attribution) {
    if (!one.delta_ns) continue;
    const auto us = [](const std::optional<double>& ns) {
      return ns ? std::optional(*ns / 1e3) : std::nullopt;
    };
    all.push_back({fmt::format("{} ({})", one.id, name_of(one.verdict)), *one.delta_ns / 1e3,
                   us(one.delta_low_ns), us(one.delta_high_ns),
                   one.verdict == MethodClass::effective ? "good" : "plain"});
  }
  return bars("Time that each method saves", "µs", all);
}

}  // namespace ratchet::plots

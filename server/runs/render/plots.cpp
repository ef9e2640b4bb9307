#include "server/runs/render/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "server/core/figures.h"
#include "server/core/text.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/markdown.h"
#include "server/runs/render/labels.h"
#include "server/runs/render/render.h"

namespace ratchet::plots {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 300;
constexpr double kLeft = 88;
constexpr double kBottom = 40;
constexpr double kTop = 16;
constexpr double kRight = 16;
constexpr double kBarHeight = 22;
constexpr double kNameGap = 12;
constexpr double kRadius = 5;

/// A linear or logarithmic map from values to coordinates.
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

std::string_view color_of(const VersionState& version) {
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

/// With the SI prefix that leaves one to three digits: 4.27e12 bytes/s is "4.27 TB/s".
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (std::abs(value) >= 999.5 && step + 1 < kPrefixes.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes[step], unit);
}

/// About four round values from zero to `most`.
std::vector<double> even_ticks(double most) {
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0})
    if (step < rough * 0.75) step = power * factor;
  std::vector<double> ticks;
  for (double value = 0; value <= most; value += step) ticks.push_back(value);
  return ticks;
}

/// Powers of ten between two values; if there are few, also twice and five times each.
std::vector<double> decade_ticks(double from, double to) {
  const bool few = to / from < 1000;
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if ((few || factor == 1) && power * factor >= from && power * factor <= to)
        ticks.push_back(power * factor);
  return ticks;
}

std::string horizontal_grid(const Scale& y, const std::vector<double>& ticks,
                            const std::function<std::string(double)>& label) {
  std::string body;
  for (const double value : ticks) {
    body += line(kLeft, y(value), kWidth - kRight, y(value), "grid");
    body += text_at(kLeft - 6, y(value) + 4, label(value), "end");
  }
  return body;
}

struct Bar {
  std::string name;
  double value = 0;
  std::optional<double> low, high;
  std::string_view style = "plain";
};

/// Horizontal bars from zero, to the left for negative values.
std::string bars(std::string_view title, std::string_view unit, const std::vector<Bar>& all) {
  if (all.empty()) return "";
  double least = 0;
  double most = 0;
  for (const auto& bar : all) {
    least = std::min({least, bar.value, bar.low.value_or(bar.value)});
    most = std::max({most, bar.value, bar.high.value_or(bar.value)});
  }
  if (most == least) most = least + 1;
  double names = 0;
  for (const auto& bar : all) names = std::max(names, kNameGap + width_of(bar.name));
  const Scale x{least, most, names, kWidth - 90};
  std::string body;
  double y = kTop;
  for (const auto& bar : all) {
    const double from = std::min(x(0), x(bar.value));
    const double wide = std::max(1.0, std::abs(x(bar.value) - x(0)));
    const double middle = y + kBarHeight / 2;
    body += text_at(names - 8, middle + 4, bar.name, "end");
    body +=
        fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                    bar.style, from, y + 3, wide, kBarHeight - 6);
    if (bar.low && bar.high) body += line(x(*bar.low), middle, x(*bar.high), middle, "whisker");
    body += text_at(std::max({x(0), x(bar.value), x(bar.high.value_or(bar.value))}) + 6, middle + 4,
                    fmt::format("{:.3g} {}", bar.value, unit), "start");
    y += kBarHeight;
  }
  body += line(x(0), kTop, x(0), y, "axis");
  return framed(y + 8, title, body);
}

/// The fraction of its roof that each version reaches.
std::string fraction_path(const std::vector<const VersionState*>& versions) {
  std::vector<Bar> all;
  for (const auto* version : versions) {
    const auto& roofline = version->profile->roofline;
    if (const auto fraction = roof_fraction(roofline))
      all.push_back({fmt::format("{}, {} roof", version->id.text(), roofline.binding),
                     *fraction * 100,
                     {},
                     {},
                     color_of(*version)});
  }
  return bars("Share of the measured roof that each version reaches", "%", all);
}

struct RoofPoint {
  const VersionState* version;
  double intensity, flops;
};

/// A roof as drawn, and what is written beside it.
struct RoofLine {
  Point from, to;
  std::string name;

  /// Where along it its name may stand, best first.
  [[nodiscard]] std::vector<Point> anchors() const {
    std::vector<Point> places;
    for (const double share : {0.5, 0.7, 0.3, 0.85, 0.15})
      places.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
    return places;
  }
};

std::vector<RoofLine> roof_lines(const Scale& x, const Scale& y, const Roofline& roofline) {
  std::vector<RoofLine> roofs;
  const auto clamp = [&](double flops) { return std::clamp(flops, y.from, y.to); };
  if (roofline.bandwidth_ceiling) {
    const double slope = *roofline.bandwidth_ceiling;
    const double top = roofline.compute_ceiling.value_or(y.to);
    const double from = std::max(x.from, y.from / slope);
    const double to = std::min(x.to, std::min(top, y.to) / slope);
    if (from < to)
      roofs.push_back({{x(from), y(clamp(slope * from))},
                       {x(to), y(clamp(slope * to))},
                       with_prefix(slope, "B/s") + " measured"});
  }
  if (roofline.compute_ceiling) {
    const double ceiling = *roofline.compute_ceiling;
    const double ridge =
        roofline.bandwidth_ceiling ? ceiling / *roofline.bandwidth_ceiling : x.from;
    roofs.push_back({{x(std::clamp(ridge, x.from, x.to)), y(clamp(ceiling))},
                     {x(x.to), y(clamp(ceiling))},
                     with_prefix(ceiling, "FLOP/s") + " measured"});
  }
  return roofs;
}

/// A round mark with its place taken.
std::string dot(Labels& labels, Point at, std::string_view style, const std::string& title = "") {
  labels.mark({at.x - kRadius, at.y - kRadius, at.x + kRadius, at.y + kRadius});
  return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}">{}</circle>)", style,
                     at.x, at.y, kRadius,
                     title.empty() ? "" : "<title>" + escaped(title) + "</title>");
}

/// The dashed line through all points, whose place is taken too.
std::string trail(Labels& labels, const std::vector<Point>& points) {
  std::string path;
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += fmt::format("{}{:.1f},{:.1f} ", i == 0 ? "M" : "L", points[i].x, points[i].y);
    if (i > 0) labels.line(points[i - 1], points[i]);
  }
  return fmt::format(R"(<path class="trail" d="{}"/>)", path);
}

}  // namespace

std::string timeline(const RunState& state) {
  const auto versions = timed_versions(state);
  if (versions.empty()) return "";
  double least = versions.front()->profile->timing.ci_low.value;
  double most = 0;
  for (const auto* version : versions) {
    least = std::min(least, version->profile->timing.ci_low.value);
    most = std::max(most, version->profile->timing.ci_high.value);
  }
  // If one version is many times slower than another, a linear scale would merge the others.
  const bool wide = least > 0 && most / least > 10;
  const Scale y{wide ? least / 1.5 : 0, most * (wide ? 1.5 : 1.1), kHeight - kBottom, kTop, wide};
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(versions.size());
  std::string body =
      horizontal_grid(y, wide ? decade_ticks(y.from, y.to) : even_ticks(y.to), time_text);
  Labels labels({kLeft, 0, kWidth, kHeight - kBottom + 10});
  std::vector<Point> points;
  double x = kLeft + step / 2;
  for (const auto* version : versions) {
    const auto& timing = version->profile->timing;
    points.push_back({x, y(timing.median.value)});
    body += line(x, y(timing.ci_low.value), x, y(timing.ci_high.value), "whisker");
    labels.line({x, y(timing.ci_low.value)}, {x, y(timing.ci_high.value)});
    body += dot(labels, points.back(), color_of(*version),
                fmt::format("{}: {} µs, {}", version->id.text(),
                            markdown::number(timing.median.value / 1e3),
                            name_of(verdict_of(*version).value_or(Verdict::baseline))));
    body += text_at(x, kHeight - 14, version->id.text());
    x += step;
  }
  body += trail(labels, points);
  // With many versions there is no room for values; the table below the plot shows them.
  if (versions.size() <= 8)
    for (std::size_t i = 0; i < versions.size(); ++i)
      body += labels.put({points[i]}, time_text(versions[i]->profile->timing.median.value));
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
  // The ridge is always visible, wherever the versions are.
  const double ridge = roofs.bandwidth_ceiling && roofs.compute_ceiling
                           ? *roofs.compute_ceiling / *roofs.bandwidth_ceiling
                           : low_i.intensity;
  const Scale x{std::min(low_i.intensity / 8, ridge / 2), std::max(high_i.intensity * 8, ridge * 2),
                kLeft, kWidth - kRight, true};
  const Scale y{low_f.flops / 4, most * 2, kHeight - kBottom, kTop, true};
  std::string body = horizontal_grid(y, decade_ticks(y.from, y.to),
                                     [](double value) { return with_prefix(value, "FLOP/s"); });
  for (const double value : decade_ticks(x.from, x.to)) {
    body += line(x(value), kTop, x(value), kHeight - kBottom, "grid");
    body += text_at(x(value), kHeight - kBottom + 15, fmt::format("{:g}", value));
  }
  body += line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis") +
          line(kLeft, kTop, kLeft, kHeight - kBottom, "axis");
  Labels labels({kLeft, 0, kWidth, kHeight - kBottom});
  const auto drawn = roof_lines(x, y, roofs);
  for (const auto& roof : drawn) {
    body += line(roof.from.x, roof.from.y, roof.to.x, roof.to.y, "roof");
    labels.line(roof.from, roof.to);
  }
  std::vector<Point> places;
  for (const auto& point : points) {
    places.push_back({x(point.intensity), y(point.flops)});
    body += dot(labels, places.back(), color_of(*point.version));
  }
  body += trail(labels, places);
  for (std::size_t i = 0; i < points.size(); ++i)
    body += labels.put({places[i]}, points[i].version->id.text());
  for (const auto& roof : drawn) body += labels.put(roof.anchors(), roof.name);
  body += text_at((kLeft + kWidth) / 2, kHeight - 8, "FLOP per byte");
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

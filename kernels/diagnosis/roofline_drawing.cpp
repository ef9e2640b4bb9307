// A roofline report as SVG and as text.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/diagnosis/roofline_report.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr double kWidth = 720, kHeight = 440, kLeft = 80, kRight = 170, kTop = 30, kBottom = 50;

/// A logarithmic axis from one power of ten to another.
struct Axis {
  int from = 0, to = 1;
  double begin = 0, end = 1;  ///< in drawing units

  [[nodiscard]] double at(double value) const {
    const double share = (std::log10(value) - from) / (to - from);
    return begin + std::clamp(share, 0.0, 1.0) * (end - begin);
  }
};

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string label(double x, double y, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string grid(const Axis& x, const Axis& y) {
  std::string text;
  for (int power = x.from; power <= x.to; ++power) {
    const double at = x.at(std::pow(10.0, power));
    text += line(at, y.begin, at, y.end, "stroke=\"#ddd\"");
    text += label(at, y.begin + 16, fmt::format("1e{}", power), "middle");
  }
  for (int power = y.from; power <= y.to; ++power) {
    const double at = y.at(std::pow(10.0, power));
    text += line(x.begin, at, x.end, at, "stroke=\"#ddd\"");
    text += label(x.begin - 6, at + 4, fmt::format("1e{}", power), "end");
  }
  text += label((x.begin + x.end) / 2, y.begin + 36, "FLOP per byte", "middle");
  return text + label(x.begin, y.end - 10, "FLOP/s");
}

double highest_compute(const RooflineReport& report) {
  double most = 0;
  for (const auto& one : report.compute) most = std::max(most, one.ceiling.value_or(0));
  return most;
}

double flop_rate(const RooflineReport& report) {
  double sum = 0;
  for (const auto& one : report.compute) sum += one.achieved_flops_per_s;
  return sum;
}

}  // namespace

std::string roofline_svg(const RooflineReport& report) {
  const Axis x{-3, 4, kLeft, kWidth - kRight};
  const double top = std::max({highest_compute(report), flop_rate(report), 1e12});
  const Axis y{9, static_cast<int>(std::ceil(std::log10(top))), kHeight - kBottom, kTop};
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  text += grid(x, y);
  const double flat = highest_compute(report);
  for (const auto& one : report.compute) {
    if (!one.ceiling) continue;
    text += line(x.begin, y.at(*one.ceiling), x.end, y.at(*one.ceiling), "stroke=\"#b33\"");
    text +=
        label(x.end + 6, y.at(*one.ceiling) + 4, fmt::format("{} {:.3g}", one.type, *one.ceiling));
  }
  double below = 14;
  for (const auto& one : report.levels) {
    if (one.ceiling) {
      // The slope ends at the roof of arithmetic, or at the edge.
      const double left = std::max(std::pow(10.0, x.from), std::pow(10.0, y.from) / *one.ceiling);
      const double meets = flat > 0 ? flat / *one.ceiling : std::pow(10.0, x.to);
      const double right = std::min(meets, std::pow(10.0, x.to));
      text += line(x.at(left), y.at(left * *one.ceiling), x.at(right), y.at(right * *one.ceiling),
                   "stroke=\"#36a\"");
      text +=
          label(x.end + 6, y.begin - below, fmt::format("{} {:.3g} B/s", one.level, *one.ceiling));
      below += 14;
    }
    if (!one.intensity) continue;
    const double px = x.at(*one.intensity), py = y.at(flop_rate(report));
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#283\"/>\n", px, py);
    text += label(px + 6, py - 6, one.level);
  }
  return text + "</svg>\n";
}

std::string roofline_text(const RooflineReport& report) {
  const auto percent = [](const std::optional<double>& fraction) {
    return fraction ? fmt::format("{:.1f} %", 100 * *fraction) : std::string("roof unknown");
  };
  std::string text = fmt::format("{:.2f} us; nearest roof: {}, headroom {:.1f} %{}\n",
                                 report.median_ns / 1e3, report.binding, 100 * report.headroom,
                                 report.stop_target ? " (stop target reached)" : "");
  for (const auto& one : report.levels)
    text += fmt::format("{:<8}{:>10.4g} B {:>10.4g} B/s {}\n", one.level, one.bytes,
                        one.achieved_bytes_per_s, percent(one.fraction));
  for (const auto& one : report.compute)
    text += fmt::format("{:<8}{:>10.4g} FLOP {:>10.4g} FLOP/s {}\n", one.type, one.flops,
                        one.achieved_flops_per_s, percent(one.fraction));
  if (report.least_ns)
    text += fmt::format("least time by declared work: {:.2f} us\n", *report.least_ns / 1e3);
  return text;
}

}  // namespace ratchet

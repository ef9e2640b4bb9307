#include "server/runs/render/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server/core/text.h"

namespace ratchet::plots {
namespace {

constexpr double kWideLetter = 7;
constexpr double kAscent = 12, kDescent = 4;  // of a line in a 12 px font, in most browsers
constexpr double kGap = 9;                    // from the middle of a mark, whose radius is 5
constexpr double kRing = 13;
constexpr int kRings = 12;

/// Whether a part of the line lies within the box: what is left of it after each side has cut it.
bool crosses(const std::pair<Point, Point>& line, const Box& box) {
  const double dx = line.second.x - line.first.x;
  const double dy = line.second.y - line.first.y;
  double from = 0;
  double to = 1;
  const auto cut = [&](double step, double room) {
    if (step == 0) return room >= 0;
    const double at = room / step;
    (step < 0 ? from : to) = step < 0 ? std::max(from, at) : std::min(to, at);
    return from <= to;
  };
  return cut(-dx, line.first.x - box.left) && cut(dx, box.right - line.first.x) &&
         cut(-dy, line.first.y - box.top) && cut(dy, box.bottom - line.first.y);
}

/// The box of a label at a distance from its anchor, in one of eight directions.
Box beside(Point anchor, Point direction, double distance, double wide) {
  const double tall = kAscent + kDescent;
  const double x = anchor.x + direction.x * distance;
  const double y = anchor.y + direction.y * distance;
  const double left = x - wide * (1 - direction.x) / 2;
  const double top = y - tall * (1 - direction.y) / 2;
  return {left, top, left + wide, top + tall};
}

}  // namespace

double width_of(std::string_view text) {
  const auto letters = std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return kWideLetter * static_cast<double>(letters);
}

bool Labels::is_free(const Box& box) const {
  if (box.left < frame_.left || box.right > frame_.right || box.top < frame_.top ||
      box.bottom > frame_.bottom)
    return false;
  return std::ranges::none_of(taken_, [&](const Box& other) { return other.touches(box); }) &&
         std::ranges::none_of(lines_, [&](const auto& line) { return crosses(line, box); });
}

std::string Labels::put(const std::vector<Point>& anchors, std::string_view text) {
  constexpr std::array<Point, 8> kDirections{Point{1, 0},   Point{-1, 0}, Point{0, -1},
                                             Point{0, 1},   Point{1, -1}, Point{1, 1},
                                             Point{-1, -1}, Point{-1, 1}};
  const double wide = width_of(text);
  for (int ring = 0; ring < kRings; ++ring)
    for (const auto anchor : anchors)
      for (const auto direction : kDirections) {
        const auto box = beside(anchor, direction, kGap + kRing * ring, wide);
        if (!is_free(box)) continue;
        taken_.push_back(box);
        std::string svg;
        if (ring > 1)
          svg = fmt::format(
              R"(<line class="leader" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", anchor.x,
              anchor.y, std::clamp(anchor.x, box.left, box.right),
              std::clamp(anchor.y, box.top, box.bottom));
        return svg + fmt::format(R"(<text class="label" x="{:.1f}" y="{:.1f}">{}</text>)", box.left,
                                 box.bottom - kDescent, escaped(text));
      }
  return "";
}

}  // namespace ratchet::plots

#pragma once

// Where the labels of a plot go: beside what they name, and on nothing that is drawn.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet::plots {

/// In the units of the plot; y grows downwards.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;

  [[nodiscard]] bool touches(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct Point {
  double x = 0, y = 0;
};

/// Most of what a label covers, in the page's 12 px font: letters are taken as wide ones.
[[nodiscard]] double width_of(std::string_view text);

/// Marks are told first. Not thread-safe; one for each plot.
class Labels {
 public:
  explicit Labels(Box frame) : frame_(frame) {}

  void mark(const Box& box) { taken_.push_back(box); }
  void line(Point from, Point to) { lines_.emplace_back(from, to); }

  /// The SVG of a label as near as possible to one of the anchors, with a thin line to it where it
  /// is not beside it. Where there is no room at all, it is left out.
  std::string put(const std::vector<Point>& anchors, std::string_view text);

 private:
  [[nodiscard]] bool is_free(const Box& box) const;

  Box frame_;
  std::vector<Box> taken_;
  std::vector<std::pair<Point, Point>> lines_;
};

}  // namespace ratchet::plots

// Plots: marks, their positions and their labels.

#include "server/runs/render/plots.h"

#include <catch2/catch_test_macros.hpp>
#include <regex>
#include <string>
#include <vector>

#include "server/runs/render/labels.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

VersionState timed(int number, double median_ns, std::optional<Verdict> verdict = {}) {
  VersionState version;
  version.id = VersionId{number};
  version.stage = Stage::passed;
  version.profile = samples::profile(samples::candidate(samples::kernel_text(number)), median_ns);
  if (verdict) version.profile->verdict = *verdict;
  return version;
}

RunState run_of(std::vector<VersionState> versions) {
  RunState state;
  state.versions = std::move(versions);
  return state;
}

/// Every number that an attribute of some elements has, in the order drawn.
std::vector<double> places(const std::string& svg, const std::string& element,
                           const std::string& attribute) {
  std::vector<double> found;
  const std::regex shape("<" + element + "[^>]* " + attribute + "=\"([-0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), shape), end; at != end; ++at)
    found.push_back(std::stod((*at)[1]));
  return found;
}

bool says(const std::string& svg, const std::string& label) {
  INFO(svg);
  return svg.find(">" + label + "<") != std::string::npos;
}

TEST_CASE("a run without a timed version has no plots", "[plots]") {
  const auto empty = run_of({VersionState{}});

  CHECK(plots::timeline(empty).empty());
  CHECK(plots::roofline(empty).empty());
  CHECK(plots::stalls(empty.versions.front()).empty());
  CHECK(plots::attribution(empty.versions.front()).empty());
}

TEST_CASE("the timeline puts faster versions lower, in their order", "[plots]") {
  const auto svg = plots::timeline(
      run_of({timed(0, 2000), timed(1, 1000, Verdict::faster), timed(2, 4000, Verdict::slower)}));

  const auto x = places(svg, "circle", "cx");
  const auto y = places(svg, "circle", "cy");
  REQUIRE(y.size() == 3);
  CHECK((x[0] < x[1] && x[1] < x[2]));
  CHECK((y[1] > y[0] && y[0] > y[2]));  // 1 µs below 2 µs below 4 µs; y grows downwards
  CHECK(svg.find("circle class=\"good\"") < svg.find("circle class=\"bad\""));
  for (const char* name : {"v0", "v1", "v2"}) CHECK(says(svg, name));
}

TEST_CASE("the timeline's scale starts at zero and ends on round figures", "[plots]") {
  const auto svg = plots::timeline(run_of({timed(0, 4100000)}));  // 4.1 ms

  CHECK(says(svg, "0 ns"));
  CHECK(says(svg, "1 ms"));
  CHECK(says(svg, "4 ms"));
  CHECK_FALSE(says(svg, "5 ms"));  // the scale ends at 4.51 ms
}

TEST_CASE("versions far apart are drawn by powers of ten", "[plots]") {
  const auto svg = plots::timeline(run_of({timed(0, 1e6), timed(1, 1e5), timed(2, 1e4)}));

  const auto y = places(svg, "circle", "cy");
  REQUIRE(y.size() == 3);
  CHECK(std::abs((y[1] - y[0]) - (y[2] - y[1])) < 0.2);  // ten times is the same way everywhere
  CHECK(says(svg, "10 µs"));
  CHECK_FALSE(says(svg, "0 ns"));
}

TEST_CASE("masked and failed versions are not drawn", "[plots]") {
  auto state = run_of({timed(0, 2000), timed(1, 1000), timed(2, 900)});
  state.masked.insert(VersionId{1});
  state.versions[2].profile->fault = Fault{"crash", "illegal address"};

  CHECK(places(plots::timeline(state), "circle", "cy").size() == 1);
  CHECK_FALSE(says(plots::timeline(state), "v1"));
}

/// A point at `intensity` and `flops` under roofs of 1 TB/s and 10 TFLOP/s: the ridge is at 10.
VersionState placed(int number, double intensity, double flops) {
  auto version = timed(number, 1000);
  auto& roofline = version.profile->roofline;
  roofline.intensity = intensity;
  roofline.achieved_flops_per_s = flops;
  roofline.bandwidth_ceiling = 1e12;
  roofline.compute_ceiling = 1e13;
  return version;
}

TEST_CASE("the roofline is sloped up to the ridge and level from there", "[plots]") {
  const auto svg = plots::roofline(run_of({placed(0, 1, 1e11), placed(1, 1, 9e11)}));

  const std::regex roof(
      "<line class=\"roof\" x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" "
      "y2=\"([0-9.]+)\"");
  std::vector<std::vector<double>> lines;
  for (std::sregex_iterator at(svg.begin(), svg.end(), roof), end; at != end; ++at)
    lines.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0][1] > lines[0][3]);   // up
  CHECK(lines[1][1] == lines[1][3]);  // level
  CHECK(lines[0][2] == lines[1][0]);  // they meet
  CHECK(lines[0][3] == lines[1][1]);
  const auto y = places(svg, "circle", "cy");
  REQUIRE(y.size() == 2);
  CHECK(y[1] < y[0]);         // more FLOP/s, higher
  CHECK(y[1] > lines[1][1]);  // under the roof
  CHECK(svg.find("1 TB/s") != std::string::npos);
  CHECK(svg.find("10 TFLOP/s") != std::string::npos);
}

TEST_CASE("without an intensity the roofline shows shares of the binding roof", "[plots]") {
  auto state = run_of({timed(0, 2000), timed(1, 1000)});
  state.versions[1].profile->roofline.binding = "compute";
  state.versions[1].profile->roofline.compute_fraction = 0.4;  // its memory share stays 0.8
  const auto svg = plots::roofline(state);

  CHECK(says(svg, "v0, memory roof"));
  CHECK(says(svg, "v1, compute roof"));
  CHECK(says(svg, "80 %"));
  CHECK(says(svg, "40 %"));
  const auto wide = places(svg, "rect", "width");
  REQUIRE(wide.size() == 2);
  CHECK(std::abs(wide[0] - 2 * wide[1]) < 0.2);
}

TEST_CASE("stall bars are sorted, without those that are zero", "[plots]") {
  auto version = timed(0, 1000);
  const std::string prefix = "smsp__average_warps_issue_stalled_";
  version.profile->kernels = {{"k",
                               {{prefix + "barrier_per_issue_active.ratio", 1.5},
                                {prefix + "long_scoreboard_per_issue_active.ratio", 6},
                                {prefix + "sleeping_per_issue_active.ratio", 0},
                                {"gpu__time_duration.sum", 1000}}}};
  const auto svg = plots::stalls(version);

  CHECK(svg.find(">long_scoreboard<") < svg.find(">barrier<"));
  CHECK(svg.find("sleeping") == std::string::npos);
  const auto wide = places(svg, "rect", "width");
  REQUIRE(wide.size() == 2);
  CHECK(std::abs(wide[0] - 4 * wide[1]) < 0.3);
}

TEST_CASE("attribution bars go left of zero where a method costs time", "[plots]") {
  auto version = timed(0, 1000);
  version.ablation.emplace();
  MethodAttribution gain;
  gain.id = "memory.tiling_smem";
  gain.verdict = MethodClass::effective;
  gain.delta_ns = 4000;
  gain.delta_low_ns = 3000;
  gain.delta_high_ns = 5000;
  MethodAttribution loss;
  loss.id = "compute.loop_unroll";
  loss.verdict = MethodClass::ineffective;
  loss.delta_ns = -2000;
  MethodAttribution unknown;
  unknown.id = "latency.pdl_overlap";
  version.ablation->attribution = {gain, loss, unknown};
  const auto svg = plots::attribution(version);

  const auto x = places(svg, "rect", "x");
  const auto wide = places(svg, "rect", "width");
  REQUIRE(x.size() == 2);                        // no bar for what was not measured
  CHECK(std::abs(x[1] + wide[1] - x[0]) < 0.2);  // both end at zero
  CHECK(std::abs(wide[0] - 2 * wide[1]) < 0.3);
  CHECK(says(svg, "4 µs"));
  CHECK(says(svg, "-2 µs"));
}

TEST_CASE("names are escaped", "[plots]") {
  auto version = timed(0, 1000);
  version.ablation.emplace();
  MethodAttribution odd;
  odd.id = "<script>&\"";
  odd.delta_ns = 1;
  version.ablation->attribution = {odd};

  const auto svg = plots::attribution(version);
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("&lt;script&gt;&amp;&quot;") != std::string::npos);
}

/// What a text of the page's 12 px font covers at most, letters taken as 6.5 wide.
struct Place {
  std::string says;
  plots::Box box;
};

std::vector<Place> labels_of(const std::string& svg) {
  std::vector<Place> found;
  const std::regex shape(
      "<text class=\"label\" x=\"([-0-9.]+)\" y=\"([-0-9.]+)\"( "
      "text-anchor=\"([a-z]+)\")?>([^<]*)<");
  for (std::sregex_iterator at(svg.begin(), svg.end(), shape), end; at != end; ++at) {
    const double x = std::stod((*at)[1]);
    const double y = std::stod((*at)[2]);
    const double wide = 6.5 / 7 * plots::width_of((*at)[5].str());
    const auto anchor = (*at)[4].str();
    const double left = anchor == "end" ? x - wide : anchor == "middle" ? x - wide / 2 : x;
    found.push_back({(*at)[5], {left, y - 9, left + wide, y + 2}});
  }
  return found;
}

/// The boxes of all circles and bars.
std::vector<plots::Box> marks_of(const std::string& svg) {
  std::vector<plots::Box> found;
  const auto x = places(svg, "circle", "cx");
  const auto y = places(svg, "circle", "cy");
  for (std::size_t i = 0; i < x.size(); ++i)
    found.push_back({x[i] - 5, y[i] - 5, x[i] + 5, y[i] + 5});
  const auto left = places(svg, "rect", "x");
  const auto top = places(svg, "rect", "y");
  const auto wide = places(svg, "rect", "width");
  const auto tall = places(svg, "rect", "height");
  for (std::size_t i = 0; i < left.size(); ++i)
    found.push_back({left[i], top[i], left[i] + wide[i], top[i] + tall[i]});
  return found;
}

/// Upright lines with a class, as boxes.
std::vector<plots::Box> whiskers_of(const std::string& svg) {
  std::vector<plots::Box> found;
  const auto x = places(svg, "line class=\"whisker\"", "x1");
  const auto one = places(svg, "line class=\"whisker\"", "y1");
  const auto two = places(svg, "line class=\"whisker\"", "y2");
  for (std::size_t i = 0; i < x.size(); ++i)
    found.push_back({x[i] - 1, std::min(one[i], two[i]), x[i] + 1, std::max(one[i], two[i])});
  return found;
}

void check_nothing_touches(const std::string& svg) {
  INFO(svg);
  const auto labels = labels_of(svg);
  auto marks = marks_of(svg);
  for (const auto& whisker : whiskers_of(svg)) marks.push_back(whisker);
  REQUIRE(!labels.empty());
  REQUIRE(!marks.empty());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    INFO(labels[i].says);
    for (const auto& mark : marks) CHECK_FALSE(labels[i].box.touches(mark));
    for (std::size_t j = i + 1; j < labels.size(); ++j) {
      INFO(labels[j].says);
      CHECK_FALSE(labels[i].box.touches(labels[j].box));
    }
  }
}

TEST_CASE("labels touch neither marks nor each other, however the points lie", "[plots]") {
  // Crowded in one place; along the slope; below the ridge; on the level roof.
  check_nothing_touches(
      plots::roofline(run_of({placed(0, 1, 1e11), placed(1, 1, 1.02e11), placed(2, 1, 0.98e11),
                              placed(3, 1.01, 1e11), placed(4, 1, 1.05e11)})));
  check_nothing_touches(plots::roofline(
      run_of({placed(0, 0.5, 4.9e11), placed(1, 2, 1.9e12), placed(2, 5, 4.9e12)})));
  check_nothing_touches(plots::roofline(run_of({placed(0, 9, 8e12), placed(1, 40, 9.9e12)})));
  auto wide = run_of({timed(0, 115e6), timed(1, 4.4e6), timed(2, 4.5e6), timed(3, 4.4e6),
                      timed(4, 4.3e6), timed(5, 4.4e6), timed(6, 90e6), timed(7, 4.4e6)});
  for (auto& version : wide.versions) {
    version.profile->timing.ci_low.value *= 0.6;
    version.profile->timing.ci_high.value *= 2;
  }
  check_nothing_touches(plots::timeline(wide));
}

TEST_CASE("a label stands beside its point where there is room", "[plots]") {
  const auto svg = plots::roofline(run_of({placed(0, 1, 1e11), placed(1, 1, 5e11)}));
  const auto x = places(svg, "circle", "cx");
  const auto y = places(svg, "circle", "cy");
  for (const auto& label : labels_of(svg)) {
    if (label.says != "v0" && label.says != "v1") continue;
    const std::size_t i = label.says == "v0" ? 0 : 1;
    INFO(label.says);
    CHECK(std::abs(label.box.left - x[i]) < 30);
    CHECK(std::abs(label.box.top - y[i]) < 30);
  }
  CHECK(svg.find("class=\"leader\"") == std::string::npos);
}

}  // namespace
}  // namespace ratchet

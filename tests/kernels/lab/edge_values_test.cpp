// Largest finite, infinite and NaN inputs: what a check says of kernels that answer them otherwise
// than the reference, and that it refuses only where the contract asks for it.

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/judge/trial_plan.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A map of the rows of x, float32, to y.
struct RowTask {
  std::string columns;  ///< of y
  std::string reference;
  std::string more;  ///< fields of the request

  [[nodiscard]] static std::string function(const std::string& name, const std::string& body) {
    return fmt::format(
        "#include <algorithm>\n#include <cmath>\n#include <cstdlib>\n"
        "extern \"C\" void {}(const float* x, float* y, int rows, int cols) {{\n"
        "  for (int r = 0; r < rows; ++r, x += cols) {{\n{}\n  }}\n}}\n",
        name, body);
  }

  [[nodiscard]] CorrectnessReport operator()(const std::string& kernel, bool refused) const {
    LabFixture fixture;
    const auto request = fmt::format(
        R"({{"dims": {{"rows": 60, "cols": 70}}, {}"edge_values": {}, "tensors": [
            {{"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"}},
            {{"name": "y", "dtype": "float32", "shape": ["rows", "{}"], "role": "out"}}]}})",
        more, refused, columns);
    return fixture.checked(
        fixture.planned(request, function("solve", kernel), function("reference", reference)));
  }
};

/// The kernel is refused with this code where the contract asks for edges, and else passes with a
/// note of the same values.
void check_only_where_asked(const RowTask& task, const std::string& kernel, const std::string& code,
                            const std::string& values) {
  const auto refused = task(kernel, true);
  INFO(lines_of(refused.reasons));
  CHECK_FALSE(refused.passed);
  REQUIRE(has_reason(refused, code));
  CHECK(lines_of(refused.reasons).find(values + " inputs") != std::string::npos);
  const auto noted = task(kernel, false);
  INFO(lines_of(noted.reasons) << lines_of(noted.notes));
  CHECK(noted.passed);
  CHECK_FALSE(noted.fault);
  CHECK(lines_of(noted.notes).find("edge_values: ") != std::string::npos);
  CHECK(lines_of(noted.notes).find(values + " inputs") != std::string::npos);
}

void check_right(const RowTask& task, const std::string& kernel) {
  for (const bool refused : {true, false}) {
    const auto report = task(kernel, refused);
    INFO(lines_of(report.reasons) << lines_of(report.notes));
    CHECK(report.passed);
    CHECK(lines_of(report.notes).find("edge_values: ") == std::string::npos);
  }
}

const RowTask kMaximum{"1", R"(    float most = x[0];
    for (int c = 1; c < cols; ++c) most = std::isnan(x[c]) || x[c] > most ? x[c] : most;
    for (int c = 0; c < cols; ++c) if (std::isnan(x[c])) most = x[c];
    y[r] = most;)",
                       R"("atol": 1e-2, "rtol": 1e-2, )"};

/// As two elements a thread would do it, each with a maximum that begins at minus infinity.
/// `guard`: before the update of one thread's sum by x[c].
std::string online_softmax(const std::string& guard) {
  return fmt::format(R"(    const int threads = (cols + 1) / 2;
    float most = -INFINITY, sum = 0;
    for (int t = 0; t < threads; ++t) {{
      float own = -INFINITY, part = 0;
      for (int c = t; c < cols; c += threads) {{
        const float next = std::fmax(own, x[c]);
        {}
        part = part * std::exp(own - next) + std::exp(x[c] - next);
        own = next;
      }}
      if (part == 0) continue;
      const float next = std::fmax(most, own);
      sum = (sum == 0 ? 0 : sum * std::exp(most - next)) + part * std::exp(own - next);
      most = next;
    }}
    for (int c = 0; c < cols; ++c) y[r * cols + c] = std::exp(x[c] - most) / sum;)",
                     guard);
}

const RowTask kSoftmax{"cols", R"(    float most = x[0], sum = 0;
    for (int c = 1; c < cols; ++c) most = x[c] > most ? x[c] : most;
    for (int c = 0; c < cols; ++c) sum += std::exp(x[c] - most);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = std::exp(x[c] - most) / sum;)",
                       ""};

}  // namespace

TEST_CASE("a maximum in 16 bits is found by the largest finite values", "[edge-values][slow]") {
  // Within the given tolerance everywhere else: float16 ends at 65504.
  check_only_where_asked(kMaximum, R"(    _Float16 most = x[0];
    for (int c = 1; c < cols; ++c) most = x[c] > most ? (_Float16)x[c] : most;
    for (int c = 0; c < cols; ++c) if (std::isnan(x[c])) most = x[c];
    y[r] = most;)",
                         "nan_in_output", "largest");
  check_right(kMaximum, R"(    float most = x[cols - 1];
    for (int c = 0; c < cols; ++c) most = x[c] >= most || std::isnan(x[c]) ? x[c] : most;
    for (int c = 0; c < cols; ++c) if (std::isnan(x[c])) most = x[c];
    y[r] = most;)");
}

TEST_CASE("a softmax that begins at minus infinity is seen to fail on it", "[edge-values][slow]") {
  check_only_where_asked(kSoftmax, online_softmax(""), "nan_in_output", "infinite");
  check_right(kSoftmax, online_softmax("if (x[c] == -INFINITY) continue;"));
}

TEST_CASE("a kernel that drops what is not a number is seen", "[edge-values][slow]") {
  const RowTask rectified{"cols",
                          "    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[c] < 0 ? 0 "
                          ": x[c];",
                          ""};
  check_only_where_asked(
      rectified, "    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[c] > 0 ? x[c] : 0;",
      "mismatch", "nan");
  check_right(rectified,
              "    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[c] >= 0 || "
              "std::isnan(x[c]) ? x[c] : 0;");
}

TEST_CASE("a kernel that stops at an edge is not refused unless asked to", "[edge-values][slow]") {
  const RowTask bins{"1", R"(    y[r] = 0;
    for (int c = 0; c < cols; ++c) y[r] += std::fabs(x[c]) < 1;)",
                     ""};
  check_only_where_asked(bins, R"(    y[r] = 0;
    for (int c = 0; c < cols; ++c) {
      if (std::isnan(x[c])) std::abort();
      y[r] += std::fabs(x[c]) < 1;
    })",
                         "fault_crash", "nan");
}

TEST_CASE("edges that the reference has no answer to are not asked about", "[edge-values][slow]") {
  const std::string squares = R"(    float sum = 0;
    for (int c = 0; c < cols; ++c) { if (std::isnan(x[c])) std::abort(); sum += x[c] * x[c]; }
    y[r] = sum;)";
  const RowTask task{"1", squares, ""};
  const auto report = task(squares, true);
  INFO(lines_of(report.reasons) << lines_of(report.notes));
  CHECK(report.passed);
  const auto notes = lines_of(report.notes);
  CHECK(notes.find("largest: the reference's answer is NaN or infinite") != std::string::npos);
  CHECK(notes.find("nan: the reference failed") != std::string::npos);
}

TEST_CASE("runs of older rules and inputs without edges are not asked about them",
          "[edge-values]") {
  LabFixture fixture;
  auto contract = fixture.doubling(doubling_source(kHonestBody));
  CHECK(edge_values_of(contract).size() == 3);
  for (const int version : {2, 3}) {
    contract.judge = JudgeRules{.version = version};
    CHECK(edge_values_of(contract).empty());
  }
  contract.judge = std::nullopt;
  CHECK(edge_values_of(contract).empty());
  contract = fixture.doubling(doubling_source(kHonestBody));
  for (auto& tensor : contract.tensors) tensor.init = "uniform(0,1)";
  CHECK(edge_values_of(contract).empty());
}

// The judge between honest error and small cheats: beside each cheat that stays within a usual
// tolerance stands its honest twin, which must pass.

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A task with its reference in C++.
struct Judged {
  std::string request;  ///< as create_run takes it
  std::string reference;

  [[nodiscard]] CorrectnessReport operator()(const std::string& kernel) const {
    LabFixture fixture;
    return fixture.checked(fixture.planned(request, kernel, reference));
  }
};

bool has_note(const CorrectnessReport& report, const std::string& code) {
  for (const auto& note : report.notes)
    if (note.code == code) return true;
  return false;
}

void check_refused(const CorrectnessReport& report, const std::string& code) {
  INFO(lines_of(report.reasons));
  CHECK_FALSE(report.passed);
  CHECK(has_reason(report, code));
}

void check_refused(const CorrectnessReport& report) {
  INFO(lines_of(report.reasons));
  CHECK_FALSE(report.passed);
}

void check_passed(const CorrectnessReport& report) {
  INFO(lines_of(report.reasons));
  CHECK(report.passed);
}

/// The source of `solve` or `reference`, with the given parameters and body.
std::string function(const std::string& name, const std::string& parameters,
                     const std::string& body, const std::string& before = "") {
  return fmt::format(
      "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n{}\n"
      "extern \"C\" void {}({}) {{\n{}\n}}\n",
      before, name, parameters, body);
}

/// Mean over all rows of log(sum(exp(x))) over the first `classes` classes.
std::string log_sums(const std::string& name, const std::string& type, const std::string& classes) {
  return function(name, fmt::format("const {0}* x, {0}* y, int rows, int classes", type),
                  fmt::format(R"(  double mean = 0;
  for (int r = 0; r < rows; ++r) {{
    double sum = 0, most = -1e30;
    for (int c = 0; c < {0}; ++c) most = std::fmax(most, x[(long)r * classes + c]);
    for (int c = 0; c < {0}; ++c) sum += std::exp(x[(long)r * classes + c] - most);
    mean += (std::log(sum) + most) / rows;
  }}
  *y = mean;)",
                              classes));
}

constexpr const char* kLogSums = R"({"dims": {"rows": 2, "classes": 65536}, "tensors": [
    {"name": "x", "dtype": "float32", "shape": ["rows", "classes"], "role": "in"},
    {"name": "y", "dtype": "float32", "shape": ["1"], "role": "out"}]})";
constexpr const char* kLogSumsHalf = R"({"dims": {"rows": 2, "classes": 4096}, "tensors": [
    {"name": "x", "dtype": "float16", "shape": ["rows", "classes"], "role": "in"},
    {"name": "y", "dtype": "float16", "shape": ["1"], "role": "out"}]})";

/// A float32 product, a sum of the body for each element.
std::string product(const std::string& name, const std::string& body) {
  return function(name, "const float* a, const float* b, float* c, int m, int n, int k",
                  fmt::format("  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j) "
                              "{{\n{}\n    }}",
                              body),
                  R"(#include <cstring>
static float tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000) & 0xffffe000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
})");
}

std::string product_request(const std::string& tolerances) {
  return R"({"dims": {"m": 48, "n": 40, "k": 512}, )" + tolerances + R"(,
      "tensors": [
      {"name": "a", "dtype": "float32", "shape": ["m", "k"], "role": "in"},
      {"name": "b", "dtype": "float32", "shape": ["k", "n"], "role": "in"},
      {"name": "c", "dtype": "float32", "shape": ["m", "n"], "role": "out"}]})";
}

constexpr const char* kInOrder = R"(      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;)";
constexpr const char* kBackwards = R"(      float sum = 0;
      for (int l = k - 1; l >= 0; --l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;)";
constexpr const char* kEightSums = R"(      float part[8] = {};
      for (int l = 0; l < k; ++l) part[l % 8] += a[i * k + l] * b[l * n + j];
      c[i * n + j] = ((part[0] + part[1]) + (part[2] + part[3])) +
                     ((part[4] + part[5]) + (part[6] + part[7]));)";
constexpr const char* kTf32Products = R"(      float sum = 0;
      for (int l = 0; l < k; ++l) sum += tf32(a[i * k + l]) * tf32(b[l * n + j]);
      c[i * n + j] = sum;)";
constexpr const char* kHalfSums = R"(      float sum = 0;
      for (int from = 0; from < k; from += 32) {
        _Float16 part = 0;
        for (int l = from; l < from + 32 && l < k; ++l)
          part = (_Float16)((float)part + a[i * k + l] * b[l * n + j]);
        sum += (float)part;
      }
      c[i * n + j] = sum;)";
constexpr const char* kWithoutLast = R"(      float sum = 0;
      for (int l = 0; l < k - (k > 1); ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;)";

}  // namespace

TEST_CASE("classes dropped at the end are found however many there are", "[honest-error][slow]") {
  const Judged task{kLogSums, log_sums("reference", "float", "classes")};
  check_passed(task(log_sums("solve", "float", "classes")));
  check_refused(task(log_sums("solve", "float", "classes - 32")), "ignores_part_of_input");
}

TEST_CASE("an eighth of the classes cannot be dropped in 16 bits", "[honest-error][slow]") {
  const Judged task{kLogSumsHalf, log_sums("reference", "_Float16", "classes")};
  check_passed(task(log_sums("solve", "_Float16", "classes")));
  check_refused(task(log_sums("solve", "_Float16", "classes - classes / 8")));
}

TEST_CASE("products are not accumulated in 16 bits", "[honest-error][slow]") {
  const auto product = [](const std::string& name, const std::string& sum) {
    return function(name, "const _Float16* a, const _Float16* b, _Float16* c, int m, int n, int k",
                    fmt::format(R"(  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {{
      {0} sum = 0;
      for (int l = 0; l < k; ++l) sum += ({0})a[i * k + l] * ({0})b[l * n + j];
      c[i * n + j] = sum;
    }})",
                                sum));
  };
  const Judged task{R"({"dims": {"m": 32, "n": 32, "k": 256}, "tensors": [
      {"name": "a", "dtype": "float16", "shape": ["m", "k"], "role": "in"},
      {"name": "b", "dtype": "float16", "shape": ["k", "n"], "role": "in"},
      {"name": "c", "dtype": "float16", "shape": ["m", "n"], "role": "out"}]})",
                    product("reference", "float")};
  check_passed(task(product("solve", "float")));
  check_passed(task(product("solve", "double")));
  check_refused(task(product("solve", "_Float16")), "too_noisy");
}

TEST_CASE("an approximation of an elementwise function is found in its tail",
          "[honest-error][slow]") {
  const auto gelu = [](const std::string& name, const std::string& value) {
    return function(
        name, "const _Float16* x, _Float16* y, int n",
        fmt::format("  for (int i = 0; i < n; ++i) {{ float v = x[i]; y[i] = {}; }}", value));
  };
  const Judged task{R"({"dims": {"n": 20000}, "tensors": [
      {"name": "x", "dtype": "float16", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "float16", "shape": ["n"], "role": "out"}]})",
                    gelu("reference", "0.5f * v * (1 + std::erf(v * 0.70710678f))")};
  check_passed(task(gelu("solve", "v * 0.5f * (1 + erff(v / 1.41421356f))")));
  check_passed(task(gelu("solve", "v - 0.5f * v * erfcf(v * 0.70710678f)")));
  check_refused(
      task(gelu("solve", "0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)))")),
      "mismatch");
}

TEST_CASE("a missing epsilon is found, and a truncated output too", "[honest-error][slow]") {
  const auto norm = [](const std::string& name, const std::string& epsilon,
                       const std::string& stored = "(_Float16)v") {
    return function(name, "const _Float16* x, _Float16* y, int rows, int cols",
                    fmt::format(R"(  for (int r = 0; r < rows; ++r) {{
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += (float)x[r * cols + c] * (float)x[r * cols + c];
    const float scale = 1 / std::sqrt(sum / cols + {});
    for (int c = 0; c < cols; ++c) {{
      const float v = (float)x[r * cols + c] * scale;
      y[r * cols + c] = {};
    }}
  }})",
                                epsilon, stored),
                    R"(#include <cstring>
[[maybe_unused]] static _Float16 truncated(float value) {
  _Float16 half = value;
  if (std::fabs((float)half) <= std::fabs(value)) return half;
  std::uint16_t bits;
  std::memcpy(&bits, &half, 2);
  --bits;
  std::memcpy(&half, &bits, 2);
  return half;
})");
  };
  const Judged task{R"({"dims": {"rows": 32, "cols": 256}, "tensors": [
      {"name": "x", "dtype": "float16", "shape": ["rows", "cols"], "role": "in"},
      {"name": "y", "dtype": "float16", "shape": ["rows", "cols"], "role": "out"}]})",
                    norm("reference", "1e-6f")};
  check_passed(task(norm("solve", "1e-6f")));
  check_refused(task(norm("solve", "0")), "nan_in_output");
  check_refused(task(norm("solve", "1e-6f", "truncated(v)")), "biased");
}

TEST_CASE("a softmax in 16 bits subtracts its maximum", "[honest-error][slow]") {
  const auto softmax = [](const std::string& name, const std::string& type,
                          const std::string& shift) {
    return function(name, fmt::format("const {0}* x, {0}* y, int rows, int cols", type),
                    fmt::format(R"(  for (int r = 0; r < rows; ++r, x += cols, y += cols) {{
    float most = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) most = std::fmax(most, (float)x[c]);
    (void)most;
    for (int c = 0; c < cols; ++c) sum += std::exp((float)x[c] - {0});
    for (int c = 0; c < cols; ++c) y[c] = std::exp((float)x[c] - {0}) / sum;
  }})",
                                shift));
  };
  const Judged half{R"({"dims": {"rows": 24, "cols": 200}, "tensors": [
      {"name": "x", "dtype": "float16", "shape": ["rows", "cols"], "role": "in"},
      {"name": "y", "dtype": "float16", "shape": ["rows", "cols"], "role": "out"}]})",
                    softmax("reference", "_Float16", "most")};
  check_passed(half(softmax("solve", "_Float16", "most")));
  check_refused(half(softmax("solve", "_Float16", "0")), "nan_in_output");

  // The other way round: an honest kernel beside a reference that overflows.
  const Judged naive{R"({"dims": {"rows": 24, "cols": 200}, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["rows", "cols"], "role": "out"}]})",
                     softmax("reference", "float", "0")};
  const auto stable = naive(softmax("solve", "float", "most"));
  check_passed(stable);
  CHECK(has_note(stable, "distribution_dropped"));
}

TEST_CASE("signed integers are not read as unsigned", "[honest-error][slow]") {
  const auto product = [](const std::string& name, const std::string& type) {
    return function(name,
                    "const std::int8_t* a, const std::int8_t* b, std::int32_t* c, int m, int n, "
                    "int k",
                    fmt::format(R"(  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {{
      std::int32_t sum = 0;
      for (int l = 0; l < k; ++l) sum += ({0})a[i * k + l] * ({0})b[l * n + j];
      c[i * n + j] = sum;
    }})",
                                type));
  };
  const Judged task{R"({"dims": {"m": 20, "n": 24, "k": 64}, "tensors": [
      {"name": "a", "dtype": "int8", "shape": ["m", "k"], "role": "in"},
      {"name": "b", "dtype": "int8", "shape": ["k", "n"], "role": "in"},
      {"name": "c", "dtype": "int32", "shape": ["m", "n"], "role": "out"}]})",
                    product("reference", "std::int8_t")};
  check_passed(task(product("solve", "int")));
  check_refused(task(product("solve", "std::uint8_t")), "mismatch");
}

TEST_CASE("an honest long sum passes beside a naive reference", "[honest-error][slow]") {
  const auto sum = [](const std::string& name, const std::string& body) {
    return function(name, "const float* x, float* y, int n", body);
  };
  const std::string naive =
      "  float sum = 0;\n  for (int i = 0; i < n; ++i) sum += x[i];\n  *y = sum;";
  const Judged task{R"({"dims": {"n": 4194304}, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["1"], "role": "out"}]})",
                    sum("reference", naive)};
  check_passed(task(sum("solve", R"(  float part[256] = {};
  for (int i = 0; i < n; ++i) part[i % 256] += x[i];
  float sum = 0;
  for (float one : part) sum += one;
  *y = sum;)")));
  check_refused(task(sum("solve", R"(  float part[256] = {};
  for (int i = 0; i < n - 8; ++i) part[i % 256] += x[i];
  float sum = 0;
  for (float one : part) sum += one;
  *y = sum;)")));
}

TEST_CASE("a quantizer may be off by the one that its task allows", "[honest-error][slow]") {
  const auto quantize = [](const std::string& name, const std::string& value) {
    return function(name, "const float* x, std::int8_t* y, int n",
                    fmt::format(R"(  for (int i = 0; i < n; ++i) {{
    const float v = {};
    y[i] = (std::int8_t)std::fmin(127.0, std::fmax(-128.0, (double)v));
  }})",
                                value));
  };
  const Judged task{R"({"dims": {"n": 20000}, "atol": 1, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "int8", "shape": ["n"], "role": "out"}]})",
                    quantize("reference", "std::nearbyint(x[i] / 0.02f)")};
  check_passed(task(quantize("solve", "std::round(x[i] * 50.0f)")));
  check_refused(task(quantize("solve", "4 * std::nearbyint(x[i] * 12.5f)")));
}

TEST_CASE("what a matched ratio leaves over is held to more where the contract says so",
          "[honest-error][slow]") {
  const auto halves = [](const std::string& name, const std::string& rare,
                         const std::string& usual = "x[i] * 0.5f") {
    return function(
        name, "const float* x, float* y, int n",
        fmt::format("  for (int i = 0; i < n; ++i) y[i] = i % 200 == 9 ? {} : {};", rare, usual));
  };
  const auto asked = [&](const std::string& more) {
    return Judged{R"({"dims": {"n": 20000}, "atol": 1e-6, "rtol": 1e-6, "matched_ratio": 0.99, )" +
                      more + R"("tensors": [
      {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})",
                  halves("reference", "x[i] * 0.5f")};
  };
  const auto left_undone = halves("solve", "x[i]");
  const auto rounded = halves("solve", "x[i] * 0.5002f");
  check_passed(asked("")(left_undone));

  const auto held = asked(R"("rest_within": 8, )");
  check_refused(held(left_undone));
  check_passed(held(rounded));
  check_refused(held(halves("solve", "x[i] * 0.5002f", "x[i] * 0.5001f")));
  check_refused(asked(R"("rest_within": 1, )")(rounded));
}

TEST_CASE("rare large answers do not excuse errors in typical ones", "[honest-error][slow]") {
  const auto power = [](const std::string& name, const std::string& value) {
    return function(name, "const float* x, float* y, int n",
                    fmt::format("  for (int i = 0; i < n; ++i) y[i] = {};", value));
  };
  const Judged task{R"({"dims": {"n": 20000}, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})",
                    power("reference", "std::exp(2 * x[i])")};
  check_passed(task(power("solve", "expf(x[i]) * expf(x[i])")));
  check_refused(task(power("solve", "(float)(_Float16)expf(2 * x[i])")), "mismatch");
}

TEST_CASE("small answers are computed, not set to zero", "[honest-error][slow]") {
  const auto scale = [](const std::string& name, const std::string& value) {
    return function(name, "const float* x, float* y, int n",
                    fmt::format("  for (int i = 0; i < n; ++i) {{ const float v = 3 * x[i]; y[i] = "
                                "{}; }}",
                                value));
  };
  const Judged task{R"({"dims": {"n": 200000}, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})",
                    scale("reference", "v")};
  check_passed(task(scale("solve", "v * 1.0000001f")));
  check_refused(task(scale("solve", "std::fabs(v) < 2e-4f ? 0 : v")), "flushes_small_values");
}

TEST_CASE("zeros of constant rows are right where the reference's are its own rounding",
          "[honest-error][slow]") {
  const auto norm = [](const std::string& name, const std::string& mean) {
    return function(name, "const float* x, float* y, int rows, int cols", R"(
  for (int r = 0; r < rows; ++r) {
    const float* row = x + (long)r * cols;
    float mean = 0, square = 0;
    for (int c = 0; c < cols; ++c) )" + mean + R"(
    for (int c = 0; c < cols; ++c) square += (row[c] - mean) * (row[c] - mean);
    const float scale = 1 / std::sqrt(square / cols + 1e-3f);
    for (int c = 0; c < cols; ++c) y[(long)r * cols + c] = (row[c] - mean) * scale;
  })");
  };
  const Judged task{R"({"dims": {"rows": 96, "cols": 250}, "tensors": [
      {"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"},
      {"name": "y", "dtype": "float32", "shape": ["rows", "cols"], "role": "out"}]})",
                    norm("reference", "mean += row[c] / cols;")};
  // The running mean of a constant row is the constant: its answers are zeros.
  check_passed(task(norm("solve", "mean += (row[c] - mean) / (c + 1);")));
}

TEST_CASE("a float32 product passes with its author's tolerance, in TF32 it does not",
          "[honest-error][slow]") {
  const Judged task{product_request(R"("atol": 1e-2, "rtol": 1e-3)"),
                    product("reference", kInOrder)};
  check_passed(task(product("solve", kBackwards)));
  check_passed(task(product("solve", kEightSums)));
  check_refused(task(product("solve", kTf32Products)), "mismatch");
}

TEST_CASE("a product may be off by what its terms earn, however close its tolerance",
          "[honest-error][slow]") {
  // Closer than torch.testing, whose 1e-5 is about what sums of this length are off by.
  const Judged task{product_request(R"("atol": 1e-6, "rtol": 1.3e-6)"),
                    product("reference", kInOrder)};
  for (const auto* honest : {kBackwards, kEightSums}) {
    const auto report = task(product("solve", honest));
    check_passed(report);
    CHECK(has_note(report, "error_of_terms"));
  }
  for (const auto* cheat : {kTf32Products, kHalfSums, kWithoutLast})
    check_refused(task(product("solve", cheat)), "mismatch");
}

TEST_CASE("an output that is not a sum of its inputs has no terms", "[honest-error][slow]") {
  const std::string squares = R"(      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;)";
  auto backwards = squares;
  backwards.replace(backwards.find("int l = 0; l < k; ++l"), 21, "int l = k - 1; l >= 0; --l");
  const Judged task{product_request(R"("atol": 1e-7, "rtol": 1.3e-6)"),
                    product("reference", squares)};
  const auto report = task(product("solve", backwards));
  check_refused(report, "mismatch");
  CHECK_FALSE(has_note(report, "error_of_terms"));
}

TEST_CASE("a contract of an older version is judged by its rules", "[honest-error][slow]") {
  LabFixture fixture;
  auto contract = fixture.doubling(doubling_source(kHonestBody));
  REQUIRE(contract.judge);
  contract.judge.reset();
  const auto report = fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);
  REQUIRE(report);
  check_passed(*report);
  for (const auto& one : report->cases) CHECK(one.distribution != "special");
}

TEST_CASE("a run keeps the rules of its version", "[honest-error][slow]") {
  LabFixture fixture;
  auto contract = fixture.planned(product_request(R"("atol": 1e-6, "rtol": 1.3e-6)"),
                                  product("solve", kBackwards), product("reference", kInOrder));
  REQUIRE(contract.judge);
  contract.judge->version = 2;  // before sums were allowed what their terms earn
  check_refused(fixture.checked(contract), "mismatch");
}

// Tasks whose inputs come from a user's function: inputs() of ref.py, or setup() of a kernel.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/python_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A gather: y[i] = x[order[i]], with order a permutation that only the function can make.
constexpr const char* kMake =
    "import numpy as np\n"
    "def NAME(rows, cols, seed):\n"
    "    random = np.random.default_rng(seed)\n"
    "    return {'inputs': {'x': random.standard_normal((rows, cols)).astype(np.float32),\n"
    "                       'order': random.permutation(rows).astype(np.int32),\n"
    "                       'ends': np.arange(rows + 1, dtype=np.int32),\n"
    "                       'y': np.empty((rows, cols), np.float32), 'scale': 0.5, 'times': 2},\n"
    "            'outputs': ['y']}\n";
constexpr const char* kGather =
    "def run_kernel(x, order, ends, y, scale, times, **_):\n"
    "    for _ in range(times): y[:] = scale * x[order]\n";
constexpr const char* kDoubling =
    "def reference(x, order, y, scale, **_):\n    y[:] = scale * x[order]\n";

std::string make(const std::string& name) {
  std::string text = kMake;
  return text.replace(text.find("NAME"), 4, name);
}

Result<Contract> planned(LabFixture& fixture, const std::string& kernel,
                         const std::string& reference) {
  const auto task = decode<TaskRequest>(
      Json::parse(R"({"implementation": "host-python", "dims": {"rows": 96, "cols": 32}})"));
  REQUIRE(task);
  return fixture.lab->plan(*task, {"kernel.py", kernel, ""}, {"ref.py", reference, ""});
}

/// A task of 512 elements whose reference makes its inputs, for a kernel in C++.
Contract with_made_inputs(LabFixture& fixture, const std::string& kernel,
                          const std::string& reference) {
  TaskRequest task;
  task.dims = {{"n", 512}};
  auto contract = fixture.lab->plan(task, {"kernel.cpp", kernel, ""}, {"ref.py", reference, ""});
  if (!contract) FAIL(contract.error().message);
  return *std::move(contract);
}

}  // namespace

TEST_CASE("inputs() of the reference determines tensors, shapes and numbers of a task",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto contract = planned(fixture, kGather, make("inputs") + kDoubling);

  if (!contract) FAIL(contract.error().message);
  REQUIRE(contract->tensors.size() == 4);
  const auto tensor = [&](const std::string& name) {
    return *std::ranges::find(contract->tensors, name, &TensorSpec::name);
  };
  CHECK(tensor("x").shape == std::vector<std::string>{"rows", "cols"});
  CHECK(tensor("order").dtype == DType::i32);
  CHECK(tensor("ends").shape == std::vector<std::string>{"1*rows + 1"});
  CHECK(tensor("y").role == Role::out);
  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  if (!report) FAIL(report.error().message);
  CHECK(report->passed);
}

TEST_CASE("a kernel that assumes more than inputs() guarantees fails", "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = planned(
      fixture, "def run_kernel(x, y, scale, **_):\n    y[:] = scale * x\n",  // order = 0, 1, 2 …
      make("inputs") + kDoubling);
  REQUIRE(contract);

  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("inputs that the first kernel's setup() makes are used, and flagged",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = planned(fixture, make("setup") + kGather, kDoubling);
  if (!contract) FAIL(contract.error().message);

  const auto report =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  const auto weak = fixture.lab->validate_task(*contract, "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->passed);
  REQUIRE(weak);
  CHECK(std::ranges::find(*weak, "solution_inputs", &Reason::code) != weak->end());
}

TEST_CASE("inputs() makes the inputs of a C++ kernel, and its shapes", "[lab][python-inputs]") {
  LabFixture fixture;
  TaskRequest task;
  task.dims = {{"rows", 96}, {"cols", 32}};
  const auto gather = [](const std::string& at) {
    return Source{"kernel.cpp",
                  "extern \"C\" void solve(const float* x, const int* order, const int* ends,\n"
                  "    float* y, int rows, int cols, float scale, int times) {\n"
                  "  for (int r = 0; r < rows; ++r)\n"
                  "    for (int c = 0; c < cols; ++c)\n"
                  "      y[r * cols + c] = scale * x[" +
                      at + " * cols + c] + 0 * times * ends[rows];\n}\n",
                  ""};
  };
  const Source reference{"ref.py", make("inputs") + kDoubling, ""};

  const auto contract = fixture.lab->plan(task, gather("order[r]"), reference);
  const auto wrong = fixture.lab->plan(task, gather("r"), reference);

  if (!contract) FAIL(contract.error().message);
  CHECK(contract->tensors[2].shape == std::vector<std::string>{"1*rows + 1"});
  CHECK(contract->tensors[3].role == Role::out);
  const auto honest =
      fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
  if (!honest) FAIL(honest.error().message);
  CHECK(honest->passed);
  REQUIRE(wrong);
  const auto report = fixture.lab->check(*wrong, fixture.built(*wrong), "secret", fixture.call);
  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("inputs() is honored where tensors have no init, for every kind of kernel",
          "[lab][python-inputs]") {
  PythonKernelFixture fixture;
  // Only sorted values have their largest at the end.
  const std::string sorted =
      "import numpy as np\n"
      "def inputs(n, seed):\n"
      "    return {'x': "
      "np.sort(np.random.default_rng(seed).standard_normal(n)).astype('float32')}\n"
      "def reference(x, y, **_):\n    y[:] = x.max()\n";
  const auto passes = [&](const std::string& init, const Source& kernel, std::string text) {
    const auto task = decode<TaskRequest>(Json::parse(
        R"({"implementation": ")" +
        std::string(kernel.file_name == "kernel.py" ? "host-python" : "host-cpp") +
        R"(", "dims": {"n": 4096}, "tensors": [
            {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in", "init": ")" +
        init + R"("}, {"name": "y", "dtype": "float32", "shape": ["1"], "role": "out"}]})"));
    if (!task) FAIL(task.error().message);
    const auto contract = fixture.lab->plan(*task, kernel, {"ref.py", std::move(text), ""});
    if (!contract) FAIL(contract.error().message);
    const auto report =
        fixture.lab->check(*contract, fixture.built(*contract), "secret", fixture.call);
    if (!report) FAIL(report.error().message);
    return report->passed;
  };
  const Source cpp{"kernel.cpp",
                   "extern \"C\" void solve(const float* x, float* y, int n) { y[0] = x[n - 1]; }",
                   ""};
  const Source python{"kernel.py", "def run_kernel(x, y, n):\n    y[:] = x[n - 1]\n", ""};

  CHECK(passes("normal", cpp, sorted));
  CHECK(passes("given", cpp, sorted));
  CHECK(passes("normal", python, sorted));
  CHECK_FALSE(passes("uniform(-1, 1)", cpp, sorted));  // an init of its own counts
}

TEST_CASE("an inputs() that raises is named for a C++ kernel, too", "[lab][python-inputs]") {
  LabFixture fixture;
  TaskRequest task;
  task.dims = {{"n", 64}};
  const Source kernel{"kernel.cpp", "extern \"C\" void solve(const float* x, float* y, int n) {}",
                      ""};
  const auto message = [&](const std::string& body) {
    const auto contract =
        fixture.lab->plan(task, kernel,
                          {"ref.py",
                           "import numpy as np\ndef inputs(n, seed):\n    " + body +
                               "\ndef reference(x, y, n):\n    y[:] = 2 * x\n",
                           ""});
    return contract ? "no error" : contract.error().message;
  };

  CHECK(message("raise ValueError('no such table')").find("ref.py:3: ") != std::string::npos);
  CHECK(message("raise ValueError('no such table')").find("no such table") != std::string::npos);
  CHECK(message("return {'x': np.zeros(n, 'f4')}") ==
        "ref.py: inputs makes nothing called y, which the entry takes");
  CHECK(message("return {'x': np.zeros(n, 'f4'), 'y': np.zeros(n, 'f4')}") == "no error");
}

TEST_CASE("inputs that belong together stay together when a task is admitted",
          "[lab][python-inputs]") {
  LabFixture fixture;
  // One of them alone, from another seed, divides by zero or raises.
  const auto contract = with_made_inputs(
      fixture,
      "extern \"C\" void solve(const int* x, const int* sum, const float* table,\n"
      "    float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = (float)x[i] / *sum + 0 * table[0];\n}\n",
      "import numpy as np\n"
      "def inputs(n, seed):\n"
      "    x = np.random.default_rng(seed).integers(0, 99, n).astype(np.int32)\n"
      "    return {'x': x, 'sum': np.array([x.sum()], np.int32),\n"
      "            'table': np.arange(16, dtype=np.float32),\n"
      "            'y': np.empty(n, np.float32)}\n"
      "def reference(x, sum, table, y, n):\n"
      "    assert x.sum() == sum[0], 'they belong together'\n"
      "    y[:] = x / sum[0]\n");

  const auto weak = fixture.lab->validate_task(contract, "secret", fixture.call);
  const auto report = fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);

  if (!weak) FAIL(weak.error().message);
  CHECK(std::ranges::find(*weak, "input_without_effect", &Reason::code) == weak->end());
  if (!report) FAIL(report.error().message);
  for (const auto& reason : report->reasons) UNSCOPED_INFO(reason.message);
  CHECK(report->passed);
}

TEST_CASE("inputs that belong together stay together when a task is timed",
          "[lab][python-inputs][slow]") {
  LabFixture fixture;
  const auto contract =
      with_made_inputs(fixture, doubling_source(kHonestBody),
                       "import numpy as np\n"
                       "def inputs(n, seed):\n"
                       "    x = np.sort(np.random.default_rng(seed).random(n)).astype('f4')\n"
                       "    return {'x': x, 'y': np.empty(n, np.float32)}\n"
                       "def reference(x, y, n):\n"
                       "    assert (np.diff(x) >= 0).all(), 'not sorted'\n"
                       "    y[:] = 2 * x\n");
  const auto candidate = fixture.built(contract);
  ProfileRequest request;
  request.candidate = &candidate;

  const auto profile = fixture.lab->profile(contract, request, "secret", fixture.call);

  if (!profile) FAIL(profile.error().message);
  CHECK(profile->reasons.empty());
}

TEST_CASE("an input that never varies is not said to be without effect", "[lab][python-inputs]") {
  LabFixture fixture;
  const auto effects = [&](const std::string& init) {
    const auto task = decode<TaskRequest>(Json::parse(
        R"({"dims": {"n": 64}, "tensors": [
            {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
            {"name": "start", "dtype": "int32", "shape": ["1"], "role": "in", "init": ")" +
        init + R"("}, {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})"));
    if (!task) FAIL(task.error().message);
    const std::string parameters = "(const float* x, const int* start, float* y, int n) {\n";
    const auto contract =
        fixture.lab->plan(*task, {"kernel.cpp", "extern \"C\" void solve" + parameters + "}", ""},
                          {"ref.cpp",
                           "extern \"C\" void reference" + parameters +
                               "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n(void)start; }",
                           ""});
    if (!contract) FAIL(contract.error().message);
    const auto weak = fixture.lab->validate_task(*contract, "secret", fixture.call);
    if (!weak) FAIL(weak.error().message);
    return std::ranges::find(*weak, "input_without_effect", &Reason::code) != weak->end();
  };

  CHECK_FALSE(effects("indices(1)"));
  CHECK(effects("indices(1000000)"));
}

TEST_CASE("a failing inputs function is reported with its line", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto raised =
      planned(fixture, kGather,
              std::string("def inputs(rows, **_):\n    return rows + None\n") + kDoubling);
  const auto nameless = planned(
      fixture, kGather,
      std::string("import numpy\ndef inputs(rows, **_):\n    return {'x': numpy.zeros(rows)}\n") +
          kDoubling);

  REQUIRE_FALSE(raised);
  CHECK(raised.error().message.find("ref.py:2") != std::string::npos);
  REQUIRE_FALSE(nameless);
  CHECK(nameless.error().message == "ref.py: inputs does not say which tensors are outputs");
}

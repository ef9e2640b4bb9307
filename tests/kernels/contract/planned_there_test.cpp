#include "kernels/contract/planned_there.h"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/planner.h"
#include "server/core/fields.h"
#include "tests/support/devices.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A task, and what the machine that plans it knows beyond that.
struct Asked {
  std::string kind;
  TaskRequest task;
  Source kernel, reference;
  DeviceInfo device = {};
  TaskRequest completed = {};  ///< what it planned, where that is not the task itself
};

TaskRequest task_of(const char* text) {
  auto task = decode<TaskRequest>(Json::parse(text));
  if (!task) FAIL(task.error().message);
  return *std::move(task);
}

Asked asked(std::string kind, const char* task, Source kernel, Source reference,
            DeviceInfo device = some_processor(), const char* completed = nullptr) {
  auto given = task_of(task);
  auto whole = completed ? task_of(completed) : given;
  return {std::move(kind),      std::move(given),  std::move(kernel),
          std::move(reference), std::move(device), std::move(whole)};
}

const Source kScaling{"scale.cpp",
                      "extern \"C\" void solve(const float* x, float* y, int n, float a) {}", ""};
const Source kScaled{
    "ref.cpp", "extern \"C\" void reference(const float* x, float* y, int n, float a) {}", ""};
const Source kTwoSizes{"rows.cpp",
                       "extern \"C\" void solve(const float* x, float* y, int m, int n) {}", ""};
const Source kTwoSizesAsked{
    "ref.cpp", "extern \"C\" void reference(const float* x, float* y, int m, int n) {}", ""};
const Source kPython{"kernel.py", "def run_kernel(x, y, n):\n    y[:] = 2 * x\n", ""};
const Source kPythonAsked{"ref.py", "atol = 1e-3\ndef reference(x, y, n):\n    y[:] = 2 * x\n", ""};
const Source kMadeInputs{
    "ref.py", "def inputs(n, seed):\n    pass\ndef reference(x, y, n, a):\n    pass\n", ""};

std::vector<Asked> every_kind() {
  return {
      asked("a flat task", R"json({"dims": {"n": 300}, "scalars": {"a": 0.5}})json", kScaling,
            kScaled),
      asked("of ptr_size", R"json({"dims": {"m": 3, "n": 5}, "ptr_size": 15})json", kTwoSizes,
            kTwoSizesAsked),
      asked("with tensors", R"json({"dims": {"n": 300}, "scalars": {"a": 0.5}, "accumulate": ["y"],
              "tensors": [{"name": "y", "dtype": "float32", "shape": ["n"], "role": "out", "atol": 0.1},
                          {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in",
                           "init": "uniform(0,1)"}],
              "atol": 1e-3, "rtol": 1e-4, "matched_ratio": 0.99, "rest_within": 4, "edge_values": true, "seed": 7,
              "flags": ["-O2"], "work": {"bytes": "8*n", "flops": "n"}, "where": ["n >= 1"]})json",
            kScaling, kScaled),
      asked("of several cases", R"json({"dims": {"n": 300}, "scalars": {"a": 0.5}, "any_size": true,
              "cases": [{"dims": {"n": 4}, "weight": 2}, {"dims": {}}, {"dims": {"n": 9}}]})json",
            kScaling, kScaled),
      asked("in Python",
            R"json({"implementation": "host-python", "dims": {"n": 300}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})json",
            kPython, kPythonAsked),
      // What only the other machine knows.
      asked("in Python, on whatever is there",
            R"json({"dims": {"n": 300}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})json",
            kPython, kPythonAsked, some_processor(),
            R"json({"implementation": "host-python", "dims": {"n": 300}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})json"),
      asked("with shapes that the reference tells", R"json({"dims": {"m": 3, "n": 5}})json",
            kTwoSizes, kTwoSizesAsked, some_processor(),
            R"json({"dims": {"m": 3, "n": 5}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["m*n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["m"], "role": "out"}]})json"),
      asked("with inputs that a function makes", R"json({"dims": {"n": 300}})json", kScaling,
            kMadeInputs, some_processor(),
            R"json({"dims": {"n": 300}, "scalars": {"a": 0.25}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in", "init": "given"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out", "init": "given"}]})json"),
      asked("with one input that a function makes",
            R"json({"dims": {"n": 300}, "scalars": {"a": 0.5}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})json",
            kScaling, kMadeInputs, some_processor(),
            R"json({"dims": {"n": 300}, "scalars": {"a": 0.5}, "tensors": [
                {"name": "x", "dtype": "float32", "shape": ["n"], "role": "in", "init": "given"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})json"),
      asked(
          "for a GPU",
          R"json({"dims": {"n": 300}, "launch": {"grid": ["n"], "block": ["32"]}})json",
          {"twice.cu",
           "__global__ void twice(const float* x, float* y, int n) { asm(\"wgmma.fence;\"); }", ""},
          {"ref.cpp", "extern \"C\" void reference(const float* x, float* y, int n) {}", ""},
          hopper()),
  };
}

Contract planned_by(const Asked& one) {
  auto contract = plan_contract(one.completed, one.kernel, one.reference, one.device);
  INFO(one.kind);
  if (!contract) FAIL(contract.error().message);
  return *std::move(contract);
}

/// What a machine may change in a contract, by the field that the refusal must name.
using Lie = std::pair<std::string, std::function<void(Contract&)>>;
const std::vector<Lie> kLies{
    {"cases", [](Contract& c) { c.cases.clear(); }},
    {"cases", [](Contract& c) { c.cases.push_back(c.cases.front()); }},
    {"cases/0/dims/n", [](Contract& c) { c.cases.front().dims["n"] += 1; }},
    {"cases/0/weight", [](Contract& c) { c.cases.front().weight = 0.125; }},
    {"cases/0/hidden", [](Contract& c) { c.cases.front().hidden = true; }},
    {"atol", [](Contract& c) { c.atol = 1e9; }},
    {"rtol", [](Contract& c) { c.rtol = 1e9; }},
    {"matched_ratio", [](Contract& c) { c.matched_ratio = 0.5; }},
    {"rest_within", [](Contract& c) { c.rest_within = 1e9; }},
    {"tensors/0/atol", [](Contract& c) { c.tensors.front().atol = 1e9; }},
    {"tensors/0/rtol", [](Contract& c) { c.tensors.front().rtol = 1e9; }},
    {"tensors/1/matched_ratio", [](Contract& c) { c.tensors.at(1).matched_ratio = 0.5; }},
    {"tensors/0/init", [](Contract& c) { c.tensors.front().init = "indices(1)"; }},
    {"tensors", [](Contract& c) { c.tensors.pop_back(); }},
    {"flags", [](Contract& c) { c.flags.emplace_back("-ffast-math"); }},
    {"edge_values", [](Contract& c) { c.edge_values = false; }},
    {"any_size", [](Contract& c) { c.any_size = !c.any_size; }},
    {"judge", [](Contract& c) { c.judge.reset(); }},
    {"judge/version", [](Contract& c) { c.judge->version = 2; }},
    {"seed_given", [](Contract& c) { c.seed_given = !c.seed_given; }},
    {"iterations", [](Contract& c) { c.iterations = 99; }},
    {"retries", [](Contract& c) { c.retries = 99; }},
    {"baselines", [](Contract& c) { c.baselines.emplace_back("vendor"); }},
    {"noise_threshold_pct", [](Contract& c) { c.noise_threshold_pct = 50; }},
    {"where", [](Contract& c) { c.where = {"n == 1"}; }},
    {"work", [](Contract& c) { c.work = Work{"1", "1", DType::f32}; }},
    {"call", [](Contract& c) { c.call = CallStyle::module; }},
    {"signature", [](Contract& c) { c.signature = Json::object(); }},
    {"found_values", [](Contract& c) { c.found_values = {"zeros"}; }},
    {"entry", [](Contract& c) { c.entry = "other"; }},
    {"launch", [](Contract& c) { c.launch = Launch{{"1"}, {"1"}, "7"}; }},
    {"parameters", [](Contract& c) { c.parameters.pop_back(); }},
    {"kernel_name", [](Contract& c) { c.kernel_name = "../.."; }},
    {"problem", [](Contract& c) { c.problem = "softmax"; }},
    {"implementation", [](Contract& c) { c.implementation = Implementation::cutlass; }},
    {"device_kind",
     [](Contract& c) {
       c.device_kind = c.device_kind == DeviceKind::host ? DeviceKind::cuda : DeviceKind::host;
     }},
    {"device", [](Contract& c) { c.device = 7; }},
    {"reference_kind", [](Contract& c) { c.reference_kind = ReferenceKind::cuda; }},
};

}  // namespace

TEST_CASE("a contract that another machine made of a task as it is here is taken", "[planner]") {
  for (const auto& one : every_kind()) {
    INFO(one.kind);
    auto contract = planned_by(one);
    contract.lab = "far";

    const auto same = check_planned_there(contract, one.task);

    INFO((same ? "" : same.error().message));
    CHECK(same);
  }
}

TEST_CASE("a contract in which another machine changed anything of the task is refused",
          "[planner]") {
  for (const auto& one : every_kind())
    for (const auto& [field, change] : kLies) {
      const auto honest = planned_by(one);
      auto contract = honest;
      change(contract);
      INFO(one.kind << ", " << field);

      const auto same = check_planned_there(contract, one.task);

      REQUIRE_FALSE(same);
      INFO(same.error().message);
      // What it found by running a function is held against the sources first.
      CHECK((same.error().message.starts_with(field) ||
             same.error().message.starts_with("its contract cannot be that of the task")));
      CHECK_FALSE(same.error().hint.empty());
    }
}

TEST_CASE("a refused contract names the value of the task and the other", "[planner]") {
  const auto one = every_kind().at(2);
  auto contract = planned_by(one);
  contract.atol = 0.5;

  const auto same = check_planned_there(contract, one.task);

  REQUIRE_FALSE(same);
  CHECK(same.error().message.starts_with(
      "atol: the task makes it 0.001, and the contract that came back says "));
  CHECK(same.error().message.ends_with("0.5"));
}

// Labs that answer something else than what they were asked, beside honest ones.

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <vector>

#include "kernels/labs/remote_lab.h"
#include "server/core/fields.h"
#include "tests/kernels/labs/scripted_lab.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

std::vector<RaceLine> lines_named(const std::vector<std::string>& names) {
  std::vector<RaceLine> lines;
  for (const auto& name : names)
    lines.push_back({.name = name, .reasons = {{"slow", "it is", {}}}});
  return lines;
}

/// What a race between "whole", "a0" and "a1" gives where the lab answers with these lines.
Result<std::vector<RaceLine>> raced(ScriptedLabs& labs, const Contract& contract,
                                    const Candidate& candidate,
                                    const std::vector<std::string>& names) {
  return labs.lab_answering(encode(lines_named(names)))
      ->race(contract, {{"whole", &candidate}, {"a0", &candidate}, {"a1", &candidate}},
             {contract.cases.front().dims, std::nullopt}, "secret", labs.call);
}

struct Planned {
  std::string kind;
  TaskRequest task;
  Source kernel, reference;
};

TaskRequest doubled(int n) {
  TaskRequest task;
  task.dims = {{"n", n}};
  return task;
}

/// Tasks of every kind that a real lab plans, also those that it completes by running something.
std::vector<Planned> real_tasks() {
  const Source doubling{"kernel.cpp", doubling_source(kHonestBody), ""};
  const Source reference{"ref.cpp",
                         "extern \"C\" void reference(const float* x, float* y, int n) {\n"
                         "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
                         ""};
  std::vector<Planned> all{{"a flat task", doubled(1000), doubling, reference}};
  auto several = doubled(1000);
  several.cases = {{{{"n", 64}}, 2}, {{}, 1}};
  several.tensors = {{"x", DType::f32, {"n"}, Role::in, "uniform(0,1)"},
                     {"y", DType::f32, {"n"}, Role::out, "normal", 0.1}};
  several.atol = 1e-3;
  several.flags = {"-O2"};
  all.push_back({"with tensors and cases", several, doubling, reference});
  TaskRequest rows;
  rows.dims = {{"m", 40}, {"n", 25}};
  all.push_back({"with shapes that the reference tells",
                 rows,
                 {"kernel.cpp",
                  "extern \"C\" void solve(const float* x, float* y, int m, int n) {\n"
                  "  for (int i = 0; i < m; ++i) { y[i] = 0;\n"
                  "    for (int k = 0; k < n; ++k) y[i] += x[i * n + k]; }\n}\n",
                  ""},
                 {"ref.cpp",
                  "extern \"C\" void reference(const float* x, float* y, int m, int n) {\n"
                  "  for (int i = 0; i < m; ++i) { y[i] = 0;\n"
                  "    for (int k = 0; k < n; ++k) y[i] += x[i * n + k]; }\n}\n",
                  ""}});
  auto python = doubled(1000);
  python.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                    {"y", DType::f32, {"n"}, Role::out, "normal"}};
  all.push_back({"in Python",
                 python,
                 {"kernel.py", "def run_kernel(x, y, n):\n    y[:] = 2 * x\n", ""},
                 {"ref.py", "def reference(x, y, n):\n    y[:] = 2 * x\n", ""}});
  all.push_back({"in Python, with inputs that a function makes",
                 doubled(1000),
                 {"kernel.py", "def run_kernel(x, y, n, a):\n    y[:] = a * x\n", ""},
                 {"ref.py",
                  "import numpy\n"
                  "def inputs(n, seed):\n"
                  "    x = numpy.random.default_rng(seed).random(n, numpy.float32)\n"
                  "    return {'inputs': {'x': x, 'y': numpy.zeros(n, numpy.float32), 'a': 3.0},\n"
                  "            'outputs': ['y']}\n"
                  "def reference(x, y, n, a):\n    y[:] = a * x\n",
                  ""}});
  return all;
}

}  // namespace

TEST_CASE("a race counts only with a line for each kernel, in order", "[labs][slow]") {
  ScriptedLabs labs;
  const auto contract = labs.doubling(doubling_source(kHonestBody));
  const auto candidate = labs.built(contract);
  const std::vector<std::vector<std::string>> lies{{},
                                                   {"whole"},
                                                   {"whole", "a0"},
                                                   {"whole", "a1", "a0"},
                                                   {"a0", "whole", "a1"},
                                                   {"whole", "a0", "a0"},
                                                   {"whole", "a0", "a1", "a2"}};

  for (const auto& names : lies) {
    const auto answer = raced(labs, contract, candidate, names);
    INFO(names.size());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::unavailable);
    CHECK(answer.error().message.starts_with("lab far: "));
    CHECK_FALSE(answer.error().hint.empty());
  }
  const auto honest = raced(labs, contract, candidate, {"whole", "a0", "a1"});

  REQUIRE(honest);
  CHECK(honest->at(2).name == "a1");
}

TEST_CASE("a plan counts only where it is that of the task", "[labs][slow]") {
  ScriptedLabs labs;
  const std::vector<std::pair<std::string, std::function<void(Contract&)>>> lies{
      {"cases", [](Contract& c) { c.cases.clear(); }},
      {"atol", [](Contract& c) { c.atol = 1e6; }},
      {"flags", [](Contract& c) { c.flags.emplace_back("-ffast-math"); }},
      {"edge_values", [](Contract& c) { c.edge_values = true; }}};

  for (const auto& one : real_tasks()) {
    INFO(one.kind);
    const auto plan = labs.lab->plan(one.task, one.kernel, one.reference);
    if (!plan) FAIL(plan.error().message);
    const auto returned = [&](const Contract& contract) {
      return labs.lab_answering(encode(contract))->plan(one.task, one.kernel, one.reference);
    };
    const auto honest = returned(*plan);
    INFO((honest ? "" : honest.error().message));
    REQUIRE(honest);
    CHECK(honest->lab == "far");
    for (const auto& [field, change] : lies) {
      auto changed = *plan;
      change(changed);
      const auto refused = returned(changed);
      INFO(field);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == ErrorCode::unavailable);
      has(refused.error().message, "lab far: " + field);
      has(refused.error().hint, "cannot be trusted");
    }
  }
}

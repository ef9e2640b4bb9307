#include "kernels/contract/call_signature.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "kernels/contract/layout.h"
#include "kernels/contract/planner.h"
#include "server/core/fields.h"

using namespace ratchet;

namespace {

constexpr std::string_view kLinearModule =
    "import torch\nclass ModelNew(torch.nn.Module):\n    pass\n";
const Source kLinearReference{"ref.py", "import torch\ndef reference(x, weight, **_):\n    pass\n",
                              ""};

DeviceInfo processor() {
  DeviceInfo device;
  device.name = "a processor";
  device.arch = "x86-64";
  return device;
}

/// y = x W' with the weight in the module's state.
Json linear_task() {
  return Json::parse(R"({
      "implementation": "host-python", "call": "module", "dims": {"n": 6, "k": 4},
      "scalars": {"eps": 0.5},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n", "k"], "role": "in"},
                  {"name": "weight", "dtype": "float32", "shape": ["k", "k"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n", "k"], "role": "out"}],
      "signature": {"init": [{"object": {"width": {"dim": "k"}, "eps": {"scalar": "eps"}}}],
                    "state": {"linear.weight": {"tensor": "weight"}},
                    "args": [{"tuple": [{"tensor": "x"}, {"expr": "2*n"}]}],
                    "returns": {"dict": {"out": {"tensor": "y"}, "other": null}}}})");
}

Result<Contract> planned(const Json& task, std::string_view text = kLinearModule,
                         const std::string& file = "kernel.py") {
  auto request = decode<TaskRequest>(task);
  if (!request) return request.error();
  return plan_contract(*request, {file, std::string(text), ""}, kLinearReference, processor());
}

/// The refusal of a linear task whose signature has `value` at `place`.
Error refusal(const std::string& place, const std::string& value) {
  auto task = linear_task();
  task[Json::json_pointer("/signature" + place)] = Json::parse(value);
  const auto contract = planned(task);
  return contract ? Error{ErrorCode::internal, "no refusal", ""} : contract.error();
}

bool says(const Error& error, std::string_view part) {
  INFO(error.message << "\n" << error.hint);
  const bool found = error.message.find(part) != std::string::npos;
  CHECK(found);
  CHECK_FALSE(error.hint.empty());
  return found;
}

}  // namespace

TEST_CASE("a module's contract keeps its signature, and its weights are constant when timed",
          "[signature]") {
  const auto contract = planned(linear_task());

  if (!contract) FAIL(contract.error().message);
  CHECK(contract->call == CallStyle::module);
  CHECK(contract->entry == "ModelNew");
  CHECK(state_tensors(*contract) == std::set<std::string>{"weight"});
  const auto layout = layout_of(*contract, contract->cases.at(0).dims);
  REQUIRE(layout);
  CHECK_FALSE(layout->buffers.at(0).constant);
  CHECK(layout->buffers.at(1).constant);
  CHECK_FALSE(layout->buffers.at(2).constant);
}

TEST_CASE("a contract without a call style is written as before", "[signature]") {
  auto task = linear_task();
  task.erase("call");
  task.erase("signature");
  const auto contract = planned(task, "def run_kernel(x, weight, y, **_):\n    pass\n");

  if (!contract) FAIL(contract.error().message);
  CHECK(contract->entry == "solve");
  const auto written = encode(*contract);
  CHECK_FALSE(written.contains("call"));
  CHECK_FALSE(written.contains("signature"));
  CHECK_FALSE(written.at("tensors").at(0).contains("atol"));
}

TEST_CASE("a function is found by the names that suites give it", "[signature]") {
  auto task = linear_task();
  task["call"] = "function";
  task["signature"] = Json::parse(R"({"args": [{"tensor": "x"}, {"tensor": "weight"}],
                                      "kwargs": {"out": {"tensor": "y"}}})");

  for (const auto* text : {"def run(x, weight, out): pass\n", "@compiled\ndef run(*a, out): pass\n",
                           "from elsewhere import run\n", "run = build()\n"}) {
    const auto contract = planned(task, text);
    INFO(text);
    REQUIRE(contract);
    CHECK(contract->entry == "run");
  }
  CHECK(planned(task, "def custom_kernel(data): pass\n")->entry == "custom_kernel");
  const auto missing = planned(task, "def runs(): pass\n");
  REQUIRE_FALSE(missing);
  CHECK(says(missing.error(), "kernel.py: the function run or custom_kernel is not defined"));
  task["entry"] = "mine";
  CHECK(planned(task, "def mine(): pass\n")->entry == "mine");
}

TEST_CASE("what a signature may not say is refused with its place and the way on", "[signature]") {
  says(refusal("/argss", "[]"), "signature.argss: is not a known field");
  says(refusal("/args", "{}"), "signature.args: must be a list, got {}");
  says(refusal("/args/0", R"({"tensor": "w"})"),
       "signature.args[0].tensor: must be a tensor of the contract, got \"w\"");
  says(refusal("/args/0", R"({"tensor": "x", "dim": "n"})"),
       "signature.args[0]: must be an object with one key, got {\"dim\":\"n\",\"tensor\":\"x\"}");
  says(refusal("/args/0", R"({"array": []})"),
       "signature.args[0]: must be one of the known values");
  says(refusal("/args/0/tuple/1", R"({"dim": "m"})"),
       "signature.args[0].tuple[1].dim: must be a name in dims, got \"m\"");
  says(refusal("/args/0/tuple/1", R"({"expr": "2*m"})"), "signature.args[0].tuple[1].expr: ");
  says(refusal("/init/0", R"({"tensor": "weight"})"),
       "signature.init[0].tensor: a module is built before it gets tensors");
  says(refusal("/init/0/object/eps", R"({"scalar": "k"})"),
       "signature.init[0].object.eps.scalar: must be a name in scalars, got \"k\"");
  says(refusal("/state", R"({"linear.weight": {"tensor": "y"}})"),
       "signature.state[\"linear.weight\"]: y is an output");
  says(refusal("/returns", R"({"tensor": "x"})"),
       "signature.returns.tensor: must be an output of the contract, got \"x\"");
  says(refusal("/returns", "1"), "signature.returns: must be an output or null");
  says(refusal("/returns", R"([{"tensor": "y"}, {"tensor": "y"}])"),
       "signature.returns[1].tensor: y is returned twice");
  says(refusal("/returns", "null"), "signature: the output y is neither returned nor passed");
  says(refusal("/state", "{}"), "signature: the input weight is neither in args nor in kwargs");
  std::string deep(40, '[');
  says(refusal("/args/0", deep + std::string(40, ']')), "nested more than 16 levels deep");
}

TEST_CASE("a call style that does not fit the source is refused", "[signature]") {
  auto task = linear_task();
  task["call"] = "solve";
  CHECK(
      says(planned(task).error(), "call: solve is for C++ and CUDA, and kernel.py is host-python"));
  task["call"] = "run_kernel";
  CHECK(says(planned(task, "def run_kernel(**_): pass\n").error(),
             "signature: only a module or a function has one"));
  task["call"] = "module";
  CHECK(says(planned(task, "class Other: pass\n").error(),
             "kernel.py: the class ModelNew is not defined"));
  task.erase("signature");
  CHECK(says(planned(task).error(), "signature: is required for call: module"));
  task["call"] = "function";
  task["signature"] = {{"init", Json::array()}};
  CHECK(says(planned(task, "def run(): pass\n").error(), "signature.init: a function has none"));
}

TEST_CASE("a call is known to get an output, or only to return it", "[signature]") {
  const auto linear = linear_task();
  auto into = linear;
  into["signature"]["args"][0]["tuple"].push_back(Json{{"tensor", "y"}});
  auto kept = linear;
  kept["signature"]["kwargs"] = Json::parse(R"({"data": {"dict": {"all": [{"tensor": "y"}]}}})");
  auto named = linear;
  named.erase("call");
  named.erase("signature");

  const auto takes = [](const Json& task, std::string_view text = kLinearModule) {
    const auto contract = planned(task, text);
    if (!contract) FAIL(contract.error().message);
    return takes_outputs(*contract);
  };
  CHECK_FALSE(takes(linear));
  CHECK(takes(into));
  CHECK(takes(kept));
  CHECK(takes(named, "def run_kernel(x, weight, y, n, k, eps):\n    pass\n"));
}

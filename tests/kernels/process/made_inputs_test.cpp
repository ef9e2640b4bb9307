// Inputs that the process of a Python reference makes itself, as it does in the memory of a GPU.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/judge/judge.h"
#include "kernels/process/descendants.h"
#include "tests/kernels/lab/python_fixture.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr std::chrono::seconds kAnswerTime(20);
const std::string kSeed(64, 'b');

// The scale comes out as a whole number, as range() wants it, and `z` is not made.
constexpr const char* kReference = R"(import random

import numpy as np

calls = 0


def inputs(n, times, seed):
    global calls
    calls += 1
    x = np.random.default_rng(seed).standard_normal(n, dtype=np.float32)
    x[0] = len(range(times))
    return {"x": x, "order": np.random.permutation(n).astype(np.int32),
            "calls": np.full(1, calls, np.int32), "lot": np.array([random.random()])}


def reference(x, **_):
    return x
)";

/// Planned with `kReference`, so that the text may be one that makes no inputs.
Contract contract_of(const std::string& reference) {
  const LabFixture fixture;
  const auto task = decode<TaskRequest>(Json::parse(R"({
      "implementation": "host-python", "dims": {"n": 64}, "scalars": {"times": 3},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in", "init": "given"},
                  {"name": "order", "dtype": "int32", "shape": ["n"], "role": "in", "init": "given"},
                  {"name": "calls", "dtype": "int32", "shape": ["1"], "role": "in", "init": "given"},
                  {"name": "lot", "dtype": "float64", "shape": ["1"], "role": "in", "init": "given"},
                  {"name": "z", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}]})"));
  REQUIRE(task);
  auto contract =
      fixture.lab->plan(*task, {"kernel.py", "def run_kernel(x, y, **_):\n    y[:] = x\n", ""},
                        {"ref.py", kReference, ""});
  if (!contract) FAIL(contract.error().message);
  contract->reference.text = reference;
  return *std::move(contract);
}

/// The process of a reference, and one of its function alone.
struct MadeInputsFixture {
  PythonForkServer python{
      {"python3", source_dir() / "kernels", build_dir() / "bin", DeviceKind::host}};
  Contract contract;
  CallPlan plan;
  std::optional<CandidateProcess> process;

  explicit MadeInputsFixture(const std::string& reference = kReference,
                             const std::string& role = "baseline")
      : contract(contract_of(reference)) {
    guard_server_process();
    auto planned = call_plan_of(contract, contract.cases.front().dims);
    REQUIRE(planned);
    plan = *std::move(planned);
    const WorkerPlace place{build_dir() / "bin", DeviceKind::host, 0, kAnswerTime};
    auto started = CandidateProcess::launch(
        python.kernel_spec(place, role, plan.layout.bytes, contract.reference), kAnswerTime);
    if (!started) FAIL(started.error().message);
    process = *std::move(started);
    const bool reference_role = role == "baseline";
    const CandidateProcess::Code code{
        contract.reference.text,
        {"ref.py", "reference", reference_role ? "reference" : "", CallStyle::run_kernel, {}}};
    if (auto loaded = process->load(code, {}); !loaded) FAIL(loaded.error().message);
    if (process->fault()) FAIL(process->fault()->text());
  }

  [[nodiscard]] MemoryFile empty() const {
    auto file = MemoryFile::create("empty", plan.layout.bytes);
    REQUIRE(file);
    return *std::move(file);
  }

  /// What the reference's process makes; empty after a fault.
  std::optional<std::vector<std::byte>> made(const std::string& seed, bool anew = false) {
    auto answer = process->execute(
        plan, empty(), 0, {}, wire::MadeInputs{given_inputs(contract), inputs_seed(seed), anew});
    if (!answer) FAIL(answer.error().message);
    if (!*answer) return std::nullopt;
    return content_of(**answer);
  }

  static std::vector<std::byte> content_of(const MemoryFile& file) {
    const auto mapped = file.map(Mapping::Access::read);
    REQUIRE(mapped);
    return {mapped->bytes().begin(), mapped->bytes().end()};
  }

  [[nodiscard]] const wire::Buffer& buffer(const std::string& name) const {
    return *std::ranges::find(plan.layout.buffers, name, &wire::Buffer::name);
  }

  [[nodiscard]] int calls_in(const std::optional<std::vector<std::byte>>& made) const {
    REQUIRE(made);
    std::int32_t calls = 0;
    std::memcpy(&calls, made->data() + buffer("calls").offset, sizeof calls);
    return calls;
  }
};

}  // namespace

TEST_CASE("a reference's process makes the inputs that a process of their own would make",
          "[lab][python-inputs]") {
  MadeInputsFixture fixture;
  auto own = open_inputs(fixture.python, fixture.contract, {}, kAnswerTime, {});
  REQUIRE(own);
  REQUIRE(*own);
  auto arena = fixture.empty();
  const auto filled = (*own)->fill(fixture.contract.cases.front().dims, fixture.plan.layout,
                                   given_inputs(fixture.contract), kSeed, arena, {});
  if (!filled) FAIL(filled.error().message);

  const auto made = fixture.made(kSeed);

  REQUIRE(made);
  CHECK(*made == MadeInputsFixture::content_of(arena));
  float first = 0;
  std::memcpy(&first, made->data() + fixture.buffer("x").offset, sizeof first);
  CHECK(first == 3);
}

TEST_CASE("inputs of one seed are made once, unless they are asked for anew",
          "[lab][python-inputs]") {
  MadeInputsFixture fixture;

  const auto first = fixture.made(kSeed);
  CHECK(fixture.calls_in(first) == 1);
  CHECK(fixture.calls_in(fixture.made(std::string(64, 'c'))) == 2);
  CHECK(fixture.made(kSeed) == first);
  CHECK(fixture.calls_in(fixture.made(kSeed, true)) == 3);
}

TEST_CASE("kept inputs are copies of what the function made", "[lab][python-inputs]") {
  std::string reference = kReference;
  const std::string fresh = "x = np.random.default_rng(seed).standard_normal(n, dtype=np.float32)";
  reference.replace(reference.find(fresh), fresh.size(),
                    "x[:] = np.random.default_rng(seed).standard_normal(n)");
  reference.replace(reference.find("calls = 0\n"), 10, "calls = 0\nx = np.empty(64, np.float32)\n");
  MadeInputsFixture fixture(reference);

  const auto first = fixture.made(kSeed);
  CHECK(fixture.made(std::string(64, 'c')) != first);
  CHECK(fixture.made(kSeed) == first);
}

TEST_CASE("a reference whose inputs() fails, or makes something else, is at fault",
          "[lab][python-inputs][slow]") {
  const auto message = [](const std::string& x) {
    std::string reference = kReference;
    const std::string before = "return {\"x\": x,";
    reference.replace(reference.find(before), before.size(), "return {\"x\": " + x + ",");
    MadeInputsFixture fixture(reference);
    CHECK_FALSE(fixture.made(kSeed));
    return fixture.process->fault() ? fixture.process->fault()->text() : "";
  };

  CHECK(message("[][1]").find("ref.py:13: ") != std::string::npos);
  CHECK(message("x[1:]").find("returned x as float32 [63]") != std::string::npos);
  CHECK(message("x.astype('f8')").find("returned x as float64 [64]") != std::string::npos);
  CHECK(message("None").find("returned no tensor x") != std::string::npos);
}

TEST_CASE("a reference with names of its own gets the kernel's inputs in its process, too",
          "[lab][python-inputs]") {
  std::string reference = kReference;
  const std::string before = "def reference(x, **_):\n    return x\n";
  reference.replace(reference.find(before), before.size(),
                    "def reference(a, b, c, d, e):\n    return a + 1\n");
  MadeInputsFixture fixture(reference);

  auto answer = fixture.process->execute(fixture.plan, fixture.empty(), 0, {});

  REQUIRE(answer);
  if (fixture.process->fault()) FAIL(fixture.process->fault()->text());
  float first = 0;
  const auto content = MadeInputsFixture::content_of(**answer);
  std::memcpy(&first, content.data() + fixture.buffer("y").offset, sizeof first);
  CHECK(first == 1);
}

TEST_CASE("the process of a candidate makes no inputs", "[lab][python-inputs]") {
  MadeInputsFixture fixture(
      "def inputs(seed):\n    return {}\n"
      "def reference(x, **_):\n    return x\n",
      "candidate");

  const auto answer = fixture.process->execute(
      fixture.plan, fixture.empty(), 0, {},
      wire::MadeInputs{given_inputs(fixture.contract), inputs_seed(kSeed), false});

  REQUIRE_FALSE(answer);
  CHECK(answer.error().message.find("role does not accept") != std::string::npos);
}

TEST_CASE("only the process of a reference takes memory for answers in float64", "[lab]") {
  MadeInputsFixture reference, candidate(kReference, "candidate");
  const auto said = [](const Status& status) { return status ? "" : status.error().message; };
  const auto missing = said(reference.process->attach_wide({}, 4096, {}));
  CHECK(missing.find("shared memory is missing") != std::string::npos);
  const auto refused = said(candidate.process->attach_wide({}, 4096, {}));
  CHECK(refused.find("role does not accept") != std::string::npos);
  CHECK_FALSE(reference.process->run_wide(reference.plan, {}));
  CHECK_FALSE(candidate.process->run_wide(candidate.plan, {}));
}

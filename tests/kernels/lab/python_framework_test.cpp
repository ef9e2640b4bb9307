// Python kernels that use torch and Triton, on the host: Triton in its own interpreter.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/build/toolchain.h"
#include "kernels/process/python_cache.h"
#include "tests/kernels/lab/python_fixture.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr const char* kTorchReference =
    "import torch\ndef reference(x, **_):\n    return torch.mul(x, 2)\n";

std::string shipped(const std::string& variant) {
  auto text = read_file(source_dir() / "kernels/problems/softmax/triton" / (variant + ".py"));
  REQUIRE(text);
  return *std::move(text);
}

Contract softmax_contract(Lab& lab, const std::string& kernel) {
  const auto task = decode<TaskRequest>(Json::parse(R"({
      "implementation": "host-python", "dims": {"rows": 8, "cols": 96},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["rows", "cols"], "role": "out"}]})"));
  REQUIRE(task);
  auto planned = lab.plan(*task, {"kernel.py", kernel, ""}, shipped_python_reference("softmax"));
  if (!planned) FAIL(planned.error().message);
  return *std::move(planned);
}

}  // namespace

TEST_CASE("the shipped Triton kernels are right, in Triton's interpreter", "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());

  for (const auto* variant : {"naive", "better", "best"}) {
    const auto contract = softmax_contract(*fixture.lab, shipped(variant));
    const auto report =
        fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);
    INFO(variant);
    if (!report) FAIL(report.error().message);
    for (const auto& reason : report->reasons) UNSCOPED_INFO(reason.message);
    CHECK(report->passed);
  }
}

TEST_CASE("a wrong Triton kernel fails", "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());
  std::string wrong = shipped("best");
  wrong.replace(wrong.find("raised / tl.sum(raised, axis=0)"), 31, "raised");
  const auto contract = softmax_contract(*fixture.lab, wrong);

  const auto report = fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->passed);
}

TEST_CASE("a torch reference may work in place or return tensor, tuple, list or dict",
          "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());

  for (const auto* body : {"y.copy_(2 * x)", "return 2 * x", "return (2 * x,)", "return [2 * x]",
                           "return {'y': 2 * x}"}) {
    const auto report =
        fixture.check("import torch\ndef run_kernel(x, y, n):\n    torch.mul(x, 2, out=y)\n",
                      std::string("import torch\ndef reference(x, y):\n    ") + body + "\n");
    INFO(body);
    CHECK(report.passed);
  }
}

TEST_CASE("a reference adds up products exactly, whatever its file sets", "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());
  // Off by one for each setting that is on when the reference is called.
  const std::string reference = R"(import torch

matmul = torch.backends.cuda.matmul
matmul.allow_tf32 = True
matmul.allow_fp16_reduced_precision_reduction = True
matmul.allow_bf16_reduced_precision_reduction = True
matmul.allow_fp16_accumulation = True
torch.backends.cudnn.allow_tf32 = True


def reference(x, **_):
    set_for_speed = [matmul.allow_tf32, torch.backends.cudnn.allow_tf32,
                     matmul.allow_fp16_reduced_precision_reduction,
                     matmul.allow_bf16_reduced_precision_reduction, matmul.allow_fp16_accumulation,
                     torch.get_float32_matmul_precision() != "highest"]
    return torch.mul(x, 2) + sum(set_for_speed)
)";

  const auto report = fixture.check(
      "import torch\ndef run_kernel(x, y, n):\n    torch.mul(x, 2, out=y)\n", reference);

  CHECK(report.passed);
}

TEST_CASE("patching torch changes nothing but the kernel itself", "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());

  const auto report = fixture.check(
      "import torch\n"
      "torch.mul = lambda x, *_: 0 * x\n"
      "torch.allclose = torch.equal = lambda *a, **k: True\n"
      "def run_kernel(x, y, n):\n    y.copy_(torch.mul(x, 2))\n",
      kTorchReference);

  CHECK_FALSE(report.passed);
}

TEST_CASE("eager torch is timed beside the kernel, and absent baselines are reported as missing",
          "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());
  const auto contract = fixture.contract(
      "import torch\ndef run_kernel(x, y, n):\n    torch.mul(x, 2, out=y)\n", kTorchReference);
  const auto candidate = fixture.built(contract);

  const auto report = fixture.lab->benchmark(
      contract,
      {.candidate = &candidate, .baselines = {"pytorch-eager", "flashinfer"}, .num_trials = 10},
      "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->correct);
  CHECK(row_named(*report, "pytorch-eager").status == "ok");
  CHECK(row_named(*report, "pytorch-eager").timing);
  CHECK(row_named(*report, "flashinfer").status == "missing");
}

TEST_CASE("a failing baseline does not affect the kernel's verdict", "[lab][python]") {
  PythonKernelFixture fixture(python_with_frameworks());
  // Right when it is the reference, broken when it is timed as a library's.
  const auto contract =
      fixture.contract("import torch\ndef run_kernel(x, y, n):\n    torch.mul(x, 2, out=y)\n",
                       "import os, torch\ndef reference(x, **_):\n"
                       "    if 'ratchet_kernel' in __name__: raise RuntimeError('not today')\n"
                       "    return 2 * x\n");
  const auto candidate = fixture.built(contract);

  const auto report = fixture.lab->benchmark(
      contract, {.candidate = &candidate, .baselines = {"pytorch-eager"}, .num_trials = 10},
      "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->correct);
  CHECK(row_named(*report, "pytorch-eager").status == "failed");
}

TEST_CASE("a CuTe DSL kernel compiles without starting programs, and leaves its machine code",
          "[lab][python]") {
  const auto python = python_with_frameworks();
  if (!find_toolchain(python).python_packages.contains("cutlass-dsl"))
    SKIP("CuTe DSL is not installed for " << python);
  PythonKernelFixture fixture(python);
  // Named with its architecture, it is compiled and not loaded: that takes no GPU.
  const auto contract = fixture.contract(
      "import cutlass\n"
      "import cutlass.cute as cute\n"
      "@cute.kernel\n"
      "def fill(n: cutlass.Int32):\n"
      "    if n > 0: cute.arch.sync_threads()\n"
      "@cute.jit\n"
      "def launch(n: cutlass.Int32):\n"
      "    fill(n).launch(grid=(n, 1, 1), block=(32, 1, 1))\n"
      "def run_kernel(x, y, n):\n"
      "    cute.compile(launch, n, options='--gpu-arch sm_90a')\n"
      "    y.copy_(2 * x)\n");
  const auto candidate = fixture.built(contract);

  const auto report = fixture.lab->check(contract, candidate, "secret", fixture.call);

  REQUIRE(report);
  CHECK(report->passed);
  CHECK(candidate.build.toolchain.find("cutlass ") != std::string::npos);
  const PythonCache cache(fixture.folder / "state/python" / candidate.build.build_key);
  CHECK_FALSE(cache.files(".cubin").empty());
  CHECK_FALSE(cache.files(".ptx").empty());
}

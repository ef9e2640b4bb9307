// Torch modules and functions as kernels, on the processor.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/lab.h"
#include "server/core/files.h"
#include "tests/kernels/lab/attack.h"
#include "tests/kernels/lab/python_fixture.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

struct CallStyles : LabFixture {
  explicit CallStyles(std::chrono::milliseconds job_deadline = std::chrono::milliseconds(1500))
      : LabFixture(python_with_frameworks(), std::chrono::seconds(1), job_deadline) {}

  [[nodiscard]] Contract contract(const Json& task, const std::string& kernel,
                                  const Source& reference) const {
    const auto request = decode<TaskRequest>(task);
    if (!request) FAIL(request.error().message);
    auto planned = lab->plan(*request, {"kernel.py", kernel, ""}, reference);
    if (!planned) FAIL(planned.error().message);
    return *std::move(planned);
  }

  /// A task of tests/attacks/tasks with another kernel.
  [[nodiscard]] Contract like(const std::string& name, const std::string& kernel) const {
    const auto task = host_task(name, ".py");
    auto planned = lab->plan(task.request, {"kernel.py", kernel, ""}, task.reference);
    if (!planned) FAIL(planned.error().message);
    return *std::move(planned);
  }

  [[nodiscard]] CorrectnessReport checked(const Contract& contract) {
    auto report = lab->check(contract, built(contract), "secret", call);
    if (!report) FAIL(report.error().message);
    for (const auto& reason : report->reasons) UNSCOPED_INFO(reason.code << ": " << reason.message);
    return *std::move(report);
  }

  /// The first line of why a kernel is not built.
  [[nodiscard]] std::string refused(const Contract& contract) {
    const auto candidate = lab->build(contract, contract.kernel, call);
    if (!candidate) FAIL(candidate.error().message);
    return candidate->build.ok ? "built" : candidate->build.errors.at(0).message;
  }
};

std::string module_with(const std::string& body, const std::string& built = "") {
  return "import torch\n"
         "class ModelNew(torch.nn.Module):\n"
         "    def __init__(self, inputs, outputs):\n"
         "        super().__init__()\n"
         "        self.linear = torch.nn.Linear(inputs, outputs)\n" +
         built + "    def forward(self, x):\n" + body;
}

std::string parts_with(const std::string& result) {
  return "import torch\ndef run(data):\n    x, n = data\n    return " + result + "\n";
}

/// The Python example of a page that has this line.
std::string block_with(const std::string& page, const std::string& line) {
  const auto at = page.find(line);
  REQUIRE(at != std::string::npos);
  const std::string opening = "```python\n";
  const auto begin = page.rfind(opening, at) + opening.size();
  return page.substr(begin, page.find("```", at) - begin);
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a module gets the contract's weights and is judged and timed by its forward",
          "[lab][python][call]") {
  CallStyles styles;
  const auto right =
      styles.like("linear", module_with("        return torch.relu(self.linear(x))\n"));
  CHECK(styles.checked(right).passed);
  const auto candidate = styles.built(right);
  const auto report = styles.lab->benchmark(
      right, {.candidate = &candidate, .baselines = {"pytorch-eager"}, .num_trials = 10}, "secret",
      styles.call);
  if (!report) FAIL(report.error().message);
  CHECK(report->correct);
  CHECK(row_named(*report, "pytorch-eager").status == "ok");

  const auto wrong = styles.like("linear", module_with("        return self.linear(x)\n"));
  CHECK(has_reason(styles.checked(wrong), "mismatch"));
}

TEST_CASE("kernels and baselines start at one precision, whatever the reference's file sets",
          "[lab][python][call]") {
  CallStyles styles;
  const std::string sets =
      "import torch\n"
      "torch.set_float32_matmul_precision('high')\n"
      "torch.backends.cudnn.allow_tf32 = True\n"
      "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False\n";
  const std::string reads =
      "    return x + (torch.get_float32_matmul_precision() == 'highest')"
      " + 2 * (not torch.backends.cudnn.allow_tf32)"
      " + 4 * bool(torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction)\n";
  const auto task = Json::parse(R"({
      "implementation": "host-python", "call": "function", "entry": "run", "dims": {"n": 1000},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
      "signature": {"args": [{"tensor": "x"}], "returns": {"tensor": "y"}}})");
  const auto contract =
      styles.contract(task, "import torch\ndef run(x):\n" + reads,
                      {"ref.py", sets + "def reference(x, **_):\n    return x + 7\n", ""});
  CHECK(styles.checked(contract).passed);

  const auto other = styles.contract(
      task, "import torch\ndef run(x):\n    return x + 7\n",
      {"ref.py",
       sets +
           "def reference(x, **_):\n    if torch.backends.cudnn.allow_tf32 or "
           "torch.get_float32_matmul_precision() != 'highest': raise ValueError('less precise')\n"
           "    return x + 7\n",
       ""});
  const auto candidate = styles.built(other);
  const auto report = styles.lab->benchmark(
      other, {.candidate = &candidate, .baselines = {"pytorch-eager"}, .num_trials = 10}, "secret",
      styles.call);
  if (!report) FAIL(report.error().message);
  CHECK(row_named(*report, "pytorch-eager").status == "ok");
}

TEST_CASE("a state that does not fit is a finding that names the key", "[lab][python][call]") {
  CallStyles styles;
  const std::string forward = "        return torch.relu(self.linear(x))\n";

  contains(styles.refused(styles.like(
               "linear", module_with(forward, "        self.scale = torch.nn.Linear(2, 2)\n"))),
           "has scale.weight, scale.bias, which the contract does not");
  contains(styles.refused(
               styles.like("linear", module_with(forward, "        self.linear.bias = None\n"))),
           "lacks linear.bias");
  contains(styles.refused(styles.like(
               "linear",
               module_with(forward, "        self.linear = torch.nn.Linear(outputs, outputs)\n"))),
           "state: linear.weight has the shape [32, 32] in ModelNew; the contract's has [32, 40]");
  contains(styles.refused(styles.like("linear", "import torch\ndef ModelNew(*_): pass\n")),
           "ModelNew is not a subclass of torch.nn.Module");
}

TEST_CASE("results may have any structure that the signature has, and be views",
          "[lab][python][call]") {
  CallStyles styles;

  for (const auto* result :
       {"{'twice': 2 * x, 'rest': (x > 0, x[::2])}", "{'twice': 2 * x, 'rest': [x > 0, x[::2]]}",
        "{'twice': torch.stack([2 * x, x], 1)[:, 0], 'rest': (x > 0, x.view(-1)[::2])}"}) {
    INFO(result);
    CHECK(styles.checked(styles.like("parts", parts_with(result))).passed);
  }
}

TEST_CASE("a result that is not what the signature says is a finding that says where",
          "[lab][python][call]") {
  CallStyles styles;
  const auto refusal = [&](const std::string& result) {
    return styles.refused(styles.like("parts", parts_with(result)));
  };

  contains(refusal("2 * x"), "the result must be a dict with the keys ['rest', 'twice'], got a");
  contains(refusal("{'twice': 2 * x, 'rest': (x > 0,)}"),
           "the result['rest'] must be a tuple or list of 2 values, got 1 values");
  contains(refusal("{'twice': 2 * x.double(), 'rest': (x > 0, x[::2])}"),
           "the result['twice'] has the type torch.float64; the output twice has torch.float32");
  contains(refusal("{'twice': 2 * x[1:], 'rest': (x > 0, x[::2])}"),
           "the result['twice'] has the shape [2999]; the output twice has [3000]");
  contains(refusal("{'twice': (2 * x).to_sparse(), 'rest': (x > 0, x[::2])}"),
           "is a torch.sparse_coo tensor on cpu");
  contains(refusal("{'twice': 1.5, 'rest': (x > 0, x[::2])}"),
           "the result['twice'] is a float; a tensor was expected, the output twice");
}

TEST_CASE("torch.compile inside a module compiles untimed, and works behind the walls",
          "[lab][python][call]") {
  CallStyles styles(std::chrono::minutes(1));  // Inductor's compiler takes seconds
  const auto compiled =
      styles.like("linear", module_with("        return self.fast(x)\n",
                                        "        self.fast = torch.compile(\n"
                                        "            lambda x: torch.relu(self.linear(x)))\n"));

  CHECK(styles.checked(compiled).passed);
}

TEST_CASE("an output is judged by its own tolerance", "[lab][python][call]") {
  CallStyles styles;
  // 1e-5 off: within float32's usual tolerance, beyond the 1e-6 that the task gives this output.
  const auto report = styles.checked(
      styles.like("parts", parts_with("{'twice': 2.00002 * x, 'rest': (x > 0, x[::2])}")));

  CHECK(has_reason(report, "mismatch"));
}

TEST_CASE("a function may write into outputs that it is passed, also in numpy",
          "[lab][python][call]") {
  CallStyles styles;
  const auto task = Json::parse(R"({
      "implementation": "host-python", "call": "function", "dims": {"n": 512},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
      "signature": {"args": [{"tensor": "x"}], "kwargs": {"out": {"tensor": "y"}}}})");
  const Source reference{"ref.py", "def reference(x, y):\n    y[:] = 2 * x\n", ""};

  for (const auto* kernel : {"import torch\ndef run(x, out):\n    torch.mul(x, 2, out=out)\n",
                             "import numpy\ndef run(x, *, out):\n    numpy.multiply(x, 2, out)\n",
                             "def run(x, out):\n    out[:] = 2 * x\n    return out\n"}) {
    INFO(kernel);
    CHECK(styles.checked(styles.contract(task, kernel, reference)).passed);
  }
  const auto nothing = styles.contract(task, "def run(x, out):\n    return 2 * x\n", reference);
  CHECK(has_reason(styles.checked(nothing), "output_not_written"));
}

TEST_CASE("statistics that a module updates are its own, or compared where they are inout",
          "[lab][python][call]") {
  CallStyles styles;
  auto task = Json::parse(R"({
      "implementation": "host-python", "call": "module", "dims": {"n": 64, "c": 8},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n", "c"], "role": "in"},
                  {"name": "mean", "dtype": "float32", "shape": ["c"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n", "c"], "role": "out"}],
      "signature": {"init": [{"dim": "c"}], "state": {"mean": {"tensor": "mean"}},
                    "args": [{"tensor": "x"}], "returns": {"tensor": "y"}}})");
  const std::string kernel =
      "import torch\n"
      "class ModelNew(torch.nn.Module):\n"
      "    def __init__(self, channels):\n"
      "        super().__init__()\n"
      "        self.register_buffer('mean', torch.zeros(channels))\n"
      "    def forward(self, x):\n"
      "        self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)\n"
      "        return x - x.mean(0)\n";

  CHECK(styles
            .checked(styles.contract(
                task, kernel,
                {"ref.py", "import torch\ndef reference(x, mean, **_):\n    return x - x.mean(0)\n",
                 ""}))
            .passed);
  task["tensors"][1]["role"] = "inout";
  const Source updating{"ref.py",
                        "import torch\ndef reference(x, mean, **_):\n"
                        "    return {'mean': (mean + x.mean(0)) / 2, 'y': x - x.mean(0)}\n",
                        ""};
  CHECK(styles.checked(styles.contract(task, kernel, updating)).passed);
  auto forgetful = kernel;
  const auto update = forgetful.find("        self.mean.mul_");
  forgetful.erase(update, forgetful.find('\n', update) + 1 - update);
  CHECK_FALSE(styles.checked(styles.contract(task, forgetful, updating)).passed);
}

TEST_CASE("an extension is compiled before anything is timed, and then loaded",
          "[lab][python][call]") {
  CallStyles styles;
  const std::string kernel = R"(import ctypes
import torch
from torch.utils.cpp_extension import load_inline
SOURCE = '''extern "C" void twice(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = 2 * x[i];
}'''
library = ctypes.CDLL(load_inline(name='twice', cpp_sources=SOURCE, is_python_module=False,
                                  no_implicit_headers=True))
def run(data):
    x, n = data
    y = torch.empty_like(x)
    library.twice(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), n)
    return {'twice': y, 'rest': (x > 0, x[::2])}
)";

  CHECK(styles.checked(styles.like("parts", kernel)).passed);

  auto changing = kernel;  // another source in every process
  changing.replace(changing.find("cpp_sources=SOURCE"), 18,
                   "cpp_sources=SOURCE + '//' + __import__('os').urandom(4).hex()");
  const auto late = styles.checked(styles.like("parts", changing));
  CHECK_FALSE(late.passed);
  CHECK(late.reasons.at(0).message.find("twice was not built from these sources before") !=
        std::string::npos);
}

TEST_CASE("a module of tvm-ffi is compiled before anything is timed, and then loaded",
          "[lab][python][call]") {
  CallStyles styles(std::chrono::minutes(1));  // its headers take seconds
  const auto environment = styles.lab->environment(std::nullopt, styles.call);
  if (!environment) FAIL(environment.error().message);
  const auto tool = std::ranges::find(environment->tools, "tvm-ffi", &ToolState::name);
  REQUIRE(tool != environment->tools.end());
  if (!tool->found) SKIP("tvm-ffi is not set up: pip install apache-tvm-ffi in build/python");
  const auto task = Json::parse(R"({
      "implementation": "host-python", "call": "function", "entry": "run", "dims": {"n": 1000},
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
      "signature": {"args": [{"tensor": "x"}], "returns": {"tensor": "y"}}})");
  const Source reference{"ref.py", "import torch\ndef reference(x, **_):\n    return 2 * x\n", ""};
  const auto page = read_file(source_dir() / "docs/kernels.md");
  REQUIRE(page);
  const auto kernel = block_with(*page, "import tvm_ffi.cpp");

  const auto contract = styles.contract(task, kernel, reference);
  CHECK(styles.checked(contract).passed);
  CHECK(styles.built(contract).build.toolchain.find("tvm_ffi ") != std::string::npos);

  auto wrong = kernel;
  wrong.replace(wrong.find("2 * from[i]"), 11, "3 * from[i]");
  CHECK(has_reason(styles.checked(styles.contract(task, wrong, reference)), "mismatch"));

  auto changing = kernel;  // another source in every process
  changing.replace(changing.find("cpp_sources=SOURCE"), 18,
                   "cpp_sources=SOURCE + '//' + __import__('os').urandom(4).hex()");
  const auto late = styles.checked(styles.contract(task, changing, reference));
  CHECK_FALSE(late.passed);
  contains(late.reasons.at(0).message, "twice was not built from these sources before");
}

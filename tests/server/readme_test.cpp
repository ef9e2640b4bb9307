// The kernels that README and docs/tasks.md print, through the built server: a reader who copies
// them gets a run whose v0 is correct.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/frameworks.h"
#include "tests/support/page_blocks.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

/// What `ratchet call` printed, run in `folder`.
std::string called(const TempFolder& folder, const std::string& tool, const std::string& arguments,
                   const std::string& python = "") {
  auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
  if (const char* given = python.empty() ? std::getenv("RATCHET_PYTHON") : python.c_str())
    environment.push_back(std::string("RATCHET_PYTHON=") + given);
  environment.push_back("HOME=" + folder.path().string());
  environment.push_back("XDG_STATE_HOME=" + (folder / "state").string());
  const auto done =
      run_program({.argv = {(build_dir() / "bin/ratchet").string(), "call", tool, arguments},
                   .environment = environment,
                   .folder = folder.path()},
                  300s);
  REQUIRE(done);
  INFO(done->out << done->err);
  REQUIRE(done->status.clean());
  return done->out;
}

void check_first_version(const TempFolder& folder, const std::string& arguments,
                         const std::string& python = "") {
  const auto created = called(folder, "create_run", arguments, python);
  REQUIRE(created.starts_with("run: "));
  const auto id = created.substr(5, created.find('\n') - 5);
  const auto checked = called(folder, "check_correctness", Json{{"run", id}}.dump(), python);
  CHECK(checked.find("passed: true") != std::string::npos);
}

TEST_CASE("the C++ kernel in README works as printed", "[readme][slow]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "twice.cpp", block_with("extern \"C\" void solve")));
  REQUIRE(write_file(folder / "ref.py", block_with("def reference")));
  const auto command = block_with("call create_run '{\"kernel\"");
  const auto begin = command.find('\'') + 1;

  check_first_version(folder, command.substr(begin, command.rfind('\'') - begin));
}

TEST_CASE("the Python kernel and its inputs in README work as printed", "[readme][slow]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "twice.py", block_with("def run_kernel")));
  REQUIRE(write_file(folder / "ref.py", block_with("def inputs") + block_with("def reference")));

  check_first_version(folder, R"({"kernel": {"path": "twice.py"}, "reference": {"path": "ref.py"},
      "implementation": "host-python", "dims": {"n": 1000003}, "output_dir": "run"})");
}

constexpr const char* kTasks = "docs/tasks.md";

TEST_CASE("the C++ task in docs/tasks.md works as printed", "[readme][slow]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "spmv.cpp", block_with("void solve(const int* offsets", kTasks)));
  REQUIRE(write_file(folder / "ref.py", block_with("def reference(offsets", kTasks)));

  check_first_version(folder, block_with("\"path\": \"spmv.cpp\"", kTasks));
}

TEST_CASE("the Python task in docs/tasks.md works as printed", "[readme][slow]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "norm.py", block_with("def run_kernel(x, weight", kTasks)));
  REQUIRE(write_file(folder / "ref.py", block_with("def reference(x, weight", kTasks)));

  check_first_version(folder, block_with("\"path\": \"norm.py\"", kTasks));
}

TEST_CASE("the torch module in docs/tasks.md works as printed", "[readme][python]") {
  const auto python = python_with_frameworks();
  const TempFolder folder;
  REQUIRE(write_file(folder / "layer.py", block_with("class ModelNew", kTasks)));
  REQUIRE(write_file(folder / "ref.py", block_with("def reference(x, residual", kTasks)));

  check_first_version(folder, block_with("\"path\": \"layer.py\"", kTasks), python);
}

TEST_CASE("the check of properties in docs/tasks.md takes the other roots, too", "[readme][slow]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "ref.py", block_with("def check_outputs(inputs", kTasks)));
  REQUIRE(write_file(folder / "roots.py",
                     "import numpy as np\n\n\ndef run_kernel(x, roots, n):\n"
                     "    roots[:] = -np.sqrt(np.abs(x))\n"));

  check_first_version(folder, R"({"kernel": {"path": "roots.py"}, "reference": {"path": "ref.py"},
      "implementation": "host-python", "dims": {"n": 3000}, "output_dir": "run",
      "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                  {"name": "roots", "dtype": "float32", "shape": ["n"], "role": "out"}]})");
}

TEST_CASE("the CUDA kernel in docs/tasks.md builds as printed, also without a GPU",
          "[readme][slow]") {
  if (!find_program("nvcc")) SKIP("nvcc is not installed");
  const TempFolder folder;
  REQUIRE(write_file(folder / "histogram.cu", block_with("__global__ void count", kTasks)));

  const auto built = called(folder, "disassemble", block_with("\"arch\": \"sm_90\"", kTasks));

  CHECK(built.find("It was only built") != std::string::npos);
  CHECK(built.find("registers") != std::string::npos);
}

TEST_CASE("the histogram in docs/tasks.md is a task, tried on the processor", "[readme][slow]") {
  const TempFolder folder;
  auto run = Json::parse(block_with("\"init\": \"zeros\"", kTasks));
  run["kernel"] = {{"text",
                    "extern \"C\" void solve(const int* x, int* counts, int n, int bins) {\n"
                    "  for (int i = 0; i < n; ++i) counts[x[i]] += 1;\n  (void)bins;\n}\n"}};
  run["implementation"] = "host-cpp";
  REQUIRE(write_file(folder / "ref.py", block_with("def reference(x, counts", kTasks)));

  check_first_version(folder, run.dump());
}

constexpr const char* kProblems = "docs/problems.md";

/// Imports `path` into the folder `problem` and checks its v0 on the processor.
void check_imported(const TempFolder& folder, const std::string& path) {
  const auto python = build_dir() / "python" / "bin" / "python";
  if (!std::filesystem::exists(python))
    SKIP("torch is not set up: ./dev test --all does it where it is to be had");
  const auto imported = called(folder, "import_problem",
                               Json{{"path", path}, {"output_dir", "problem"}}.dump(), python);
  CHECK(imported.find("kernel: true") != std::string::npos);
  const Json run{{"problem", "problem"}, {"implementation", "host-python"}, {"output_dir", "run"}};
  check_first_version(folder, run.dump(), python);
}

/// What check_correctness says of a Python kernel for the imported problem.
std::string checked_kernel(const TempFolder& folder, const std::string& output,
                           const std::string& text) {
  const auto python = build_dir() / "python" / "bin" / "python";
  const Json run{{"problem", "problem"},
                 {"implementation", "host-python"},
                 {"kernel", {{"text", text}}},
                 {"output_dir", output}};
  const auto created = called(folder, "create_run", run.dump(), python);
  const auto id = created.substr(5, created.find('\n') - 5);
  return called(folder, "check_correctness", Json{{"run", id}}.dump(), python);
}

TEST_CASE("the KernelBench problem in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "bias_gelu.py", block_with("class Model(nn.Module)", kProblems)));

  check_imported(folder, "bias_gelu.py");
}

TEST_CASE("the SOL-ExecBench problem in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "scaled_add" / "definition.json",
                     block_with("\"scaled_add\"", kProblems)));
  REQUIRE(write_file(folder / "scaled_add" / "workload.jsonl",
                     block_with("{\"axes\": {\"rows\": 48}", kProblems)));

  check_imported(folder, "scaled_add");
}

TEST_CASE("the GPU MODE problem in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "row_sum" / "task.yml", block_with("benchmarks:", kProblems)));
  REQUIRE(
      write_file(folder / "row_sum" / "reference.py", block_with("def generate_input", kProblems)));

  check_imported(folder, "row_sum");
}

TEST_CASE("a GPU MODE problem that tests properties is judged by its own check", "[python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "roots" / "task.yml",
                     "tests:\n  - {\"size\": 127, \"seed\": 1}\n\n"
                     "benchmarks:\n  - {\"size\": 512, \"seed\": 2}\n"));
  REQUIRE(write_file(folder / "roots" / "reference.py", R"(import torch


def generate_input(size: int, seed: int):
    made = torch.Generator(device="cuda")
    made.manual_seed(seed)
    return torch.rand(size, device="cuda", generator=made)


def ref_kernel(data):
    return data.sqrt()


def check_implementation(data, output):
    worst = (output * output - data).abs().max().item()
    return worst < 1e-5, f"a square is off by {worst}"
)"));

  check_imported(folder, "roots");

  const auto checked = [&](const std::string& factor) {
    return checked_kernel(
        folder, "run" + factor,
        "import torch\n\n\ndef custom_kernel(data):\n    return " + factor + " * data.sqrt()\n");
  };
  CHECK(checked("-1").find("passed: true") != std::string::npos);
  CHECK(checked("1.01").find("a square is off by") != std::string::npos);
}

TEST_CASE("the atrex-bench problem in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  const auto place = folder / "scale_rows";
  REQUIRE(write_file(place / "reference.py", block_with("Scales the rows of", kProblems)));
  REQUIRE(write_file(place / "input.py", block_with("def _make_inputs", kProblems)));
  REQUIRE(write_file(place / "shapes.json", block_with("\"init_kwargs\"", kProblems)));
  REQUIRE(write_file(place / "metadata.json", block_with("\"total_duration_us\"", kProblems)));

  check_imported(folder, "scale_rows");
}

TEST_CASE("the robust-kbench problem in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  REQUIRE(
      write_file(folder / "leaky" / "func_forward.py", block_with("def forward_fn", kProblems)));
  REQUIRE(write_file(folder / "leaky" / "config_forward.json",
                     block_with("\"single_input_configs\"", kProblems)));

  check_imported(folder, "leaky");
}

TEST_CASE("the backward pass in docs/problems.md becomes a run", "[readme][python]") {
  const TempFolder folder;
  auto backward = block_with("def forward_fn", kProblems);
  REQUIRE(write_file(folder / "leaky" / "func_backward.py", backward));
  REQUIRE(write_file(folder / "leaky" / "config_backward.json",
                     block_with("\"single_input_configs\"", kProblems)));

  check_imported(folder, "leaky");

  const auto problem = read_file(folder / "problem" / "problem.json");
  REQUIRE(problem);
  CHECK(problem->find("\"out_input_0\"") != std::string::npos);
  CHECK(problem->find("\"out_bias\"") != std::string::npos);
}

TEST_CASE("the Tensara problem in docs/problems.md becomes a run, in Python and in C++",
          "[readme][python]") {
  const TempFolder folder;
  REQUIRE(
      write_file(folder / "clipped_rows" / "def.py", block_with("class clipped_rows", kProblems)));

  check_imported(folder, "clipped_rows");

  REQUIRE(write_file(folder / "sums.cpp", R"(#include <cstddef>
extern "C" void solution(const float* x, float highest, float* sums, size_t rows, size_t cols) {
  for (size_t at = 0; at < rows * cols; ++at)
    sums[at / cols] = (at % cols ? sums[at / cols] : 0) + (x[at] < highest ? x[at] : highest);
}
)"));
  const Json run{
      {"problem", "problem"}, {"kernel", {{"path", "sums.cpp"}}}, {"output_dir", "in_cpp"}};
  check_first_version(folder, run.dump(), build_dir() / "python" / "bin" / "python");
}

TEST_CASE("elements of 4 bits are passed as bytes", "[python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "packed" / "definition.json", R"({"name": "packed",
 "axes": {"rows": {"type": "var"}},
 "inputs": {"x": {"shape": ["rows", 16], "dtype": "float4_e2m1fn_x2"}},
 "outputs": {"low": {"shape": ["rows", 16], "dtype": "float32"}},
 "custom_inputs_entrypoint": "made",
 "reference": "import torch\n\n\ndef made(axes, device):\n    x = torch.randint(0, 256, (axes['rows'], 16), dtype=torch.uint8, device=device)\n    return {'x': x.view(torch.float4_e2m1fn_x2)}\n\n\ndef run(x):\n    assert x.dtype == torch.float4_e2m1fn_x2\n    return (x.view(torch.uint8) % 16).float()\n"})"));
  REQUIRE(write_file(folder / "packed" / "workload.jsonl",
                     "{\"axes\": {\"rows\": 48}, \"inputs\": {\"x\": {\"type\": \"custom\"}}}\n"));

  check_imported(folder, "packed");
}

TEST_CASE("outputs of 4 bits are compared by value, times their scales", "[python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "quantize" / "definition.json", R"({"name": "quantize",
 "axes": {"rows": {"type": "var"}, "blocks": {"type": "const", "value": 4}},
 "inputs": {"x": {"shape": ["rows", "16 * blocks"], "dtype": "float32"}},
 "outputs": {"q": {"shape": ["rows", "8 * blocks"], "dtype": "float4_e2m1fn_x2"},
             "scale": {"shape": ["rows", "blocks"], "dtype": "float32"}},
 "reference": "import torch\n\nSTEPS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])\n\n\ndef run(x):\n    blocks = x.reshape(x.shape[0], -1, 16)\n    scale = blocks.abs().amax(-1).clamp(min=1e-6) / 6\n    values = blocks / scale.unsqueeze(-1)\n    codes = (values.abs().unsqueeze(-1) - STEPS).abs().argmin(-1)\n    codes = (codes + 8 * (values < 0)).reshape(x.shape).to(torch.uint8)\n    return (codes[:, ::2] | codes[:, 1::2] << 4).view(torch.float4_e2m1fn_x2), scale\n"})"));
  REQUIRE(write_file(folder / "quantize" / "workload.jsonl",
                     "{\"axes\": {\"rows\": 48}, \"inputs\": {\"x\": {\"type\": \"random\"}}, "
                     "\"tolerance\": {\"max_atol\": 1e-5, \"max_rtol\": 0.02}}\n"));

  check_imported(folder, "quantize");

  const auto v0 = read_file(folder / "problem" / "v0.py");
  REQUIRE(v0);
  const auto checked = [&](const std::string& name, const std::string& change) {
    return checked_kernel(folder, name,
                          *v0 +
                              "\n\n_first = run\n\n\ndef run(x):\n    q, scale = _first(x)\n    " +
                              change + "\n    return q, scale\n");
  };
  // Zeros of the other sign are other bytes and the same values.
  CHECK(checked("zeros", "q = torch.where(q & 15 == 0, q | 8, q)").find("passed: true") !=
        std::string::npos);
  CHECK(checked("swapped", "q = q >> 4 | q << 4").find("q: ") != std::string::npos);
  CHECK(checked("halved", "scale = scale / 2").find("check_failed") != std::string::npos);
}

TEST_CASE("an import finds sizes that go in steps, and the least that a problem takes",
          "[python]") {
  const TempFolder folder;
  REQUIRE(write_file(folder / "paged.py", R"(import torch

tokens = 1
experts = 64


class Model(torch.nn.Module):
    def forward(self, x, pages):
        return torch.topk(x, 8).values, pages + 1


def get_inputs():
    return [torch.randn(tokens, experts), torch.randn((tokens + 15) // 16, 16)]


def get_init_inputs():
    return []
)"));

  check_imported(folder, "paged.py");

  const auto problem = read_file(folder / "problem" / "problem.json");
  REQUIRE(problem);
  CHECK(problem->find("\"(tokens + 15) / 16\"") != std::string::npos);
  CHECK(problem->find("\"experts >= 8\"") != std::string::npos);
}

TEST_CASE("without a GPU a run of an imported problem is on the processor, and says so",
          "[python]") {
  const auto python = build_dir() / "python" / "bin" / "python";
  if (!std::filesystem::exists(python))
    SKIP("torch is not set up: ./dev test --all does it where it is to be had");
  if (std::filesystem::exists("/dev/nvidia0")) SKIP("there is a GPU");
  const TempFolder folder;
  REQUIRE(write_file(folder / "bias_gelu.py", block_with("class Model(nn.Module)", kProblems)));
  (void)called(folder, "import_problem",
               Json{{"path", "bias_gelu.py"}, {"output_dir", "problem"}}.dump(), python);

  const auto created = called(folder, "create_run",
                              Json{{"problem", "problem"}, {"output_dir", "run"}}.dump(), python);

  CHECK(created.find("no_gpu") != std::string::npos);
}

TEST_CASE("what an import read is in the digest", "[python]") {
  const auto python = build_dir() / "python" / "bin" / "python";
  if (!std::filesystem::exists(python))
    SKIP("torch is not set up: ./dev test --all does it where it is to be had");
  const TempFolder folder;
  REQUIRE(write_file(folder / "scaled_add" / "definition.json",
                     block_with("\"scaled_add\"", kProblems)));
  const auto digest = [&](const std::string& workloads, const std::string& output) {
    REQUIRE(write_file(folder / "scaled_add" / "workload.jsonl", workloads));
    (void)called(folder, "import_problem",
                 Json{{"path", "scaled_add"}, {"output_dir", output}}.dump(), python);
    const auto problem = read_file(folder / output / "problem.json");
    REQUIRE(problem);
    return Json::parse(*problem).at("provenance").at("digest").get<std::string>();
  };
  const auto workloads = block_with("{\"axes\": {\"rows\": 48}", kProblems);

  const auto first = digest(workloads, "first");

  CHECK(digest(workloads, "again") == first);
  CHECK(digest(workloads.substr(0, workloads.find('\n') + 1), "fewer") != first);
  // A file that the format does not read changes nothing.
  REQUIRE(write_file(folder / "scaled_add" / "notes.json", "{}"));
  CHECK(digest(workloads, "noted") == first);
}

/// What import_problem says of a KernelBench file whose constructor does `work`.
std::string refused_import(const TempFolder& folder, const std::string& work) {
  REQUIRE(write_file(folder / "bad.py",
                     "import os, socket\nimport torch\n\n\nclass Model(torch.nn.Module):\n"
                     "    def __init__(self):\n        super().__init__()\n        " +
                         work +
                         "\n\n    def forward(self, x):\n        return 2 * x\n\n\n"
                         "def get_inputs():\n    return [torch.rand(64, 3)]\n\n\n"
                         "def get_init_inputs():\n    return []\n"));
  auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
  environment.push_back("RATCHET_PYTHON=" + (build_dir() / "python" / "bin" / "python").string());
  environment.push_back("HOME=" + folder.path().string());
  environment.push_back("XDG_STATE_HOME=" + (folder / "state").string());
  const auto done = run_program({.argv = {(build_dir() / "bin/ratchet").string(), "--job-deadline",
                                          "20", "problem", "import", "bad.py"},
                                 .environment = environment,
                                 .folder = folder.path()},
                                300s);
  REQUIRE(done);
  CHECK_FALSE(done->status.clean());
  CHECK_FALSE(std::filesystem::exists(folder / "problems" / "bad"));
  CHECK_FALSE(std::filesystem::exists(folder / "problems" / "bad.part"));
  return done->err;
}

TEST_CASE("a problem that wants a network or a package, or hangs, leaves nothing", "[python]") {
  if (!std::filesystem::exists(build_dir() / "python"))
    SKIP("torch is not set up: ./dev test --all does it where it is to be had");
  const TempFolder folder;

  const auto network = refused_import(folder, "socket.create_connection(('192.0.2.1', 80))");
  CHECK(network.find("bad.py:8: PermissionError") != std::string::npos);
  CHECK(network.find("a problem's code gets neither") != std::string::npos);
  const auto package = refused_import(folder, "import transformers_of_nobody");
  CHECK(package.find("bad.py:8: No module named 'transformers_of_nobody'") != std::string::npos);
  const auto forked = refused_import(folder, "os.fork()");
  CHECK(forked.find("bad.py:8: PermissionError: os.fork: no processes") != std::string::npos);
  const auto started = refused_import(folder, "import subprocess; subprocess.run(['true'])");
  CHECK(started.find("bad.py:8: PermissionError: subprocess.Popen") != std::string::npos);
  const auto ended = refused_import(folder, "os._exit(3)");
  CHECK(ended.find("ended the process that read it") != std::string::npos);
  const auto crashed = refused_import(folder, "import ctypes; ctypes.string_at(8)");
  CHECK(crashed.find("bad.py:8: its Python ended the process that read it: crash") !=
        std::string::npos);
  const auto endless = refused_import(folder, "while True: pass");
  CHECK(endless.find("bad.py:8: its Python ran past its deadline") != std::string::npos);
}

}  // namespace
}  // namespace ratchet::test

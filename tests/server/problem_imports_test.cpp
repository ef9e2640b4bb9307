// Tasks of GPU MODE in other forms than the usual one, and checkouts with times of their own,
// imported and judged through the built server.

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "tests/support/imported_problem.h"

namespace ratchet::test {
namespace {

/// What follows `before` up to the end of its line.
std::string rest_of_line(const std::string& text, const std::string& before) {
  const auto found = text.find(before);
  REQUIRE(found != std::string::npos);
  const auto begin = found + before.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

constexpr const char* kHalves = R"(import torch

rows = 48


class Model(torch.nn.Module):
    def forward(self, x):
        return x / 2


def get_inputs():
    return [torch.randn(rows, 64)]


def get_init_inputs():
    return []
)";

/// A problem with definition.json, called so, of a float32 tensor x and an output y.
Imported defined(const Json& axes, const Json& x, const Json& y, const std::string& run,
                 const Json& sizes, const std::string& scale = "") {
  const Json definition{{"name", "defined"},
                        {"axes", axes},
                        {"inputs", {{"x", {{"shape", x}, {"dtype", "float32"}}}}},
                        {"outputs", {{"y", {{"shape", y}, {"dtype", "float32"}}}}},
                        {"reference", "import torch\n\n\ndef run(x):\n" + run}};
  const Json workload{{"axes", sizes}, {"inputs", {{"x", {{"type", "random"}}}}}};
  return Imported("defined",
                  {{"defined/definition.json", definition.dump()},
                   {"defined/workload.jsonl", workload.dump() + "\n"}},
                  scale);
}

/// A file of a suite's own times for `kHalves`.
std::string times(const std::string& entry) {
  return R"({"level1": {"7_halves.py": )" + entry + "}}";
}

}  // namespace

TEST_CASE("an object of a task's own class is passed as its attributes", "[python]") {
  const Imported task("\"rows\": 96, \"seed\": 1", R"(from dataclasses import dataclass


@dataclass
class Config:
    rows: int
    scale: float
    weight: torch.Tensor

    def scaled(self):
        return self.scale * self.weight


def generate_input(rows: int, seed: int):
    torch.manual_seed(seed)
    return Config(rows, 0.5, torch.randn(rows, device="cuda")), torch.randn(rows, device="cuda")


def ref_kernel(data):
    config, x = data
    return config.scaled() + x * config.rows


def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data), rtol=1e-4, atol=1e-4), ""
)");

  CHECK(task.said.find("a kernel gets objects of Config as their attributes") != std::string::npos);
  CHECK(task.passes("own"));
  const std::string kernel =
      "def custom_kernel(data):\n    config, x = data\n"
      "    return config.scale * config.weight + x * config.rows";
  CHECK(task.passes("right", kernel + "\n"));
  CHECK_FALSE(task.passes("wrong", kernel + " + 0.01\n"));
}

TEST_CASE("a task of several functions is judged as one kernel", "[python]") {
  const Imported task("\"rows\": 64", R"(ATOL = 1e-4
RTOL = 1e-4


def reference_forward(x):
    return x.exp()


def reference_backward(x, grad):
    return x.exp() * grad


def generate_inputs(rows, cols, seed=42):
    torch.manual_seed(seed)
    return_value = torch.randn(rows, cols, device="cuda")
    x, grad = return_value, torch.randn(rows, cols, device="cuda")
    return x, grad
)",
                      "from reference import generate_inputs\n\nCOLS = 40\n\n\n"
                      "def run(case):\n    return generate_inputs(case[\"rows\"], COLS)\n");

  CHECK(task.said.find("its functions are one kernel") != std::string::npos);
  CHECK(task.passes("own"));
  const std::string kernel = "def custom_kernel(data):\n    x, grad = data\n    return x.exp(), ";
  CHECK(task.passes("right", kernel + "x.exp() * grad\n"));
  CHECK_FALSE(task.passes("wrong", kernel + "x * grad\n"));
}

TEST_CASE("a tensor that a task answers in keeps what it held where that counts", "[python]") {
  const Imported task("\"rows\": 96, \"seed\": 1", R"(def generate_input(rows: int, seed: int):
    torch.manual_seed(seed)
    return torch.randn(rows, device="cuda"), torch.randn(rows, device="cuda")


def ref_kernel(data):
    x, sums = data
    sums += x
    return sums


def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data), rtol=1e-4, atol=1e-4), ""
)");

  CHECK(task.passes("own"));
  CHECK(task.passes("right",
                    "def custom_kernel(data):\n    x, sums = data\n    return sums.add_(x)\n"));
  CHECK_FALSE(task.passes(
      "wrong", "def custom_kernel(data):\n    x, sums = data\n    return sums.copy_(x)\n"));
}

TEST_CASE("chunks that are larger than the sizes of quick looks are found", "[python]") {
  const Imported task("chunks.py", {{"chunks.py", R"(import time

import torch

tokens = 2048


class Model(torch.nn.Module):
    def forward(self, x):
        begin = time.process_time()
        while len(x) > 1000 and time.process_time() - begin < 1.5:
            pass
        return x + 1, x.new_ones((len(x) + 63) // 64)


def get_inputs():
    return [torch.randn(tokens)]


def get_init_inputs():
    return []
)"}});

  const auto problem = read_file(task.folder / "problem" / "problem.json");
  REQUIRE(problem);
  CHECK(problem->find("(tokens + 63) / 64") != std::string::npos);
}

TEST_CASE("times that a suite has of its own are shown as theirs and compared with nothing",
          "[python]") {
  const std::string file = "results/timing/Vendor_A/baseline_time_torch.json";
  const Imported task(
      "suite/problems/level1/7_halves.py",
      {{"suite/problems/level1/7_halves.py", kHalves},
       {"suite/" + file, times(R"({"mean": 123456, "hardware": "Accelerator A 80GB"})")},
       {"suite/results/timing/Vendor_A/baseline_time_torch_compile_tuned.json",
        R"({"level1": {"8_other.py": {"mean": 77, "hardware": "Accelerator A 80GB"}}})"}});

  CHECK(task.said.find("suite_baselines: times of the suite's own: 1;") != std::string::npos);
  const auto problem = read_file(task.folder / "problem/problem.json");
  REQUIRE(problem);
  const auto kept = Json::parse(*problem).at("suite_baselines");
  CHECK(kept == Json::array({{{"name", "torch eager"},
                              {"hardware", "Accelerator A 80GB (Vendor_A)"},
                              {"ms", 123456.0},
                              {"source", file},
                              {"sizes", "the suite's"}}}));

  const auto benchmark = task.benchmarked();
  CHECK(benchmark.find("theirs, not measured here and compared with nothing: 123456 ms") !=
        std::string::npos);
  CHECK(benchmark.find("Accelerator A 80GB (Vendor_A)") != std::string::npos);
  CHECK(benchmark.find("- torch eager at") == std::string::npos);  // no row of what was measured
  CHECK(benchmark.find("against torch eager") == std::string::npos);
  const auto artifact = read_file(task.folder / "run/benchmark.md");
  REQUIRE(artifact);
  const auto section = artifact->find("## Times of the Suite's Own");
  REQUIRE(section != std::string::npos);
  CHECK(artifact->find("123456") > section);  // in no table
}

TEST_CASE("a suite's own times are frozen with a run", "[python]") {
  const Imported task("suite/level1/7_halves.py",
                      {{"suite/level1/7_halves.py", kHalves},
                       {"suite/results/timing/Vendor_A/baseline_time_torch.json",
                        times(R"({"mean": 123456, "hardware": "Accelerator A 80GB"})")}});

  CHECK(task.benchmarked(true).find(
            "theirs, not measured here and compared with nothing: 123456 ms") != std::string::npos);
  const auto contract = read_file(task.folder / "run/contract.json");
  REQUIRE(contract);
  CHECK(Json::parse(*contract).at("suite_baselines").at(0).at("ms") == 123456.0);
}

TEST_CASE("files that are no times cost an import a line each and nothing else", "[python]") {
  const std::string folder = "suite/results/timing/Vendor_A/";
  const Imported task(
      "suite/level1/7_halves.py",
      {{"suite/level1/7_halves.py", kHalves},
       {folder + "baseline_time_a.json", std::string(std::size_t{10} << 20U, '[')},
       {folder + "baseline_time_b.json", std::string(500000, '[')},
       {folder + "baseline_time_c.json", times(R"({"mean": "12", "hardware": "Accelerator A"})")},
       {folder + "baseline_time_d.json", times(R"({"mean": -1, "hardware": "Accelerator A"})")},
       {folder + "baseline_time_e.json", times(R"({"mean": 1, "hardware": "A\nDo as I say"})")},
       {folder + "baseline_time_f.json", "\xff\xfe\x01 no text"},
       {folder + "baseline_time_g.json", times(R"({"mean": 1e999, "hardware": "Accelerator A"})")},
       {folder + "baseline_time_h.json", "[]"}});

  CHECK(task.said.find("results/timing: 1 of 8 files are not read") != std::string::npos);
  for (const char* letter : {"b", "c", "d", "e", "f", "g", "h"})
    CHECK(rest_of_line(task.said, fmt::format("baseline_time_{}.json", letter))
              .starts_with(": its time is left out: "));
  CHECK(task.said.find("Do as I say") == std::string::npos);
  const auto problem = read_file(task.folder / "problem/problem.json");
  REQUIRE(problem);
  CHECK_FALSE(Json::parse(*problem).contains("suite_baselines"));
  CHECK(task.benchmarked().find("theirs") == std::string::npos);
}

TEST_CASE("sizes that an import reduced are said beside the suite's times", "[python]") {
  std::string large = kHalves;
  large.replace(large.find("rows = 48"), 9, "rows = 4800000");
  const Imported task(
      "suite/level1/7_halves.py",
      {{"suite/level1/7_halves.py", large},
       {"suite/results/timing/A/baseline_time_torch.json", times(R"({"mean": 5})")}},
      "1M");

  const auto problem = read_file(task.folder / "problem/problem.json");
  REQUIRE(problem);
  CHECK(Json::parse(*problem).at("suite_baselines").at(0).at("sizes") ==
        "the suite's, larger than here");
}

TEST_CASE("an input that a definition's reference updates and returns is one tensor", "[python]") {
  const Json rows{{"shape", {"rows", "4"}}, {"dtype", "float32"}};
  const Json definition{
      {"name", "kept"},
      {"axes", {{"rows", {{"type", "var"}}}}},
      {"inputs", {{"x", {{"shape", Json::array({"4"})}, {"dtype", "float32"}}}, {"cache", rows}}},
      {"outputs",
       {{"sum", {{"shape", Json::array({"4"})}, {"dtype", "float32"}}}, {"cache_out", rows}}},
      {"reference",
       "import torch\n\n\ndef run(cache, x):\n    cache[1] = x\n    return cache, cache[1] + 1\n"}};
  const Json workload{{"axes", {{"rows", 48}}},
                      {"inputs", {{"x", {{"type", "random"}}}, {"cache", {{"type", "random"}}}}}};
  const Imported task("kept", {{"kept/definition.json", definition.dump()},
                               {"kept/workload.jsonl", workload.dump() + "\n"}});

  CHECK(task.said.find("cache and cache_out are one tensor") != std::string::npos);
  CHECK(task.passes("own"));
  const std::string kernel = "def run(cache, x):\n    ";
  CHECK(task.passes("new",
                    kernel + "kept = cache.clone()\n    kept[1] = x\n    return kept, x + 1\n"));
  CHECK_FALSE(task.passes("left", kernel + "return cache, x + 1\n"));
  CHECK_FALSE(task.passes("x", kernel + "cache[1] = x\n    x += 1\n    return cache, x\n"));
}

TEST_CASE("an answer that is an input as it was stays an output", "[python]") {
  const auto task =
      defined({{"rows", {{"type", "var"}}}}, {"rows"}, {"rows"}, "    return x\n", {{"rows", 48}});

  CHECK(task.said.find("are one tensor") == std::string::npos);
  CHECK(task.passes("copy", "def run(x):\n    return x.clone()\n"));
}

TEST_CASE("a size is not reduced to one that a definition's reference refuses", "[python]") {
  const Json var{{"type", "var"}};
  const auto task =
      defined({{"channels", var}, {"rows", var}}, {"channels", "rows"}, {"channels", "rows"},
              "    groups = x.view(32, -1, x.shape[1])\n"
              "    return (groups - groups.mean(1, keepdim=True)).view(x.shape)\n",
              {{"channels", 640}, {"rows", 16}}, "8K");

  const auto problem = read_file(task.folder / "problem/problem.json");
  REQUIRE(problem);
  // 640, 320, 160 channels; 80 are no multiple of 32, so the 16 rows become 4: 8 * 160 * 6 <= 8
  // KiB.
  CHECK(Json::parse(*problem).at("task").at("cases").at(0).at("dims") ==
        Json{{"channels", 160}, {"rows", 4}});
}

TEST_CASE("axes that follow from each other are fixed at their first sizes", "[python]") {
  const Json var{{"type", "var"}};
  const auto task =
      defined({{"n", var}, {"half", var}}, {"n"}, {"half"}, "    return x[: x.shape[0] // 2] + 1\n",
              {{"n", 8 << 20}, {"half", 4 << 20}}, "64M");

  CHECK(task.said.find("all sizes are fixed") != std::string::npos);
}

TEST_CASE("cases that a reference refuses at reduced sizes are left out", "[python]") {
  const Json var{{"type", "var"}};
  // Every group has two rows or more, which only the inputs' values show.
  const Json definition{
      {"name", "grouped"},
      {"axes", {{"groups", var}, {"rows", var}}},
      {"inputs",
       {{"x", {{"shape", {"rows"}}, {"dtype", "float32"}}},
        {"ends", {{"shape", {"groups"}}, {"dtype", "int64"}}}}},
      {"outputs", {{"y", {{"shape", {"rows"}}, {"dtype", "float32"}}}}},
      {"custom_inputs_entrypoint", "made"},
      {"reference",
       "import torch\n\n\ndef made(axes, device):\n"
       "    ends = torch.arange(1, axes['groups'] + 1, device=device) * "
       "(axes['rows'] // axes['groups'])\n"
       "    return {'x': torch.randn(axes['rows'], device=device), 'ends': ends}\n\n\n"
       "def run(ends, x):\n    if ends[0].item() < 2: raise ValueError('too few rows')\n"
       "    return x + ends[0].item()\n"}};
  const auto workload = [](int groups, int rows) {
    return Json{{"axes", {{"groups", groups}, {"rows", rows}}},
                {"inputs", {{"x", {{"type", "custom"}}}, {"ends", {{"type", "custom"}}}}}}
               .dump() +
           "\n";
  };
  const Imported task("grouped",
                      {{"grouped/definition.json", definition.dump()},
                       {"grouped/workload.jsonl", workload(1, 1000) + workload(100, 1000)}},
                      "1K");

  CHECK(task.said.find("1 of 2 cases are left out") != std::string::npos);
  CHECK(task.passes("run"));
}

}  // namespace ratchet::test

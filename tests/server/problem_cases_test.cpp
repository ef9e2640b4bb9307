// Which cases of a problem an import keeps and what it says of the others; files that stand for a
// problem of several. Imported through the built server.

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "tests/support/imported_problem.h"

namespace ratchet::test {
namespace {

constexpr const char* kScaledRows = R"(import torch


def generate_input(rows: int, seed: int, cols: int = 8, kind: str = "plain", factor: float = 1.0):
    torch.manual_seed(seed)
    return torch.rand(rows, cols, device="cuda") * factor


def ref_kernel(data):
    return data.sqrt()
)";

/// Takes both square roots.
constexpr const char* kSquaresBack = R"(

def check_implementation(data, output):
    return torch.allclose(output * output, data, rtol=1e-4, atol=1e-4), "no root"
)";

/// Has square roots in mind, too, but asks for those that the reference has.
constexpr const char* kComparesToo = R"(

def check_implementation(data, output):
    good = torch.allclose(output * output, data, rtol=1e-4, atol=1e-4)
    return good and torch.allclose(output, ref_kernel(data), rtol=1e-4, atol=1e-4), "no root"
)";

/// A task of GPU MODE with these tests and one benchmark of 96 rows.
Imported task_with(const std::string& tests, const std::string& check) {
  return Imported("task",
                  {{"task/task.yml", "description: |\n  Square roots of rows.\n\ntests:\n" + tests +
                                         "\nbenchmarks:\n  - {\"rows\": 96, \"seed\": 1}\n"},
                   {"task/reference.py", kScaledRows + check}});
}

Json problem_of(const Imported& task) {
  const auto problem = read_file(task.folder / "problem/problem.json");
  REQUIRE(problem);
  return Json::parse(*problem);
}

Json task_of(const Imported& task) {
  return problem_of(task).at("task");
}

/// y = x + 1 over rows; `more`: y = x + 1 + r.
std::string definition(bool more = false) {
  const Json rows{{"shape", {"rows"}}, {"dtype", "float32"}};
  Json inputs{{"x", rows}};
  if (more) inputs["r"] = rows;
  const std::string run =
      more ? "def run(r, x):\n    return x + 1 + r\n" : "def run(x):\n    return x + 1\n";
  return Json{{"name", "one_more"},
              {"axes", {{"rows", {{"type", "var"}}}}},
              {"inputs", inputs},
              {"outputs", {{"y", rows}}},
              {"reference", "import torch\n\n\n" + run}}
      .dump();
}

std::string workload(int rows, const Json& x = {{"type", "random"}}, const Json& tolerance = {}) {
  Json one{{"axes", {{"rows", rows}}}, {"inputs", {{"x", x}}}};
  if (!tolerance.is_null()) one["tolerance"] = tolerance;
  return one.dump() + "\n";
}

/// A workload whose input is in a file.
std::string recorded(int rows, const std::string& file = "x") {
  return workload(
      rows,
      {{"type", "safetensors"}, {"path", "./blobs/" + file + ".safetensors"}, {"tensor_key", "x"}});
}

constexpr std::size_t kFloat = sizeof(float);

/// A file of safetensors with one tensor: 1/8, 2/8, 3/8, ….
std::string tensors_file(const std::string& type, const std::vector<int>& shape,
                         std::size_t element) {
  const auto bytes = static_cast<std::size_t>(shape.at(0)) * element;
  const Json offsets{0, bytes};
  const auto header =
      Json{{"x", {{"dtype", type}, {"shape", shape}, {"data_offsets", offsets}}}}.dump();
  std::string file(sizeof(std::uint64_t) + header.size() + bytes, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof length);
  header.copy(file.data() + sizeof length, header.size());
  for (int i = 0; i < shape.at(0); ++i) {
    const float value = static_cast<float>(i + 1) / 8;
    std::memcpy(file.data() + file.size() - bytes + static_cast<std::size_t>(i) * sizeof value,
                &value, sizeof value);
  }
  return file;
}

}  // namespace

TEST_CASE("cases of a task that differ in more than sizes are counted, with what differs",
          "[python]") {
  const auto task = task_with(
      "  - {\"rows\": 33, \"seed\": 1}\n"
      "  - {\"rows\": 34, \"seed\": 1, \"kind\": \"plain\"}\n"  // what is given where it is not
      "  - {\"rows\": 35, \"seed\": 1, \"kind\": \"sparse\"}\n"
      "  - {\"rows\": 36, \"seed\": 1, \"kind\": \"sparse\", \"factor\": 0.5}\n",
      kSquaresBack);

  CHECK(task.said.find("2 of 5 cases are left out: they have other values of kind, factor") !=
        std::string::npos);
  const auto cases = task_of(task).at("cases");
  REQUIRE(cases.size() == 3);
  CHECK(cases.at(0).at("dims") == Json{{"rows", 96}});
  CHECK(cases.at(2).at("dims") == Json{{"rows", 34}});
}

TEST_CASE("a size that only some cases of a task give is that of the others' default", "[python]") {
  const auto task = task_with("  - {\"rows\": 33, \"seed\": 1, \"cols\": 12}\n", kSquaresBack);

  CHECK(task.said.find("left out") == std::string::npos);
  CHECK(task_of(task).at("cases").at(0).at("dims") == Json{{"cols", 8}, {"rows", 96}});
  CHECK(task_of(task).at("cases").at(1).at("dims") == Json{{"cols", 12}, {"rows", 33}});
}

TEST_CASE("an import says how many sizes of a task are too many", "[python]") {
  std::string tests;
  for (int rows = 1; rows <= 70; ++rows)
    tests += fmt::format("  - {{\"rows\": {}, \"seed\": 1}}\n", rows);

  const auto task = task_with(tests, kSquaresBack);

  // 70 tests and the benchmark of 96 rows, of which 64 stay.
  CHECK(task.said.find("7 of 71 sizes are left out: a problem gets 64 cases at most") !=
        std::string::npos);
}

TEST_CASE("a check that is close to the data judges the answer by itself", "[python]") {
  const auto task = task_with("  - {\"rows\": 33, \"seed\": 1}\n", kSquaresBack);

  CHECK(task.said.find("its check_implementation judges the answer") != std::string::npos);
  CHECK(task.passes("own"));
  const std::string kernel = "def custom_kernel(data):\n    return ";
  CHECK(task.passes("other", kernel + "-data.sqrt()\n"));
  CHECK_FALSE(task.passes("wrong", kernel + "data.sqrt() + 0.1\n"));
}

TEST_CASE("a check that names the reference compares with its answer", "[python]") {
  const auto task = task_with("  - {\"rows\": 33, \"seed\": 1}\n", kComparesToo);

  CHECK(task.said.find("its check_implementation judges the answer") == std::string::npos);
  CHECK(task_of(task).at("atol") == 1e-4);
  CHECK_FALSE(task.passes("other", "def custom_kernel(data):\n    return -data.sqrt()\n"));
}

TEST_CASE("workloads without sizes, too many, and a low ratio are said", "[python]") {
  std::string lines = workload(0);
  for (int rows = 1; rows <= 66; ++rows)
    lines += workload(rows, {{"type", "random"}}, {{"required_matched_ratio", 0.3}});

  const Imported task(
      "one_more", {{"one_more/definition.json", definition()}, {"one_more/workload.jsonl", lines}});

  CHECK(task.said.find("1 of 67 workloads are left out: they have axes below 1 (rows)") !=
        std::string::npos);
  CHECK(task.said.find("2 of 66 sizes are left out: a problem gets 64 cases at most") !=
        std::string::npos);
  CHECK(task.said.find("0.5 of the elements have to match instead of 0.3") != std::string::npos);
  CHECK(task_of(task).at("matched_ratio") == 0.5);
}

TEST_CASE("a suite's usual ratio lets no element be far off", "[python]") {
  const std::string lines =
      workload(999, {{"type", "random"}}, {{"max_atol", 1e-5}, {"max_rtol", 1e-5}}) +
      workload(500, {{"type", "random"}}, {{"max_atol", 1e-5}, {"required_matched_ratio", 1}});
  const Imported task(
      "one_more", {{"one_more/definition.json", definition()}, {"one_more/workload.jsonl", lines}});

  CHECK(task.said.find("where its workloads name no ratio, the suite asks 0.99 of the elements") !=
        std::string::npos);
  CHECK(task_of(task).at("matched_ratio") == 0.99);
  CHECK(task_of(task).at("rest_within") == 4);
  CHECK(task.passes("own"));
  const std::string kernel = "def run(x):\n    y = x + 1\n    y[149::150] ";
  CHECK(task.passes("rounded", kernel + "*= 1.0001\n    return y\n"));
  CHECK_FALSE(task.passes("left", kernel + "-= 1\n    return y\n"));
}

TEST_CASE("a ratio that a suite's workload names is what it is", "[python]") {
  const std::string lines = workload(999, {{"type", "random"}}, {{"max_atol", 1e-5}}) +
                            workload(500, {{"type", "random"}}, {{"required_matched_ratio", 0.9}});
  const Imported task(
      "one_more", {{"one_more/definition.json", definition()}, {"one_more/workload.jsonl", lines}});

  CHECK(task_of(task).at("matched_ratio") == 0.9);
  CHECK_FALSE(task_of(task).contains("rest_within"));
}

TEST_CASE("recorded inputs are carried into the problem; workloads without theirs are left out",
          "[python]") {
  const Imported task("suite/problems/one_more",
                      {{"suite/problems/one_more/definition.json", definition(true)},
                       {"suite/problems/one_more/workload.jsonl",
                        recorded(48) + recorded(48, "second") + recorded(5, "short") +
                            recorded(7, "gone") + workload(32)},
                       {"suite/blobs/x.safetensors", tensors_file("F32", {48}, kFloat)},
                       {"suite/blobs/second.safetensors", tensors_file("F32", {48}, kFloat)},
                       {"suite/blobs/short.safetensors", tensors_file("F32", {5}, kFloat)}});

  CHECK(task.said.find("1 of 5 workloads are left out: their inputs are recorded, as in "
                       "./blobs/gone.safetensors: that file is neither beside the problem") !=
        std::string::npos);
  CHECK(task.said.find("1 of 4 workloads are left out: the definition makes, or has recorded") !=
        std::string::npos);
  const auto cases = task_of(task).at("cases");
  REQUIRE(cases.size() == 2);
  CHECK(cases.at(0) == Json{{"dims", {{"rows", 48}}}, {"weight", 2}});
  CHECK(cases.at(1) == Json{{"dims", {{"rows", 5}}}, {"weight", 1}});
  std::filesystem::remove_all(task.folder / "suite");  // the problem needs nothing of it
  CHECK(task.passes("own"));
  // Right at the recorded values, 1/8, 2/8, …, alone.
  const std::string at_recorded = "def run(r, x):\n    steps = torch.arange(1, len(x) + 1) / 8\n";
  CHECK(task.passes("recorded", at_recorded + "    return steps + 1 + r\n"));
  CHECK_FALSE(task.passes("wrong", at_recorded + "    return steps + 2 + r\n"));
}

TEST_CASE("recorded inputs that are absent, too large, malformed or all that there is are refused",
          "[python]") {
  const Imported task("one_more", {{"one_more/definition.json", definition()},
                                   {"one_more/workload.jsonl", workload(32)}});
  const auto refused = [&](const std::string& content, const std::string& why,
                           const std::string& path = "./blobs/x.safetensors") {
    INFO(why);
    REQUIRE(
        write_file(task.folder / "one_more/workload.jsonl",
                   workload(48, {{"type", "safetensors"}, {"path", path}, {"tensor_key", "x"}})));
    if (!content.empty())
      REQUIRE(write_file(task.folder / "one_more/blobs/x.safetensors", content));
    const auto said =
        task.answered("import_problem", {{"path", "one_more"}, {"output_dir", "other"}});
    CHECK_FALSE(said.status.clean());
    CHECK_FALSE(std::filesystem::exists(task.folder / "other"));
    CHECK((said.out + said.err).find(path) != std::string::npos);
    CHECK((said.out + said.err).find(why) != std::string::npos);
  };

  refused("", "put the suite's recorded inputs there");
  refused("", "below the checkout alone", "../outside.safetensors");
  refused("", "below the checkout alone", "/etc/hostname");
  refused("short", "its header would end at byte");
  refused(tensors_file("F32", {48}, kFloat).substr(0, 100), "which has");
  refused(tensors_file("F32", {49}, kFloat), "x is float32 [49]");
  refused(tensors_file("F16", {48}, kFloat), "its shape needs 96");
  refused(tensors_file("C64", {48}, kFloat), "the element type 'C64'");
  refused(tensors_file("F32", {48}, kFloat), "all its inputs are recorded");
  refused(std::string(std::size_t{17} << 20U, 'x'), "16777216");
}

TEST_CASE("code that a definition holds as text is refused with its line and the way on",
          "[python]") {
  const Imported task("one_more", {{"one_more/definition.json", definition()},
                                   {"one_more/workload.jsonl", workload(32)}});
  const auto refused = [&](const std::string& does) {
    auto changed = definition();
    const std::string last = "    return x + 1";
    changed.replace(changed.find(last), last.size(), "    " + does + "\\n" + last);
    REQUIRE(write_file(task.folder / "one_more/definition.json", changed));
    const auto said =
        task.answered("import_problem", {{"path", "one_more"}, {"output_dir", "other"}});
    CHECK_FALSE(said.status.clean());
    CHECK_FALSE(std::filesystem::exists(task.folder / "other"));
    return said.out + said.err;
  };

  CHECK(refused("import os; os.fork()").find("reference.py:5: PermissionError: os.fork") !=
        std::string::npos);
  const auto file = refused("open('/nobodys')");
  CHECK(file.find("reference.py:5: FileNotFoundError") != std::string::npos);
  CHECK(file.find("put what it reads into its source") != std::string::npos);
  const auto memory = refused("kept = [bytes(1 << 30) for _ in range(4096)]");
  CHECK(memory.find("reference.py:5: MemoryError") != std::string::npos);
  CHECK(memory.find("bytes of memory are allowed") != std::string::npos);
}

TEST_CASE("a file that stands for a problem is read with its folder", "[python]") {
  const Imported task("one_more/definition.json",
                      {{"one_more/definition.json", definition()},
                       {"one_more/workload.jsonl", workload(32)},
                       {"roots/task.yml", "benchmarks:\n  - {\"rows\": 96, \"seed\": 1}\n"},
                       {"roots/reference.py", std::string(kScaledRows) + kSquaresBack}});

  CHECK(task.said.find("format: flashinfer") != std::string::npos);
  const auto named =
      task.called("import_problem", {{"path", "roots/task.yml"}, {"output_dir", "named"}});
  CHECK(named.find("format: gpumode") != std::string::npos);
}

TEST_CASE("a problem of Tensara has the title of its page", "[python]") {
  const Imported task("doubled/def.py", {{"doubled/def.py", R"(import torch

from problem import Problem


class doubled(Problem):
    is_exact = False

    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="doubled")

    def reference_solution(self, x):
        return 2 * x

    def generate_test_cases(self):
        return [{"name": f"{n}", "dims": (n,),
                 "create_inputs": lambda n=n: (torch.rand(n, device="cuda"),)} for n in (96, 500)]

    def verify_result(self, expected_output, actual_output):
        return torch.allclose(actual_output, expected_output, rtol=1e-4, atol=1e-4), {}

    def get_extra_params(self, test_case):
        return list(test_case["dims"])
)"},
                                         {"doubled/problem.md",
                                          "---\ntitle: \"Twice as Much\"\n---\n\nDoubles x.\n"}});

  CHECK(problem_of(task).at("title") == "Twice as Much");
}

TEST_CASE("a number of Tensara that float64 does not hold is exact in kernels", "[python]") {
  const Imported task("negated/def.py", {{"negated/def.py", R"(import torch

from problem import Problem


class negated(Problem):
    is_exact = True

    parameters = [
        {"name": "x", "type": "uint64_t", "pointer": True, "const": True},
        {"name": "p", "type": "uint64_t", "pointer": False, "const": True},
        {"name": "y", "type": "uint64_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="negated")

    def reference_solution(self, x, p):
        return p - x

    def generate_test_cases(self):
        return [{"name": f"{n}", "dims": (n,),
                 "create_inputs": lambda n=n: (torch.randint(0, 9, (n,), device="cuda"), (1 << 61) - 1)}
                for n in (96, 500)]

    def verify_result(self, expected_output, actual_output):
        return torch.equal(actual_output, expected_output), {}

    def get_extra_params(self, test_case):
        return list(test_case["dims"])
)"}});

  CHECK(task_of(task).at("where") == Json::array({"p == 2305843009213693951"}));
  CHECK_FALSE(task_of(task).at("scalars").contains("p"));
  CHECK(task.passes("own"));
}

TEST_CASE("a definition of FlashInfer-Bench is read with its workloads", "[python]") {
  const std::string suite = "flashinfer_trace/";
  std::string trace = "{\"definition\": \"one_more\", \"workload\": " + workload(32);
  trace.back() = '}';
  const Imported task(suite + "definitions/sums/one_more.json",
                      {{suite + "definitions/sums/one_more.json", definition()},
                       {suite + "definitions/sums/alone.json", definition()},
                       {suite + "workloads/sums/one_more.jsonl", trace + "\n"},
                       {suite + "workloads/sums/other.jsonl", workload(7)}});

  CHECK(task.said.find("format: flashinfer") != std::string::npos);
  CHECK(task_of(task).at("cases") == Json::array({{{"dims", {{"rows", 32}}}, {"weight", 1}}}));
  CHECK(task.passes("own"));

  const auto alone = task.answered(
      "import_problem", {{"path", suite + "definitions/sums/alone.json"}, {"output_dir", "other"}});
  CHECK_FALSE(alone.status.clean());
  CHECK((alone.out + alone.err).find("workloads/sums/alone.jsonl") != std::string::npos);
}

}  // namespace ratchet::test

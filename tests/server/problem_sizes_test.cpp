// Modules whose sizes are not plain numbers, imported and judged through the built server.

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "tests/support/imported_problem.h"

namespace ratchet::test {
namespace {

/// A module with these constants, looked at with values: the meta device has none.
std::string reads_values(const std::string& constants, const std::string& init,
                         const std::string& forward, const std::string& inputs) {
  return fmt::format(R"(import torch

{}


class Model(torch.nn.Module):
    def __init__(self, *numbers):
        super().__init__()
        self.numbers = numbers

    def forward(self, x, *more):
        if x.isnan().any():
            raise ValueError("no numbers")
{}


def get_inputs():
    return [{}]


def get_init_inputs():
    return [{}]
)",
                     constants, forward, inputs, init);
}

/// What a suite's code, loaded for `device`, has for "cuda" and "cuda:0".
std::string devices_for(const std::string& device) {
  const auto code = fmt::format(R"(import sys
sys.path.insert(0, {:?})
from formats import adapter
suite = adapter.loaded({{"suite.py": "either = 'cuda'\nfirst = 'cuda:0'"}}, "suite.py", {{}}, {:?})
print(suite.either, suite.first))",
                                (source_dir() / "kernels/python").string(), device);
  const auto done = run_program({.argv = {python_with_frameworks(), "-B", "-c", code},
                                 .environment = inherited_environment({"PATH"}),
                                 .folder = source_dir()},
                                std::chrono::minutes{1});
  REQUIRE(done);
  INFO(done->out << done->err);
  REQUIRE(done->status.clean());
  return done->out;
}

}  // namespace

TEST_CASE("the device that a suite names is the one that its problem is judged on", "[python]") {
  CHECK(devices_for("cpu") == "cpu cpu\n");
  CHECK(devices_for("cuda") == "cuda cuda\n");
  // Code that asks for a tensor's device.type finds the one that it named.
  CHECK(devices_for("cuda:1") == "cuda cuda:1\n");
}

TEST_CASE("a kernel is built with the suite's constants, not with those of quick looks",
          "[python]") {
  const Imported task("shift.py", {{"shift.py", reads_values("rows = 640\nshift = 100", "shift",
                                                             "        return x + self.numbers[0]",
                                                             "torch.randn(rows)")}});

  CHECK(task.passes("own"));
}

TEST_CASE("a size that a module's own code has is that of the case, for its kernel, too",
          "[python]") {
  constexpr const char* kKeeps = R"(import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kept = torch.zeros(rows, width)

    def forward(self, x, before):
        self.kept.copy_(before)
        self.kept = torch.tanh(x + self.kept.to(x.device))
        return self.kept * 2


rows, width = 512, 64


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return [width]
)";
  const Imported task("keeps.py", {{"keeps.py", kKeeps}}, "64K");

  const auto file = read_file(task.folder / "problem/problem.json");
  REQUIRE(file);
  const auto problem = Json::parse(*file).at("task");
  const auto rows = problem.at("dims").at("rows").get<int>();
  CHECK(rows < 512);
  CHECK(problem.at("where") == Json{fmt::format("rows == {}", rows)});
  CHECK(task.passes("own"));
}

TEST_CASE("what goes in multiples is reduced where the suite's size is too large to look at",
          "[python]") {
  const Imported task(
      "blocks.py",
      {{"blocks.py", reads_values("rows = 4\nwidth = 64 * 16384", "",
                                  "        most = x.view(len(x), x.shape[1] // 64, 64).amax(-1)\n"
                                  "        return most, x @ more[0].T",
                                  "torch.randn(rows, width), torch.randn(128, width)")}},
      "1M");

  const auto file = read_file(task.folder / "problem/problem.json");
  REQUIRE(file);
  const auto problem = Json::parse(*file).at("task");
  CHECK(problem.at("where") == Json{"width % 64 == 0"});
  CHECK(problem.at("dims").at("width").get<int>() % 64 == 0);
  CHECK(problem.at("tensors").at(2).at("shape") == Json{"rows", "(width) / 64"});
  CHECK(task.passes("own"));
}

TEST_CASE("answers whose size follows the inputs' values are judged as far as they reach",
          "[python]") {
  const Imported task("kept.py", {{"kept.py", reads_values("rows = 96\ncols = 40", "",
                                                           "        return {'kept': x[x > 0]}",
                                                           "torch.randn(rows, cols)")}});

  CHECK(task.said.find("how far outputs reach follows the inputs' values (out_kept along 0") !=
        std::string::npos);
  const auto v0 = read_file(task.folder / "problem/v0.py");
  REQUIRE(v0);
  const auto with = [&](const std::string& change) {
    return *v0 +
           "\n\nclass ModelNew(ModelNew):\n    def forward(self, x):\n"
           "        answer, extents = super().forward(x)\n        kept = answer['kept']\n"
           "        " +
           change + "\n        return {'kept': kept}, extents\n";
  };
  CHECK(task.passes("own"));
  CHECK(task.passes("another way",
                    with("found = torch.masked_select(x, x > 0); kept = torch.nn.functional.pad("
                         "found, (0, kept.numel() - found.numel()))")));
  CHECK_FALSE(task.passes("last lost", with("kept[extents[0] - 1] = 0")));
  CHECK_FALSE(task.passes("not cut off", with("kept[extents[0]:] = 1")));
  CHECK_FALSE(task.passes("one too many", with("extents = extents + 1")));
  CHECK_FALSE(task.passes("less precise", with("kept = kept.bfloat16().float()")));
}

}  // namespace ratchet::test

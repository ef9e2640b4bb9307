// A launch that is accepted is within what a device can execute, reads the same when it is written
// out, and becomes a host function whose numbers are the same in C++.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "kernels/source/expression.h"
#include "kernels/source/launch.h"
#include "kernels/source/signature.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

void check_extent(const std::vector<std::string>& parts, const Dims& dims, std::int64_t most) {
  require(!parts.empty() && parts.size() <= 3, "an extent has one to three parts");
  for (const auto& part : parts) {
    const auto value = evaluate_integer(part, dims);
    require(value && *value >= 1 && *value <= most, "a part is within its limit");
  }
}

void check_written(const Launch& launch) {
  const auto line =
      fmt::format("// launch: grid = {}; block = {}; shared = {}\n", fmt::join(launch.grid, ", "),
                  fmt::join(launch.block, ", "), launch.shared);
  const auto again = launch_line(line);
  require(again && *again && (*again)->grid == launch.grid && (*again)->block == launch.block &&
              (*again)->shared == launch.shared,
          "a launch that was written out reads the same");
}

/// In the host function, "i64(…)" holds a dim or a number of an expression.
void check_numbers(std::string_view stub) {
  constexpr std::string_view kNumber = "i64(";
  for (auto at = stub.find(kNumber); at != std::string_view::npos; at = stub.find(kNumber, at)) {
    at += kNumber.size();
    const auto text = stub.substr(at, stub.find(')', at) - at);
    if (text.starts_with("a_")) continue;
    const bool digits =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    require(digits && (text == "0" || !text.starts_with('0')),
            "a number of an expression is a decimal number in C++");
  }
}

}  // namespace

void launch(std::string_view bytes) {
  const Dims dims{{"n", 1000}, {"rows", 37}, {"k", 1}};
  const auto read = launch_line(bytes);
  if (!read || !*read) return;
  const auto& launch = **read;
  if (!check_launch(launch, dims)) return;
  check_extent(launch.grid, dims, 2147483647);
  check_extent(launch.block, dims, 1024);
  check_written(launch);
  const Signature kernel{.entry = "solve", .device = true};
  check_numbers(launch_stub(launch, kernel, {"n", "rows", "k"}));
}

}  // namespace ratchet::fuzz

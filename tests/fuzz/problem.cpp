// A problem.json that is accepted reads the same when it is written out, and a contract that is
// planned from it keeps its promises. Other texts are expressions over dims, or inits.

#include <cmath>
#include <string>
#include <string_view>

#include "kernels/contract/input_init.h"
#include "kernels/contract/layout.h"
#include "kernels/contract/planner.h"
#include "kernels/contract/problems.h"
#include "kernels/contract/work.h"
#include "kernels/source/expression.h"
#include "kernels/worker/init_text.h"
#include "server/core/bounded_json.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

void check_contract(const Contract& contract) {
  require(!contract.cases.empty(), "a contract has cases");
  for (const auto& one : contract.cases) {
    for (const auto& [name, size] : one.dims) require(size >= 1, "sizes start at 1");
    require(one.weight >= 0 && std::isfinite(one.weight), "a weight is 0 or more");
    const auto layout = layout_of(contract, one.dims);
    require(layout && layout->bytes > 0 && layout->bytes <= kMaxArenaBytes + (1 << 20),
            "the buffers of a case fit");
    const auto work = work_of(contract, one.dims);
    require(work && (!*work || ((*work)->bytes >= 0 && (*work)->flops >= 0)),
            "work is known and not negative");
  }
  const Json written = encode(contract);
  const auto read = decode<Contract>(written);
  require(read && encode(*read) == written, "a contract that was written out reads the same");
}

void check_problem(const Json& json) {
  const auto problem = decode<ProblemFile>(json);
  if (!problem) return;
  const Json written = encode(*problem);
  const auto read = decode<ProblemFile>(written);
  require(read && encode(*read) == written, "a problem that was written out reads the same");
  const Source kernel{"kernel.cpp",
                      "extern \"C\" void solve(const float* a, const int* b, float* c, int n, "
                      "long k, float alpha) {}",
                      ""};
  const Source reference{"ref.cpp",
                         "extern \"C\" void reference(const float* a, const int* b, float* c, "
                         "int n, long k, float alpha) {}",
                         ""};
  DeviceInfo device;
  device.name = "a processor";
  device.arch = "x86-64";
  const auto contract = plan_contract(problem->task, kernel, reference, device);
  if (contract) check_contract(*contract);
}

void check_expression(std::string_view text, const Dims& dims) {
  const std::string inside = "(" + std::string(text) + ")";
  const bool fits = inside.size() <= kMaxExpressionLength;
  if (const auto value = evaluate_integer(text, dims)) {
    require(text.size() <= kMaxExpressionLength, "an expression is within its limit");
    const auto again = evaluate_integer(inside, dims);
    const bool deep = !again && again.error().message.find("deep") != std::string::npos;
    require(!fits || deep || (again && *again == *value), "parentheses change nothing");
  }
  if (const auto value = evaluate(text, dims)) require(std::isfinite(*value), "a value is finite");
}

void check_init(std::string_view text, DType type, const Dims& dims) {
  const auto init = parse_init(text, type, dims, index_limit(dims));
  if (!init || init->limit > INT64_C(1) << 53U) return;
  const auto written = canonical(*init);
  const auto again = parse_init(written, type, dims, index_limit(dims));
  require(again && again->kind == init->kind && again->low == init->low &&
              again->high == init->high && again->limit == init->limit,
          "an init that was written out reads the same");
  const auto sent = worker::parse_init_text(written);
  require(sent.has_value(), "a worker reads what it is sent");
  if (init->kind == InitKind::uniform)
    require(sent->numbers.size() == 2 && sent->numbers[0] == init->low &&
                sent->numbers[1] == init->high,
            "a worker reads the bounds that were meant");
  if (init->kind == InitKind::indices)
    require(sent->numbers.size() == 1 && sent->numbers[0] == static_cast<double>(init->limit),
            "a worker reads the limit that was meant");
}

}  // namespace

void problem(std::string_view bytes) {
  if (const auto json = bounded_json(bytes)) check_problem(*json);
  const Dims dims{{"n", 1000}, {"rows", 37}, {"k", 1}, {"big", INT64_C(1) << 40U}};
  check_expression(bytes, dims);
  for (const auto type : {DType::f32, DType::i32}) check_init(bytes, type, dims);
}

}  // namespace ratchet::fuzz

#include "kernels/contract/input_init.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/source/expression.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::string_view kGrammar =
    "Accepted: normal, uniform(a,b), indices(n), permutation, offsets, offsets(n), given, zeros; "
    "a, b, n are expressions over dims and scalars.";

Error bad(std::string_view text, std::string_view why) {
  return invalid_argument(fmt::format("init \"{}\": {}", text.substr(0, 64), why),
                          std::string(kGrammar));
}

/// Splits "name(a,b)" at commas outside inner parentheses.
struct Call {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

Result<Call> read_call(std::string_view text) {
  text = trimmed(text);
  const auto open = text.find('(');
  if (open == std::string_view::npos) return Call{text, {}};
  if (text.back() != ')') return bad(text, "the closing \")\" is missing");
  Call call{trimmed(text.substr(0, open)), {}};
  const auto inside = text.substr(open + 1, text.size() - open - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || (depth != 0 && i < inside.size())) continue;
    call.arguments.push_back(trimmed(inside.substr(begin, i - begin)));
    begin = i + 1;
  }
  return call;
}

Result<Init> read_uniform(std::string_view text, const Call& call, const Dims& dims) {
  if (call.arguments.size() != 2)
    return bad(text, "uniform takes two arguments, a lower and an upper bound");
  const auto low = evaluate(call.arguments[0], dims);
  if (!low) return low.error();
  const auto high = evaluate(call.arguments[1], dims);
  if (!high) return high.error();
  if (!(*low < *high))
    return bad(
        text,
        fmt::format("uniform({0},{1}): the lower bound {0} is not smaller than the upper bound {1}",
                    *low, *high));
  return Init{InitKind::uniform, *low, *high, 0};
}

Result<Init> read_limited(std::string_view text, const Call& call, InitKind kind,
                          const Dims& dims) {
  if (call.arguments.size() != 1) return bad(text, fmt::format("{} takes one argument", call.name));
  const auto limit = evaluate_integer(call.arguments[0], dims);
  if (!limit) return limit.error();
  if (*limit < 1)
    return bad(text, fmt::format("its upper limit is {}; it must be at least 1", *limit));
  return Init{kind, 0, 0, *limit};
}

}  // namespace

Result<Init> parse_init(std::string_view text, DType dtype, const Dims& names, std::int64_t limit) {
  const auto call = read_call(text);
  if (!call) return call.error();
  const bool plain = call->arguments.empty();
  if (call->name == "normal" && plain) return Init{};
  if (call->name == kZerosInit && plain) return Init{InitKind::zeros, 0, 0, 0};
  if (call->name == "given" && plain)
    return is_floating(dtype) ? Init{} : Init{InitKind::permutation, 0, 0, 0};
  if (call->name == "uniform") return read_uniform(text, *call, names);
  const bool integers =
      call->name == "indices" || call->name == "permutation" || call->name == "offsets";
  if (!integers) return bad(text, "unknown form");
  if (is_floating(dtype) || dtype == DType::boolean)
    return bad(text,
               fmt::format("it requires an integer tensor, but this one is {}", name_of(dtype)));
  if (call->name == "permutation") {
    if (!plain) return bad(text, "permutation takes no argument");
    return Init{InitKind::permutation, 0, 0, 0};
  }
  if (call->name == "offsets" && plain) return Init{InitKind::offsets, 0, 0, limit};
  return read_limited(text, *call, call->name == "indices" ? InitKind::indices : InitKind::offsets,
                      names);
}

std::string canonical(const Init& init) {
  switch (init.kind) {
    case InitKind::normal:
      return "normal";
    case InitKind::uniform:
      return fmt::format("uniform({},{})", init.low, init.high);
    case InitKind::indices:
      return fmt::format("indices({})", init.limit);
    case InitKind::permutation:
      return "permutation";
    case InitKind::offsets:
      return fmt::format("offsets({})", init.limit);
    case InitKind::zeros:
      return std::string(kZerosInit);
  }
  return "normal";
}

std::int64_t index_limit(const Dims& dims) {
  std::int64_t least = 0;
  for (const auto& [name, value] : dims) least = least == 0 ? value : std::min(least, value);
  return std::max<std::int64_t>(least, 1);
}

}  // namespace ratchet

#include "kernels/worker/init_text.h"

#include <charconv>
#include <string>

#include "kernels/protocol/value_recipes.h"

namespace ratchet::worker {

std::optional<InitText> parse_init_text(std::string_view text) {
  const auto open = text.find('(');
  InitText init{text.substr(0, open), {}};
  if (open == std::string_view::npos) return init;
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size();
  while (at < end && *at != ')') {
    double number = 0;
    const auto [next, failed] = std::from_chars(at, end, number);
    if (failed != std::errc{}) return std::nullopt;
    init.numbers.push_back(number);
    at = next;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return init;
}

Result<Normal> normal_of(std::string_view distribution, DType type) {
  const bool tiny = type == DType::f8_e4m3 || type == DType::f8_e5m2;
  const bool by_rows =
      distribution == "special" || distribution == "sequence" || distribution == "extreme";
  if (distribution == "normal" || by_rows || recipe_of(distribution)) return Normal{0, 1};
  if (distribution == "shifted") return Normal{1, 1};
  if (distribution == "large") return Normal{0, tiny ? 4.0 : type == DType::f16 ? 10.0 : 30.0};
  if (distribution == "small") return Normal{0, tiny ? 0x1p-3 : 0x1p-6};
  return invalid_argument("unknown distribution \"" + std::string(distribution) + "\"",
                          "Use normal, shifted, large, small, special, sequence or extreme.");
}

}  // namespace ratchet::worker

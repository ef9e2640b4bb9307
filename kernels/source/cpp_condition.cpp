#include "kernels/source/cpp_condition.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ratchet {
namespace {

using Value = std::optional<std::int64_t>;

struct Operator {
  std::string_view text;
  int level;  ///< binds tighter the higher it is
};
// Longer ones first: "<=" is no "<".
constexpr std::array<Operator, 18> kOperators{{{"||", 1},
                                               {"&&", 2},
                                               {"==", 6},
                                               {"!=", 6},
                                               {"<=", 7},
                                               {">=", 7},
                                               {"<<", 8},
                                               {">>", 8},
                                               {"|", 3},
                                               {"^", 4},
                                               {"&", 5},
                                               {"<", 7},
                                               {">", 7},
                                               {"+", 9},
                                               {"-", 9},
                                               {"*", 10},
                                               {"/", 10},
                                               {"%", 10}}};

/// Two's complement, like the preprocessors of all supported compilers.
std::int64_t wrapped(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

Value apply(std::string_view op, std::int64_t a, std::int64_t b) {
  const auto left = static_cast<std::uint64_t>(a), right = static_cast<std::uint64_t>(b);
  if (op == "||") return a != 0 || b != 0;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "+") return wrapped(left + right);
  if (op == "-") return wrapped(left - right);
  if (op == "*") return wrapped(left * right);
  if (op == "<<") return wrapped(left << (right & 63U));
  if (op == ">>") return a >> (right & 63U);
  if (b == 0 || b == -1) return std::nullopt;
  return op == "/" ? a / b : a % b;
}

/// Limit on evaluated terms, including those of macros, which may refer to each other.
constexpr int kMostTerms = 1000;
constexpr int kDeepest = 64;

class Reader {
 public:
  Reader(const std::vector<Token>& words, const Macros& macros, int& terms, int depth)
      : words_(words), macros_(macros), terms_(terms), depth_(depth) {}

  Value whole() {
    const auto value = binary(1);
    return at_ == words_.size() ? value : std::nullopt;
  }

 private:
  [[nodiscard]] bool see(std::string_view text) const {
    return at_ < words_.size() && words_[at_].is(text);
  }
  bool take(std::string_view text) {
    if (!see(text)) return false;
    ++at_;
    return true;
  }

  /// The operator at this position; its characters are separate tokens.
  [[nodiscard]] std::optional<Operator> operation() const {
    for (const auto& op : kOperators) {
      const bool two = op.text.size() == 2;
      if (!see(op.text.substr(0, 1))) continue;
      if (two && !(at_ + 1 < words_.size() && words_[at_ + 1].is(op.text.substr(1)))) continue;
      return op;
    }
    return std::nullopt;
  }

  Value binary(int level) {
    auto left = unary();
    for (auto op = operation(); left && op && op->level >= level; op = operation()) {
      at_ += op->text.size();
      const auto right = binary(op->level + 1);
      left = right ? apply(op->text, *left, *right) : std::nullopt;
    }
    return left;
  }

  Value unary() {
    if (++terms_ > kMostTerms || depth_ > kDeepest) return std::nullopt;
    ++depth_;
    const auto value = operand();
    --depth_;
    return value;
  }

  Value operand() {
    if (take("!")) return negated(unary());
    if (take("-")) {
      const auto value = unary();
      return value ? Value(wrapped(0 - static_cast<std::uint64_t>(*value))) : std::nullopt;
    }
    if (take("+")) return unary();
    if (take("(")) {
      const auto value = binary(1);
      return take(")") ? value : std::nullopt;
    }
    if (at_ >= words_.size()) return std::nullopt;
    const auto& word = words_[at_++];
    if (word.kind == Token::Kind::number) return number(word.text);
    return word.identifier() ? name(word.text) : std::nullopt;
  }

  static Value negated(const Value& value) {
    return value ? Value(*value == 0 ? 1 : 0) : std::nullopt;
  }

  static Value number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
      base = 16;
      text.remove_prefix(2);
    }
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return read.ec == std::errc{} ? Value(value) : std::nullopt;
  }

  Value name(const std::string& text) {
    if (text == "defined") return is_defined();
    if (text == "true" || text.starts_with("__has_")) {
      if (see("(")) skip_group();
      return 1;
    }
    const auto macro = macros_.find(text);
    if (macro == macros_.end()) return see("(") ? std::nullopt : Value(0);
    if (macro->second.empty()) return std::nullopt;
    return Reader(macro->second, macros_, terms_, depth_ + 1).whole();
  }

  Value is_defined() {
    const bool open = take("(");
    if (at_ >= words_.size()) return std::nullopt;
    const bool known = macros_.contains(words_[at_++].text);
    return !open || take(")") ? Value(known ? 1 : 0) : std::nullopt;
  }

  void skip_group() {
    int depth = 0;
    do {
      depth += see("(") ? 1 : see(")") ? -1 : 0;
      ++at_;
    } while (depth > 0 && at_ < words_.size());
  }

  const std::vector<Token>& words_;
  const Macros& macros_;
  int& terms_;
  int depth_;
  std::size_t at_ = 0;
};

}  // namespace

bool condition_holds(const std::vector<Token>& words, const Macros& macros) {
  int terms = 0;
  return Reader(words, macros, terms, 0).whole().value_or(1) != 0;
}

}  // namespace ratchet

#include "kernels/source/expression.h"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ratchet {
namespace {

constexpr std::string_view kGrammar =
    "Accepted: + - * / % ( ), min(a,b), max(a,b), ceil_div(a,b), numbers and the names of dims and "
    "integer scalars.";

std::string names_of(const Dims& dims) {
  std::string names;
  for (const auto& [name, value] : dims) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

/// Exact arithmetic: every result beyond 64 bits is an error.
struct IntegerArithmetic {
  using Number = std::int64_t;
  static std::optional<Number> add(Number a, Number b) {
    Number out = 0;
    return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  }
  static std::optional<Number> subtract(Number a, Number b) {
    Number out = 0;
    return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  }
  static std::optional<Number> multiply(Number a, Number b) {
    Number out = 0;
    return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  }
  static bool overflows(Number a, Number b) {
    return a == std::numeric_limits<Number>::min() && b == -1;
  }
  static std::optional<Number> divide(Number a, Number b) {
    return overflows(a, b) ? std::nullopt : std::optional(a / b);
  }
  static std::optional<Number> modulo(Number a, Number b) {
    return b == -1 ? std::optional<Number>(0) : std::optional(a % b);
  }
  static std::optional<Number> ceil_div(Number a, Number b) {
    if (overflows(a, b)) return std::nullopt;
    const Number quotient = a / b;
    // Truncation already rounded up when the exact quotient is negative.
    return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
  }
  static std::optional<Number> literal(std::string_view text, double value) {
    Number whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return whole;
    // With a fraction or an exponent. 2^53: larger doubles cannot represent every whole number.
    if (std::trunc(value) != value || value > 9007199254740992.0) return std::nullopt;
    return static_cast<Number>(value);
  }
  static std::optional<Number> dim(std::int64_t value) { return value; }
};

struct RealArithmetic {
  using Number = double;
  static std::optional<Number> finite(Number value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  static std::optional<Number> add(Number a, Number b) { return finite(a + b); }
  static std::optional<Number> subtract(Number a, Number b) { return finite(a - b); }
  static std::optional<Number> multiply(Number a, Number b) { return finite(a * b); }
  static std::optional<Number> divide(Number a, Number b) { return finite(a / b); }
  static std::optional<Number> modulo(Number a, Number b) { return finite(std::fmod(a, b)); }
  static std::optional<Number> ceil_div(Number a, Number b) { return finite(std::ceil(a / b)); }
  static std::optional<Number> literal(std::string_view /*text*/, double value) {
    return finite(value);
  }
  static std::optional<Number> dim(std::int64_t value) { return static_cast<double>(value); }
};

/// Recursive descent; the first error is kept in `error_` and stops the parser.
template <class Arithmetic>
class Parser {
 public:
  using Number = typename Arithmetic::Number;

  Parser(std::string_view text, const Dims& dims) : text_(text), dims_(dims) {}

  Result<Number> run() {
    if (text_.size() > kMaxExpressionLength)
      return invalid_argument(
          fmt::format("the expression has {} characters; at most {} are allowed", text_.size(),
                      kMaxExpressionLength),
          std::string(kGrammar));
    const auto value = sum();
    skip_blanks();
    if (value && at_ < text_.size()) fail(fmt::format("unexpected \"{}\"", text_.substr(at_, 16)));
    if (error_) return *error_;
    return *value;
  }

 private:
  using Maybe = std::optional<Number>;
  using Operation = Maybe (*)(Number, Number);

  Maybe sum() {
    auto left = product();
    while (left) {
      if (take('+'))
        left = combine("addition", &Arithmetic::add, *left, product());
      else if (take('-'))
        left = combine("subtraction", &Arithmetic::subtract, *left, product());
      else
        break;
    }
    return left;
  }

  Maybe product() {
    auto left = unary();
    while (left) {
      if (take('*'))
        left = combine("multiplication", &Arithmetic::multiply, *left, unary());
      else if (take('/'))
        left = quotient(&Arithmetic::divide, *left, unary());
      else if (take('%'))
        left = quotient(&Arithmetic::modulo, *left, unary());
      else
        break;
    }
    return left;
  }

  Maybe unary() {
    if (++depth_ > kMaxExpressionDepth) return fail("nested too deeply");
    Maybe value;
    if (take('-'))
      value = combine("negation", &Arithmetic::subtract, Number{0}, unary());
    else if (take('+'))
      value = unary();
    else
      value = atom();
    --depth_;
    return value;
  }

  Maybe atom() {
    skip_blanks();
    if (at_ >= text_.size()) return fail("it ends before a number or name");
    if (take('(')) {
      const auto value = sum();
      if (value && !take(')')) return fail("\")\" is missing");
      return value;
    }
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c) || c == '.') return number();
    if (std::isalpha(c) || c == '_') return name();
    return fail(fmt::format("unexpected \"{}\"", text_.substr(at_, 16)));
  }

  Maybe number() {
    double value = 0;
    const auto* begin = text_.data() + at_;
    const auto read = std::from_chars(begin, text_.data() + text_.size(), value);
    const std::string_view seen(begin, static_cast<std::size_t>(read.ptr - begin));
    if (read.ec != std::errc{})
      return fail(fmt::format("bad number \"{}\"", text_.substr(at_, 16)));
    at_ += seen.size();
    const auto literal = Arithmetic::literal(seen, value);
    if (!literal) return fail(fmt::format("{} is not a whole number in range", seen));
    return literal;
  }

  Maybe name() {
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    if (take('(')) return call(word);
    const auto found = dims_.find(std::string(word));
    if (found == dims_.end())
      return fail(fmt::format("unknown name \"{}\"; known: {}", word, names_of(dims_)));
    return Arithmetic::dim(found->second);
  }

  Maybe call(std::string_view function) {
    std::vector<Number> arguments;
    do {
      const auto argument = sum();
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
    } while (take(','));
    if (!take(')')) return fail(fmt::format("\")\" is missing after {}(", function));
    if (function == "ceil_div") {
      if (arguments.size() != 2) return fail("ceil_div takes two arguments");
      return quotient(&Arithmetic::ceil_div, arguments[0], arguments[1]);
    }
    if (function != "min" && function != "max")
      return fail(fmt::format("unknown function \"{}\"", function));
    Number chosen = arguments[0];
    for (const auto value : arguments)
      chosen = (function == "min") == (value < chosen) ? value : chosen;
    return chosen;
  }

  Maybe combine(std::string_view what, Operation operation, Number left, Maybe right) {
    if (!right) return std::nullopt;
    const auto value = operation(left, *right);
    if (!value) return fail(fmt::format("overflow in {}", what));
    return value;
  }

  Maybe quotient(Operation operation, Number left, Maybe right) {
    if (right && *right == Number{0}) return fail("division by zero");
    return combine("division", operation, left, right);
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  Maybe fail(std::string_view why) {
    if (!error_)
      error_ = invalid_argument(fmt::format("expression \"{}\": {}", text_.substr(0, 80), why),
                                std::string(kGrammar));
    return std::nullopt;
  }

  std::string_view text_;
  const Dims& dims_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<std::int64_t> evaluate_integer(std::string_view text, const Dims& dims) {
  return Parser<IntegerArithmetic>(text, dims).run();
}

Result<double> evaluate(std::string_view text, const Dims& dims) {
  return Parser<RealArithmetic>(text, dims).run();
}

}  // namespace ratchet

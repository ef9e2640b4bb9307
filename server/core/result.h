#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace ratchet {

/// Why a request could not be carried out. Ten kinds; clients may branch on them.
enum class ErrorCode {
  invalid_argument,  ///< the caller's input breaks a rule; nothing was done
  not_found,         ///< the named run, page, file or problem does not exist
  wrong_stage,       ///< the gate does not allow this step now
  drift,             ///< something frozen by the contract changed
  conflict,          ///< somebody else holds or already did this
  unavailable,       ///< a tool, device or library is missing
  not_permitted,     ///< outside the allowed roots or privileges
  too_large,         ///< input beyond a stated limit
  timed_out,         ///< our side of a job missed its deadline
  internal,          ///< a bug of ours
};

[[nodiscard]] std::string_view name_of(ErrorCode code);

/// What went wrong and the way on. `hint` names the next tool or the accepted values.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string hint;
};

/// The caller's input breaks a rule.
[[nodiscard]] inline Error invalid_argument(std::string message, std::string hint = "") {
  return {ErrorCode::invalid_argument, std::move(message), std::move(hint)};
}

/// A value or an `Error`; shaped so that `std::expected` can replace it.
///
/// Reading the value of a failed result is a programming error (asserted).
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Implicit on purpose: `return value;` and `return Error{…};`.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& value() & { return *get(); }
  [[nodiscard]] const T& value() const& { return *get(); }
  [[nodiscard]] T&& value() && { return std::move(*get()); }
  T& operator*() & { return *get(); }
  const T& operator*() const& { return *get(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

  [[nodiscard]] const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

  template <class U>
  [[nodiscard]] T value_or(U&& fallback) const& {
    return has_value() ? *get() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  T* get() {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const T* get() const {
    assert(has_value());
    return std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

/// Success without a value, or an `Error`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  [[nodiscard]] bool has_value() const { return !failed_; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const {
    assert(failed_);
    return error_;
  }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

}  // namespace ratchet

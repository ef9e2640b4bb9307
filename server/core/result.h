#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace ratchet {

/// Why a request failed. Clients may branch on these codes.
enum class ErrorCode {
  invalid_argument,  ///< the caller's input breaks a rule; nothing was done
  not_found,         ///< the named run, page, file or problem does not exist
  wrong_stage,       ///< the gate does not allow this step now
  drift,             ///< something frozen by the contract changed
  conflict,          ///< another call holds the resource or has already done this
  unavailable,       ///< a tool, device or library is missing
  not_permitted,     ///< outside the allowed roots or privileges
  too_large,         ///< input exceeds a stated limit
  timed_out,         ///< the server's side of the work missed its deadline, or was canceled
  internal,          ///< a bug in the server
};

[[nodiscard]] std::string_view name_of(ErrorCode code);

/// What went wrong and what to do: `hint` names the next tool or the accepted values.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string hint;

  /// The same error, located: its message starts with "`place`: ".
  [[nodiscard]] Error at(std::string_view place) const {
    return {code, std::string(place) + ": " + message, hint};
  }
};

// Errors of the commonest codes.
[[nodiscard]] inline Error invalid_argument(std::string message, std::string hint = "") {
  return {ErrorCode::invalid_argument, std::move(message), std::move(hint)};
}
[[nodiscard]] inline Error not_found(std::string message, std::string hint = "") {
  return {ErrorCode::not_found, std::move(message), std::move(hint)};
}
[[nodiscard]] inline Error unavailable(std::string message, std::string hint = "") {
  return {ErrorCode::unavailable, std::move(message), std::move(hint)};
}

/// A value or an `Error`; shaped so that `std::expected` can replace it.
///
/// Reading the value of a failed result is a programming error (asserted).
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Implicit so that `return value;` and `return Error{…};` work.
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

#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet {

/// What the person behind the client said to a yes/no question.
enum class Consent {
  granted,
  refused,
  pending,      ///< being asked; the handler answers any Error and is called again with the answer
  unavailable,  ///< the client cannot ask; fall back to an argument such as `confirm`
};

/// Travels with one tool call: where progress goes, whom to ask, and whether the caller still wants
/// the answer.
///
/// Thread rule: `progress` may be called from any thread; the sink serialises. `confirm` belongs to
/// the thread of the call. Owned by whoever dispatches the call and outlives the handler.
class CallContext {
 public:
  /// `done` of `total` in any unit; `done` must not fall. An empty total means "unknown".
  using ProgressSink =
      std::function<void(double done, std::optional<double> total, std::string_view message)>;
  using Asker = std::function<Consent(std::string_view question)>;

  CallContext() = default;
  CallContext(ProgressSink sink, std::stop_token stop, Asker asker = {})
      : sink_(std::move(sink)), stop_(std::move(stop)), asker_(std::move(asker)) {}

  void progress(double done, std::optional<double> total, std::string_view message) const {
    if (sink_) sink_(done, total, message);
  }

  /// Asks for leave to do something that cannot be undone. May wait for a person.
  [[nodiscard]] Consent confirm(std::string_view question) const {
    return asker_ ? asker_(question) : Consent::unavailable;
  }

  /// Set when the client cancelled; long work checks it and ends its children.
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }

 private:
  ProgressSink sink_;
  std::stop_token stop_;
  Asker asker_;
};

}  // namespace ratchet

#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet {

/// Travels with one tool call: where progress goes and whether the caller still wants the answer.
///
/// Thread rule: `progress` may be called from any thread; the sink serialises. Owned by whoever
/// dispatches the call and outlives the handler.
class CallContext {
 public:
  /// `done` of `total` in any unit; `done` must not fall. An empty total means "unknown".
  using ProgressSink =
      std::function<void(double done, std::optional<double> total, std::string_view message)>;

  CallContext() = default;
  CallContext(ProgressSink sink, std::stop_token stop)
      : sink_(std::move(sink)), stop_(std::move(stop)) {}

  void progress(double done, std::optional<double> total, std::string_view message) const {
    if (sink_) sink_(done, total, message);
  }

  /// Set when the client cancelled; long work checks it and ends its children.
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }

 private:
  ProgressSink sink_;
  std::stop_token stop_;
};

}  // namespace ratchet

#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace ratchet {

class LabMeter;

/// The user's answer to a yes/no question.
enum class Consent {
  granted,
  refused,
  pending,      ///< being asked: the handler returns an Error and is called again with the answer
  unavailable,  ///< the client cannot ask: use an argument such as `confirm` instead
};

/// What a handler needs to know about its call: where to report progress, how to ask the user, and
/// whether the caller has canceled.
///
/// `progress` may be called from any thread; the sink serializes. `confirm` must be called from the
/// thread of the call. Owned by the dispatcher of the call; outlives the handler.
class CallContext {
 public:
  /// `done` of `total` in any unit; `done` never decreases. An empty total means "unknown".
  using ProgressSink =
      std::function<void(double done, std::optional<double> total, std::string_view message)>;
  using Asker = std::function<Consent(std::string_view question)>;

  CallContext() = default;
  CallContext(ProgressSink sink, std::stop_token stop, Asker asker = {})
      : sink_(std::move(sink)), stop_(std::move(stop)), asker_(std::move(asker)) {}

  void progress(double done, std::optional<double> total, std::string_view message) const {
    if (sink_) sink_(done, total, message);
  }

  /// Asks the user to allow something that cannot be undone. May block until the user answers.
  [[nodiscard]] Consent confirm(std::string_view question) const {
    return asker_ ? asker_(question) : Consent::unavailable;
  }

  /// Requested when the client cancels; long work checks it and stops its child processes.
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  [[nodiscard]] bool canceled() const { return stop_.stop_requested(); }

  /// The same call with its time on labs counted. `meter` outlives it.
  [[nodiscard]] CallContext metered_by(LabMeter& meter) const {
    CallContext call = *this;
    call.meter_ = &meter;
    return call;
  }
  /// Null: nobody counts.
  [[nodiscard]] LabMeter* meter() const { return meter_; }

 private:
  ProgressSink sink_;
  std::stop_token stop_;
  Asker asker_;
  LabMeter* meter_ = nullptr;
};

}  // namespace ratchet

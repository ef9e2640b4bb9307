#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/features/interaction.h"

namespace ratchet::mcp {

/// `Interaction` for one request, by the rules of its era.
class RequestInteraction final : public Interaction {
 public:
  RequestInteraction(Dispatcher& dispatcher, Request& request, const std::stop_token& stop);

  [[nodiscard]] CallContext& call() override { return call_; }
  [[nodiscard]] bool client_can(std::string_view capability) const override;
  [[nodiscard]] bool takes_tasks() const override;
  std::optional<Json> ask(const std::string& name, const std::string& method, Json params) override;
  void ask_again(const std::string& name, const std::string& method, Json params) override;
  [[nodiscard]] const Json& state() const override { return state_; }
  void keep(Json state) override { kept_ = std::move(state); }
  void log(LogLevel level, const Json& data) override;
  void publish(Change change) override;
  void release_connection() override;

  /// Reads the answers and the state of a stateless retry. Errors: malformed answers; state that
  /// was changed, expired or belongs to another request.
  [[nodiscard]] std::optional<RpcError> read_retry();

  /// The answer that replaces the handler's if it asked something; otherwise empty.
  [[nodiscard]] std::optional<Outcome> open_questions() const;

 private:
  void progress(double done, std::optional<double> total, std::string_view message);
  [[nodiscard]] Consent confirm(std::string_view question);
  [[nodiscard]] std::string request_name() const;

  Dispatcher& dispatcher_;
  Request& request_;
  std::stop_token stop_;
  Json token_;
  Json state_;
  Json kept_;
  Json responses_;
  // Null until something is added: few calls ask.
  Json questions_;
  Json missing_capabilities_;
  std::mutex progress_mutex_;
  std::optional<double> sent_;  ///< progress in the last notification
  double part_start_ = 0, part_done_ = 0;
  std::optional<double> part_total_;
  CallContext call_;
};

}  // namespace ratchet::mcp

#include "server/mcp/session/client_requests.h"

#include <chrono>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

/// Time limit for a user's reply.
constexpr std::chrono::minutes kReplyLimit{10};

}  // namespace

std::optional<Json> ClientRequests::ask(MessageSink& sink, std::string_view method,
                                        const Json& params, const std::stop_token& stop) {
  const std::string bytes = random_bytes(16);
  const std::string id = hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(id, std::nullopt);
  }
  const bool sent = sink.send(request_text(id, method, params));
  std::unique_lock lock(mutex_);
  if (sent)
    answered_.wait_for(lock, stop, kReplyLimit, [&] { return waiting_.at(id).has_value(); });
  const auto node = waiting_.extract(id);
  const std::optional<Json>& answer = node.mapped();
  if (!answer || !answer->contains("result")) return std::nullopt;
  return answer->at("result");
}

void ClientRequests::resolve(const Message& response) {
  if (!response.id.is_string()) return;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(response.id.get_ref<const std::string&>());
    if (found == waiting_.end()) return;
    found->second = response.outcome;
  }
  answered_.notify_all();
}

}  // namespace ratchet::mcp

#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/mcp/message/message.h"
#include "server/mcp/session/message_sink.h"

namespace ratchet::mcp {

/// Requests that we put to legacy clients, waiting for their answers.
///
/// Thread rule: all members from any thread; `ask` blocks. Ids are unguessable, because over HTTP
/// an answer comes by a request of its own and nothing else ties it to the question.
class ClientRequests {
 public:
  /// The client's `result`; empty when it answered with an error, went away, or `stop` was asked.
  std::optional<Json> ask(MessageSink& sink, std::string_view method, const Json& params,
                          const std::stop_token& stop);
  /// Hands a response message to whoever waits for it; unknown ids are ignored.
  void resolve(const Message& response);

 private:
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::map<std::string, std::optional<Json>> waiting_;
};

}  // namespace ratchet::mcp

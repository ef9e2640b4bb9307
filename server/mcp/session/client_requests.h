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

/// Requests from the server to legacy clients that wait for their answers.
///
/// Thread-safe; `ask` blocks. Ids are unguessable, because over HTTP an answer arrives in a request
/// of its own and only the id connects it to the question.
class ClientRequests {
 public:
  /// The client's `result`; empty when it answered with an error, went away, or did not answer
  /// within 10 minutes, or when `stop` was requested.
  std::optional<Json> ask(MessageSink& sink, std::string_view method, const Json& params,
                          const std::stop_token& stop);
  /// Delivers a response message to the call that waits for it; ignores unknown ids.
  void resolve(const Message& response);

 private:
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::map<std::string, std::optional<Json>> waiting_;
};

}  // namespace ratchet::mcp

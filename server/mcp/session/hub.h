#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/mcp/message/protocol.h"
#include "server/mcp/session/message_sink.h"
#include "server/mcp/session/session.h"

namespace ratchet::mcp {

/// What a `subscriptions/listen` request wants to hear.
struct ListenFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;
};

/// Tells clients of changes: stateless ones by their listen streams, legacy ones by their sessions.
/// Thread-safe.
class Hub {
 public:
  /// One open `subscriptions/listen`.
  struct Listener {
    Json id;
    ListenFilter filter;
    std::shared_ptr<MessageSink> sink;
  };

  /// Acknowledges with `honoured`, then delivers until `remove` or `close`.
  std::shared_ptr<Listener> listen(Json id, ListenFilter filter, const Json& honoured,
                                   std::shared_ptr<MessageSink> sink);
  /// False when it was gone already.
  bool remove(const std::shared_ptr<Listener>& listener);
  /// Ends the listener of this request, if its messages go to `sink`.
  void cancel(const Json& id, const MessageSink& sink);
  /// Ends all listeners gracefully: each request gets its result.
  void close();

  void attach(const std::shared_ptr<Session>& session);
  void publish(Change change);
  void resource_updated(std::string_view uri);

 private:
  std::vector<std::shared_ptr<Listener>> listeners() const;
  std::vector<std::shared_ptr<Session>> sessions();

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::vector<std::weak_ptr<Session>> sessions_;
};

}  // namespace ratchet::mcp

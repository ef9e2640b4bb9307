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

/// The notifications that a `subscriptions/listen` request asks for.
struct ListenFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;
};

/// Notifies clients of changes: stateless ones through their listen streams, legacy ones through
/// their sessions. Thread-safe.
class Hub {
 public:
  /// One open `subscriptions/listen`.
  struct Listener {
    Json id;
    ListenFilter filter;
    std::shared_ptr<MessageSink> sink;
  };

  /// Acknowledges with `honored`, then delivers until `remove` or `close`.
  std::shared_ptr<Listener> listen(Json id, ListenFilter filter, const Json& honored,
                                   std::shared_ptr<MessageSink> sink);
  /// Returns false when it had ended already.
  bool remove(const std::shared_ptr<Listener>& listener);
  /// Ends the listener of the request with this id, if it sends to `sink`.
  void cancel(const Json& id, const MessageSink& sink);
  /// Ends all listeners; each request gets its result.
  void close();

  void attach(const std::shared_ptr<Session>& session);
  /// To the listeners that asked for this list, and to every open session.
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

#pragma once

#include <string>

namespace ratchet::mcp {

/// A destination for messages to one client: the stdio writer, or one HTTP stream.
///
/// Thread-safe; messages from one thread keep their order.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  /// Queues one serialized message. Returns false, and drops it, when the client is gone.
  virtual bool send(std::string message) = 0;
  /// Closes the connection if the client can resume the stream; otherwise does nothing.
  virtual void hang_up() {}
};

}  // namespace ratchet::mcp

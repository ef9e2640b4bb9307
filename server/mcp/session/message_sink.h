#pragma once

#include <string>

namespace ratchet::mcp {

/// Where messages to one client go: the stdio writer, or one HTTP stream.
///
/// Thread rule: `send` from any thread; messages of one thread keep their order.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  /// Takes one serialised message. False when the other side is gone; the message is then lost.
  virtual bool send(std::string message) = 0;
  /// Lets the connection go where the client can come back for the rest; else does nothing.
  virtual void hang_up() {}
};

}  // namespace ratchet::mcp

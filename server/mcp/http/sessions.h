#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/mcp/session/hub.h"
#include "server/mcp/session/session.h"

namespace ratchet::mcp {

/// Legacy sessions by id. Keeps at most 4096 and drops the least recently used first. Thread-safe.
class HttpSessions {
 public:
  explicit HttpSessions(Hub& hub) : hub_(hub) {}

  /// Adds a session and returns its new id.
  std::string add(const std::shared_ptr<Session>& session);
  /// Null when unknown.
  std::shared_ptr<Session> find(const std::string& id);
  /// Returns false when unknown.
  bool remove(const std::string& id);

 private:
  struct Known {
    std::shared_ptr<Session> session;
    std::uint64_t used = 0;
  };

  Hub& hub_;
  std::mutex mutex_;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace ratchet::mcp

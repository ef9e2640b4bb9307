#include "server/mcp/http/sessions.h"

#include <algorithm>
#include <cstddef>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostSessions = 4096;

}  // namespace

std::string HttpSessions::add(const std::shared_ptr<Session>& session) {
  const std::string bytes = random_bytes(16);
  std::string id = hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  hub_.attach(session);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostSessions)
    known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  known_.emplace(id, Known{session, ++clock_});
  return id;
}

std::shared_ptr<Session> HttpSessions::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(id);
  if (found == known_.end()) return nullptr;
  found->second.used = ++clock_;
  return found->second.session;
}

bool HttpSessions::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return known_.erase(id) > 0;
}

}  // namespace ratchet::mcp

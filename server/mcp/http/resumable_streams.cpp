#include "server/mcp/http/resumable_streams.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostStreams = 256;
constexpr std::chrono::minutes kKept{1};

}  // namespace

void ResumableStreams::add(std::shared_ptr<EventStream> stream, std::shared_ptr<Session> session) {
  const std::string bytes = random_bytes(16);
  std::string id = hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  stream->make_resumable(id);
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const Known& known) {
    const auto ended = known.stream->finished_at();
    return ended && now - *ended > kKept;
  });
  if (known_.size() >= kMostStreams) known_.pop_front();
  known_.push_back({std::move(id), std::move(stream), std::move(session)});
}

std::optional<ResumableStreams::Place> ResumableStreams::after(std::string_view event_id,
                                                               const Session& session) const {
  const auto dash = event_id.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view number = event_id.substr(dash + 1);
  std::size_t next = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), next);
  if (read.ec != std::errc{} || read.ptr != number.data() + number.size()) return std::nullopt;

  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
    return one.id == event_id.substr(0, dash) && one.session.get() == &session;
  });
  if (known == known_.end() || !known->stream->holds(next)) return std::nullopt;
  return Place{known->stream, next};
}

}  // namespace ratchet::mcp

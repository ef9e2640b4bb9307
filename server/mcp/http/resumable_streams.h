#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/mcp/http/event_stream.h"
#include "server/mcp/session/session.h"

namespace ratchet::mcp {

/// Streams that a legacy client may take up again when its connection broke, by the id of the last
/// event that it saw. Remembers at most 256, the oldest go first, and each for a minute after its
/// call ended. Thread-safe.
class ResumableStreams {
 public:
  /// Remembers a stream and gives it an id that nobody can guess.
  void add(std::shared_ptr<EventStream> stream, std::shared_ptr<Session> session);

  struct Place {
    std::shared_ptr<EventStream> stream;
    std::size_t next = 0;
  };
  /// What follows the event of this id. Empty when the event is none of this session's, or so old
  /// that what followed it was forgotten.
  [[nodiscard]] std::optional<Place> after(std::string_view event_id, const Session& session) const;

 private:
  struct Known {
    std::string id;
    std::shared_ptr<EventStream> stream;
    std::shared_ptr<Session> session;
  };

  mutable std::mutex mutex_;
  std::deque<Known> known_;
};

}  // namespace ratchet::mcp

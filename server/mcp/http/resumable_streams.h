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

/// Streams that a legacy client can resume after a broken connection, by the id of the last event
/// that it received. Keeps the newest 256, each until a minute after its call ended. Thread-safe.
class ResumableStreams {
 public:
  /// Adds a stream and assigns it an unguessable id.
  void add(std::shared_ptr<EventStream> stream, std::shared_ptr<Session> session);

  struct Place {
    std::shared_ptr<EventStream> stream;
    std::size_t next = 0;
  };
  /// The place after the event with this id. Empty when the event is not of this session, or so old
  /// that later events are gone.
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

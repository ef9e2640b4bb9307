#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// Whether an end accepts descriptors with messages. The server refuses them: a hostile worker
/// could fill its descriptor table.
enum class Descriptors { accepted, refused };

/// JSON messages with optional descriptors over one end of a stream socket.
///
/// A frame is a 16-byte header (bytes of JSON, number of descriptors, id; little endian) followed
/// by the JSON. The sender chooses the id; an answer repeats the id of its request, which
/// distinguishes it from an unsolicited message. One thread at a time. Owns the socket.
class Channel {
 public:
  struct Message {
    std::uint64_t id = 0;
    Json body;
    std::vector<Fd> descriptors;
  };

  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;
  static constexpr std::size_t kMaxDescriptors = 64;

  Channel(Fd socket, Descriptors descriptors);

  /// The two ends of a new socket pair.
  static Result<std::pair<Fd, Fd>> connected();

  /// Sends a whole message; waits at most 10 s for the other end to read.
  /// Errors: `unavailable` when the other end is closed or does not read.
  Status send(std::uint64_t id, const Json& body, std::span<const int> descriptors = {});

  /// Reads what has arrived without waiting; returns a message once it is complete.
  /// Errors: `unavailable` when the other end is closed; `invalid_argument` when the bytes are not
  /// a valid message or exceed `kMaxBytes`.
  Result<std::optional<Message>> poll();

  /// Waits for a message. Errors: as `poll`, and `timed_out`.
  Result<Message> receive(std::optional<std::chrono::milliseconds> limit = std::nullopt);

  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  struct Header {
    std::uint32_t bytes = 0;
    std::uint32_t descriptors = 0;
    std::uint64_t id = 0;
  };

  enum class Read { some, nothing_yet };
  Result<Read> read_some(std::byte* into, std::size_t bytes, std::size_t& got);
  Result<std::optional<Message>> finish();

  Fd socket_;
  Descriptors policy_;
  std::array<std::byte, sizeof(Header)> header_{};
  std::size_t header_got_ = 0;
  std::string body_;
  std::size_t body_got_ = 0;
  std::vector<Fd> arrived_;
};

}  // namespace ratchet

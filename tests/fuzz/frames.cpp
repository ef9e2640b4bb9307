// What a lab's command writes is read as messages or ends with an error; how it is cut into pieces
// changes nothing, and a message that was read, sent again, reads the same.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/labs/lab_stream.h"
#include "server/core/fd.h"
#include "server/core/fields.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

using namespace std::chrono_literals;

// What a pipe holds without a reader.
constexpr std::size_t kMostPiece = 32768;

struct Line {
  Fd in, out;
  static Line open() {
    std::array<int, 2> ends{};
    require(::pipe(ends.data()) == 0, "there are pipes");
    return {Fd(ends[0]), Fd(ends[1])};
  }
};

struct Read {
  std::vector<Json> messages;
  std::string greeting;
  Error end;
};

/// Messages until nothing more is there; the error, if the stream has ended.
std::optional<Error> read_some(LabStream& stream, std::vector<Json>& messages) {
  for (;;) {
    auto message = stream.receive(0ms);
    if (!message) return message.error();
    if (!*message) return std::nullopt;
    messages.push_back(**std::move(message));
  }
}

Read read_in_pieces(std::string_view bytes, std::size_t piece) {
  Line line = Line::open(), back = Line::open();
  LabStream stream(std::move(line.in), std::move(back.out));
  Read read;
  std::optional<Error> end;
  while (!bytes.empty() && !end) {
    const auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    require(::write(line.out.get(), part.data(), part.size()) == std::ssize(part),
            "a piece fits into the pipe");
    end = read_some(stream, read.messages);
  }
  line.out.reset();
  while (!end) end = read_some(stream, read.messages);
  read.greeting = stream.greeting();
  read.end = *end;
  return read;
}

void check_read(const Read& read) {
  require(read.greeting.size() <= LabStream::kMostGreeting + 1, "a greeting has a limit");
  require(read.end.code == ErrorCode::unavailable || read.end.code == ErrorCode::invalid_argument ||
              read.end.code == ErrorCode::too_large,
          "a stream ends, or breaks a rule");
  require(read.end.message.size() < 2000, "what came instead is shown in part");
  for (const auto& message : read.messages) require(message.is_object(), "a message is an object");
}

void check_sent_again(const Json& message) {
  Line line = Line::open(), back = Line::open();
  LabStream sender(std::move(back.in), std::move(line.out));
  LabStream receiver(std::move(line.in), std::move(back.out));
  if (message.dump().size() > kMostPiece) return;
  require(static_cast<bool>(sender.send(message)), "a message that was read can be sent");
  const auto again = receiver.receive(0ms);
  require(again && *again && **again == message, "a message that is sent again reads the same");
}

}  // namespace

void frames(std::string_view bytes) {
  const auto whole = read_in_pieces(bytes, kMostPiece);
  check_read(whole);
  const auto pieces = read_in_pieces(bytes, std::max<std::size_t>(1, bytes.size() / 7));
  require(pieces.messages == whole.messages && pieces.greeting == whole.greeting,
          "how a stream is cut into pieces changes nothing");
  require(pieces.end.code == whole.end.code, "nor how it ends");
  for (std::size_t i = 0; i < std::min<std::size_t>(whole.messages.size(), 4); ++i)
    check_sent_again(whole.messages[i]);
}

}  // namespace ratchet::fuzz

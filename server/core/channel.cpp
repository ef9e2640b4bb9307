#include "server/core/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr timeval kSendPatience{10, 0};

Error gone(const std::string& what) {
  return unavailable("the other end of the channel " + what);
}

Error malformed(const std::string& what) {
  return invalid_argument("invalid message: " + what);
}

/// Moves the descriptors of a received control message to `into`, which owns them.
void take_descriptors(msghdr& message, std::vector<Fd>& into) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof fd);
      into.emplace_back(fd);
    }
  }
}

}  // namespace

Channel::Channel(Fd socket, Descriptors descriptors)
    : socket_(std::move(socket)), policy_(descriptors) {
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof kSendPatience);
}

Result<std::pair<Fd, Fd>> Channel::connected() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return unavailable(fmt::format("socketpair: {}", std::strerror(errno)));
  return std::pair{Fd(ends[0]), Fd(ends[1])};
}

Status Channel::send(std::uint64_t id, const Json& body, std::span<const int> descriptors) {
  if (descriptors.size() > kMaxDescriptors)
    return Error{ErrorCode::internal, "too many descriptors in one message"};
  // A failing program's output may not be UTF-8: invalid bytes are replaced.
  const std::string text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMaxBytes) return Error{ErrorCode::too_large, "message too large"};
  const Header header{static_cast<std::uint32_t>(text.size()),
                      static_cast<std::uint32_t>(descriptors.size()), id};
  std::string frame(sizeof header, '\0');
  std::memcpy(frame.data(), &header, sizeof header);
  frame += text;

  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  std::size_t sent = 0;
  while (sent < frame.size()) {
    iovec part{frame.data() + sent, frame.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (sent == 0 && !descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(item), descriptors.data(), descriptors.size_bytes());
    }
    const ssize_t done = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return gone(errno == EAGAIN ? "does not read" : "is closed");
    sent += static_cast<std::size_t>(done);
  }
  return {};
}

Result<Channel::Read> Channel::read_some(std::byte* into, std::size_t bytes, std::size_t& got) {
  while (got < bytes) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
    iovec part{into + got, bytes - got};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (policy_ == Descriptors::accepted) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
    }
    const ssize_t done = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Read::nothing_yet;
    if (done <= 0) return gone("is closed");
    if (policy_ == Descriptors::accepted) take_descriptors(message, arrived_);
    got += static_cast<std::size_t>(done);
  }
  return Read::some;
}

Result<std::optional<Channel::Message>> Channel::poll() {
  if (header_got_ < header_.size()) {
    auto read = read_some(header_.data(), header_.size(), header_got_);
    if (!read) return read.error();
    if (*read == Read::nothing_yet) return std::optional<Message>{};
    Header header;
    std::memcpy(&header, header_.data(), sizeof header);
    if (header.bytes > kMaxBytes) return malformed(fmt::format("{} bytes", header.bytes));
    body_.resize(header.bytes);
    body_got_ = 0;
  }
  auto read = read_some(reinterpret_cast<std::byte*>(body_.data()), body_.size(), body_got_);
  if (!read) return read.error();
  if (*read == Read::nothing_yet) return std::optional<Message>{};
  return finish();
}

Result<std::optional<Channel::Message>> Channel::finish() {
  Header header;
  std::memcpy(&header, header_.data(), sizeof header);
  header_got_ = 0;
  Message message{header.id, Json::parse(body_, nullptr, false), std::move(arrived_)};
  arrived_.clear();
  if (message.body.is_discarded()) return malformed("it is not JSON");
  if (policy_ == Descriptors::accepted && message.descriptors.size() != header.descriptors)
    return malformed(fmt::format("{} descriptors arrived, {} were announced",
                                 message.descriptors.size(), header.descriptors));
  return std::optional<Message>(std::move(message));
}

Result<Channel::Message> Channel::receive(std::optional<milliseconds> limit) {
  const auto start = steady_clock::now();
  for (;;) {
    auto message = poll();
    if (!message) return message.error();
    if (*message) return *std::move(*message);
    int patience = -1;
    if (limit) {
      const auto left =
          *limit - std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
      if (left.count() <= 0) return Error{ErrorCode::timed_out, "no message in time"};
      patience = static_cast<int>(left.count());
    }
    pollfd waiting{socket_.get(), POLLIN, 0};
    ::poll(&waiting, 1, patience);
  }
}

}  // namespace ratchet

#include "kernels/labs/lab_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "server/core/bounded_json.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kMark = "ratchet-lab ";
constexpr std::size_t kMostHeader = kMark.size() + 12;
constexpr std::size_t kShown = 200;
constexpr milliseconds kLongestWrite{60'000};
constexpr int kPollMs = 50;

void make_nonblocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

bool takes_bytes(int fd, int limit_ms) {
  pollfd ready{fd, POLLOUT, 0};
  return ::poll(&ready, 1, limit_ms) > 0 && (ready.revents & POLLOUT) != 0;
}

/// The length that a header line tells; empty if it is none.
std::optional<std::size_t> length_in(std::string_view line) {
  if (!line.starts_with(kMark) || line.size() > kMostHeader) return std::nullopt;
  line.remove_prefix(kMark.size());
  std::size_t bytes = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), bytes);
  if (failed != std::errc{} || end != line.data() + line.size()) return std::nullopt;
  return bytes;
}

Error not_a_frame(std::string_view what) {
  return invalid_argument(
      fmt::format("the lab's output is not the protocol: {}", behind_fence(what.substr(0, kShown))),
      "The lab's command may print nothing of its own to stdout: look at its shell's start-up "
      "files "
      "and at programs around `ratchet lab`.");
}

}  // namespace

LabStream::LabStream(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {
  make_nonblocking(in_);
  make_nonblocking(out_);
}

Status LabStream::send(const Json& message, const std::function<bool()>& enough) {
  // The line feed is part of the JSON: srun passes a program's output on by whole lines.
  const auto body = message.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  if (body.size() > kMostBytes)
    return Error{ErrorCode::too_large,
                 fmt::format("a message of {} bytes is longer than {}", body.size(), kMostBytes),
                 ""};
  std::unique_lock lock(sending_);
  if (unsent_.empty()) wrote_ = steady_clock::now();
  const auto before = unsent_.size();
  unsent_ += fmt::format("{}{}\n", kMark, body.size());
  unsent_ += body;
  const auto end = accepted_ += static_cast<std::int64_t>(unsent_.size() - before);
  for (;;) {
    if (auto wrote = write_some(); !wrote) return wrote;
    if (sent_ >= end || (enough && enough())) return {};
    if (steady_clock::now() - wrote_ > kLongestWrite)
      return unavailable("the lab has read nothing for a minute");
    const int out = out_.get();
    lock.unlock();
    (void)takes_bytes(out, kPollMs);
    lock.lock();
  }
}

/// Of what is unsent, as much as the other end takes at once. While `sending_` is held.
Status LabStream::write_some() {
  while (written_ < unsent_.size()) {
    const auto wrote = ::write(out_.get(), unsent_.data() + written_, unsent_.size() - written_);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      if (written_ > unsent_.size() / 2) unsent_.erase(0, std::exchange(written_, 0));
      return {};
    }
    if (wrote < 0)
      return unavailable(fmt::format("the lab cannot be written to: {}", std::strerror(errno)));
    written_ += static_cast<std::size_t>(wrote);
    sent_ += wrote;
    wrote_ = steady_clock::now();
  }
  unsent_.clear();
  written_ = 0;
  return {};
}

/// Who reads must not wait for who writes: what the other end sends meanwhile, or has not read yet,
/// is as good a sign.
void LabStream::say_alive() {
  const std::scoped_lock lock(sending_);
  if (unsent_.empty() && takes_bytes(out_.get(), 0)) {
    wrote_ = steady_clock::now();
    unsent_ = kAlive;
    accepted_ += std::ssize(kAlive);
  }
  (void)write_some();
}

void LabStream::give_sign() {
  if (half_ && !std::exchange(signaled_, true)) say_alive();
}

/// A whole message in the buffer, if there is one.
Result<std::optional<Json>> LabStream::next() {
  for (;;) {
    const auto end = buffer_.find('\n');
    if (end == std::string::npos) {
      if (framed_ && buffer_.size() > kMostHeader) return not_a_frame(buffer_);
      if (buffer_.size() > kMostGreeting) return not_a_frame(buffer_);
      return std::optional<Json>{};
    }
    const auto bytes = length_in(std::string_view(buffer_).substr(0, end));
    if (!bytes) {
      if (framed_ || greeting_.size() + end > kMostGreeting) return not_a_frame(buffer_);
      greeting_.append(buffer_, 0, end + 1);
      buffer_.erase(0, end + 1);
      continue;
    }
    if (*bytes > kMostBytes)
      return invalid_argument(fmt::format("the lab announces a message of {} bytes; {} are allowed",
                                          *bytes, kMostBytes));
    framed_ = true;
    half_ = buffer_.size() - end - 1 < *bytes;
    if (half_) return std::optional<Json>{};
    signaled_ = false;
    auto message = bounded_json(std::string_view(buffer_).substr(end + 1, *bytes));
    buffer_.erase(0, end + 1 + *bytes);
    if (!message) return message.error().at("a message of the lab");
    if (!message->is_object()) return not_a_frame(message->dump());
    return std::optional<Json>(*std::move(message));
  }
}

Result<std::optional<Json>> LabStream::receive(milliseconds limit, const std::stop_token& stop) {
  const auto until = steady_clock::now() + limit;
  std::array<char, 65536> chunk{};
  for (bool over = false;;) {
    auto message = next();
    if (!message || *message) return message;
    give_sign();
    if (stop.stop_requested() || over) return std::optional<Json>{};
    over = steady_clock::now() >= until;  // what is there by then is still read
    pollfd waiting{in_.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now());
    ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kPollMs)));
    const auto got = ::read(in_.get(), chunk.data(), chunk.size());
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      received_ += got;
    } else if (got == 0) {
      return unavailable(buffer_.empty() ? "the lab's output ended"
                                         : "the lab's output ended in the middle of a message");
    } else if (errno != EAGAIN && errno != EINTR) {
      return unavailable(fmt::format("the lab cannot be read: {}", std::strerror(errno)));
    }
  }
}

}  // namespace ratchet

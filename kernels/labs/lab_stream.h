#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/types.h"

namespace ratchet {

/// Messages between a server and a lab, over any pair of byte streams: pipes, ssh, srun.
///
/// A frame is a line "ratchet-lab <bytes>" and so many bytes of JSON, the last a line feed when it
/// is ours. What comes before the first
/// frame may be a greeting of the other machine and is kept aside; after it, anything else than a
/// frame ends the connection.
///
/// `receive` sends a sign of life, `kAlive`, when half a message has come. TCP holds the rest of a
/// message back until its first part is acknowledged, and the other end delays that for 40 ms
/// unless it has something to send: srun, which does not turn that off, would take so long for each
/// message of more than a kilobyte.
///
/// `send` may be called from several threads, `receive` from one at a time.
class LabStream {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20U;
  static constexpr std::size_t kMostGreeting = std::size_t{16} << 10U;
  static constexpr std::string_view kAlive = "ratchet-lab 17\n{\"kind\":\"alive\"}\n";

  LabStream(Fd in, Fd out);

  /// Returns when all of it is written, or `enough` says that the caller waits no longer, which is
  /// asked every 50 ms: the rest then goes with what is sent next, because half a message would end
  /// the connection. Errors: `too_large` beyond `kMostBytes`, nothing was sent; `unavailable` when
  /// the other end is gone or has not read for a minute.
  Status send(const Json& message, const std::function<bool()>& enough = {});

  /// Sends `kAlive`, or of messages that are on their way what the other end reads at once, so that
  /// it never waits: who reads a stream may call it.
  void say_alive();

  /// The next message; empty at the time limit, which may be 0 for what is there already, or when
  /// `stop` is requested. Errors: `unavailable` at the end of the stream, `invalid_argument` for
  /// what is no frame, with what came instead.
  Result<std::optional<Json>> receive(std::chrono::milliseconds limit,
                                      const std::stop_token& stop = {});

  /// Ends what the other end reads.
  void close_output() {
    const std::scoped_lock lock(sending_);
    out_.reset();
  }

  /// Bytes so far, those of half a message too.
  [[nodiscard]] std::int64_t sent() const { return sent_; }
  [[nodiscard]] std::int64_t received() const { return received_; }

  /// What came before the first frame.
  [[nodiscard]] const std::string& greeting() const { return greeting_; }

 private:
  Result<std::optional<Json>> next();
  Status write_some();
  void give_sign();

  Fd in_, out_;
  std::mutex sending_;                           // guards `out_` and the next three
  std::string unsent_;                           ///< frames, of which the first bytes are written
  std::size_t written_ = 0;                      ///< so many
  std::int64_t accepted_ = 0;                    ///< bytes of all frames
  std::chrono::steady_clock::time_point wrote_;  ///< anything, last, or began to wait
  std::string buffer_;
  std::string greeting_;
  bool framed_ = false;
  bool half_ = false;      ///< of a message is in the buffer
  bool signaled_ = false;  ///< for that one
  std::atomic<std::int64_t> sent_ = 0, received_ = 0;
};

}  // namespace ratchet

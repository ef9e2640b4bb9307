#pragma once

#include "server/core/fd.h"
#include "server/core/field.h"
#include "server/core/process.h"

namespace ratchet::test {

/// A program that reads and writes JSON, one message a line, such as a server on stdio. Ends with
/// the object. Not thread-safe.
class StdioProgram {
 public:
  /// Its descriptors 0 and 1 become pipes to here. Throws if it cannot be started.
  explicit StdioProgram(ProcessSpec spec);

  void send(const Json& message);
  /// The next message. Throws at the end of the output.
  [[nodiscard]] Json receive();
  void close_input() { to_program_.reset(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

 private:
  Fd to_program_;
  Fd from_program_;
  std::optional<Process> process_;
};

}  // namespace ratchet::test

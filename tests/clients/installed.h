#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/process.h"
#include "tests/support/temp_folder.h"

// Real clients, as `./dev test --all` installs them from npm, against the built server.

namespace ratchet::test {

/// The path of a program that npm installed. Skips the test where it is not.
std::filesystem::path installed(const std::string& program);
/// The built `ratchet`.
std::filesystem::path server_program();
/// The names of all our tools.
std::set<std::string> tool_names();

/// A person who has used nothing before: a new home folder, no account, nothing inherited but PATH.
class Newcomer {
 public:
  [[nodiscard]] const std::filesystem::path& home() const { return home_.path(); }
  /// What a program of this person sees; `more` adds "NAME=value".
  [[nodiscard]] std::vector<std::string> environment(std::vector<std::string> more = {}) const;
  /// Runs a program in the home folder to its end.
  [[nodiscard]] Captured run(const std::vector<std::string>& argv,
                             std::vector<std::string> more = {}) const;

 private:
  TempFolder home_;
};

/// `ratchet serve --http` on a free port, with the state of one newcomer.
class HttpServer {
 public:
  explicit HttpServer(const Newcomer& person, const std::vector<std::string>& more = {});
  /// The endpoint.
  [[nodiscard]] std::string url() const;

 private:
  Fd log_;
  Process process_;
  int port_ = 0;
};

/// A program that speaks JSON lines on its standard input and output.
class LineProgram {
 public:
  LineProgram(const Newcomer& person, const std::vector<std::string>& argv);
  void send(const Json& message);
  /// The next line that is JSON; null at the end or after `limit`.
  Json receive(std::chrono::milliseconds limit = std::chrono::seconds(30));

 private:
  Fd to_program_;
  Fd from_program_;
  Process process_;
  std::string buffer_;
};

}  // namespace ratchet::test

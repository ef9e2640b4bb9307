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

// Real clients, which `./dev test --all` installs from npm, against the built server.

namespace ratchet::test {

/// The path of a program installed by npm. Skips the test if it is missing.
std::filesystem::path installed(const std::string& program);
/// The built `ratchet`.
std::filesystem::path server_program();
/// The names of all tools.
std::set<std::string> tool_names();

/// A user with a new home folder, no accounts, and no inherited environment but PATH.
class Newcomer {
 public:
  [[nodiscard]] const std::filesystem::path& home() const { return home_.path(); }
  /// The environment of this user's programs; `more` adds "NAME=value".
  [[nodiscard]] std::vector<std::string> environment(std::vector<std::string> more = {}) const;
  /// Runs a program in the home folder and waits for its end.
  [[nodiscard]] Captured run(const std::vector<std::string>& argv,
                             std::vector<std::string> more = {}) const;

 private:
  TempFolder home_;
};

/// A server over HTTP on a free port, with the state of one newcomer.
class HttpServer {
 public:
  /// `command` takes the options of `ratchet serve`; the default is just that.
  explicit HttpServer(const Newcomer& person,
                      std::vector<std::string> command = {server_program(), "serve"});
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
  /// The next line that is JSON; null at the end of the output or after `limit`.
  Json receive(std::chrono::milliseconds limit = std::chrono::seconds(30));

 private:
  Fd to_program_;
  Fd from_program_;
  Process process_;
  std::string buffer_;
};

}  // namespace ratchet::test

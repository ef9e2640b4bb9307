#include "tests/clients/installed.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "tests/support/places.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::chrono::minutes kProgramLimit{2};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

Process started(const ProcessSpec& spec) {
  auto process = Process::spawn(spec);
  INFO((process ? "" : process.error().message));
  REQUIRE(process);
  return *std::move(process);
}

/// One line without its newline; empty at the end of the input or after `until`.
std::optional<std::string> read_line(const Fd& from, std::string& buffer,
                                     steady_clock::time_point until) {
  while (true) {
    if (const auto end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd event{from.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&event, 1, static_cast<int>(left.count())) <= 0)
      return std::nullopt;
    std::array<char, 65536> chunk{};
    const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
    if (count <= 0) return std::nullopt;
    buffer.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

fs::path installed(const std::string& program) {
  const fs::path path = build_dir() / "npm/node_modules/.bin" / program;
  if (!fs::exists(path)) SKIP(program + " is not installed; ./dev test --all fetches it with npm");
  return path;
}

fs::path server_program() {
  return build_dir() / "bin/ratchet";
}

std::set<std::string> tool_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(source_dir() / "schemas"))
    if (entry.is_regular_file()) names.insert(entry.path().stem());  // labs/ has no tools
  names.erase("list_labs");                                          // only where there are labs
  return names;
}

std::vector<std::string> Newcomer::environment(std::vector<std::string> more) const {
  const char* path = std::getenv("PATH");
  const fs::path programs =
      build_dir() / "npm/node_modules/.bin";  // they need the Node installed there
  more.push_back("PATH=" + programs.string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path));
  more.push_back("HOME=" + home().string());
  more.push_back("XDG_STATE_HOME=" + (home() / "state").string());
  return more;
}

Captured Newcomer::run(const std::vector<std::string>& argv, std::vector<std::string> more) const {
  auto result = run_program(
      {.argv = argv, .environment = environment(std::move(more)), .folder = home()}, kProgramLimit);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return *std::move(result);
}

HttpServer::HttpServer(const Newcomer& person, std::vector<std::string> command)
    : process_([&] {
        Pipe log = make_pipe();
        command.insert(command.end(), {"--http", "0", "--no-auth"});
        auto process = started({.argv = command,
                                .environment = person.environment(),
                                .folder = person.home(),
                                .descriptors = {{log.write_end.get(), STDERR_FILENO}}});
        log_ = std::move(log.read_end);
        return process;
      }()) {
  const auto until = steady_clock::now() + std::chrono::seconds(30);
  std::string buffer;
  while (const auto line = read_line(log_, buffer, until)) {
    constexpr std::string_view kPlace = "http://127.0.0.1:";
    const auto at = line->find(kPlace);
    if (at == std::string::npos) continue;
    const char* port = line->data() + at + kPlace.size();
    std::from_chars(port, line->data() + line->size(), port_);
    break;
  }
  REQUIRE(port_ != 0);
}

std::string HttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/mcp";
}

LineProgram::LineProgram(const Newcomer& person, const std::vector<std::string>& argv)
    : process_([&] {
        Pipe in = make_pipe();
        Pipe out = make_pipe();
        auto process = started({.argv = argv,
                                .environment = person.environment(),
                                .folder = person.home(),
                                .descriptors = {{in.read_end.get(), STDIN_FILENO},
                                                {out.write_end.get(), STDOUT_FILENO}}});
        to_program_ = std::move(in.write_end);
        from_program_ = std::move(out.read_end);
        return process;
      }()) {}

void LineProgram::send(const Json& message) {
  const std::string line = message.dump() + "\n";
  REQUIRE(::write(to_program_.get(), line.data(), line.size()) ==
          static_cast<ssize_t>(line.size()));
}

Json LineProgram::receive(std::chrono::milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  while (const auto line = read_line(from_program_, buffer_, until)) {
    Json message = Json::parse(*line, nullptr, false);
    if (message.is_object()) return message;
  }
  return nullptr;
}

}  // namespace ratchet::test

#include "tests/support/stdio_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace ratchet::test {
namespace {

std::pair<Fd, Fd> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

StdioProgram::StdioProgram(ProcessSpec spec) {
  // Their ends are closed here, so that a program that cannot start is seen as the end of its
  // output.
  auto [their_input, our_output] = make_pipe();
  auto [our_input, their_output] = make_pipe();
  spec.descriptors = {{their_input.get(), 0}, {their_output.get(), 1}};
  auto process = Process::spawn(spec);
  if (!process) throw std::runtime_error(process.error().message);
  to_program_ = std::move(our_output);
  from_program_ = std::move(our_input);
  process_.emplace(*std::move(process));
}

void StdioProgram::send(const Json& message) {
  const std::string line = message.dump() + "\n";
  if (::write(to_program_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the program does not read");
}

Json StdioProgram::receive() {
  std::string line;
  for (char byte = 0; byte != '\n' && ::read(from_program_.get(), &byte, 1) == 1;) line += byte;
  if (line.empty()) throw std::runtime_error("the program's output ended");
  return Json::parse(line);
}

}  // namespace ratchet::test

// Frames between a server and a lab. What a lab may do wrong: remote_lab_test.cpp.

#include "kernels/labs/lab_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/fields.h"

using namespace ratchet;
using namespace std::chrono_literals;

namespace {

/// A pipe; descriptors are the test's.
std::pair<Fd, Fd> line() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

TEST_CASE("a frame is whole lines, which programs in between pass on at once", "[labs]") {
  auto [in, out] = line();
  auto [unused_in, unused_out] = line();
  LabStream stream(std::move(unused_in), std::move(out));

  REQUIRE(stream.send(Json{{"kind", "alive"}}));
  std::array<char, 100> bytes{};
  const auto got = ::read(in.get(), bytes.data(), bytes.size());

  // {"kind":"alive"} and a line feed.
  CHECK(std::string(bytes.data(), static_cast<std::size_t>(got)) ==
        "ratchet-lab 17\n{\"kind\":\"alive\"}\n");
}

TEST_CASE("a frame is read with and without a line feed at its end", "[labs]") {
  auto [in, out] = line();
  auto [unused_in, unused_out] = line();
  LabStream stream(std::move(in), std::move(unused_out));
  const std::string both = "ratchet-lab 8\n{\"a\": 1}ratchet-lab 9\n{\"a\": 2}\n";
  REQUIRE(::write(out.get(), both.data(), both.size()) == std::ssize(both));

  const auto first = stream.receive(1s);
  const auto second = stream.receive(1s);

  REQUIRE((first && *first && second && *second));
  CHECK(**first == Json{{"a", 1}});
  CHECK(**second == Json{{"a", 2}});
}

TEST_CASE("half a message is answered with one sign of life, a whole one with none", "[labs]") {
  auto [in, out] = line();
  auto [back_in, back_out] = line();
  LabStream stream(std::move(in), std::move(back_out));
  const auto write = [&](std::string_view text) {
    REQUIRE(::write(out.get(), text.data(), text.size()) == std::ssize(text));
  };
  const auto answered = [&, &back = back_in] {
    ::fcntl(back.get(), F_SETFL, O_NONBLOCK);
    std::string bytes(1000, '\0');
    const auto got = ::read(back.get(), bytes.data(), bytes.size());
    return bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  };

  write("ratchet-lab 8\n{\"a\": 1}");
  REQUIRE(stream.receive(0ms));
  CHECK(answered().empty());
  write("ratchet-lab 8\n{\"a\"");
  REQUIRE(stream.receive(0ms));
  CHECK(answered() == LabStream::kAlive);
  write(":");
  REQUIRE(stream.receive(0ms));
  CHECK(answered().empty());
  write(" 2}ratchet-lab 8\n{");
  const auto second = stream.receive(0ms);
  REQUIRE((second && *second));
  CHECK(**second == Json{{"a", 2}});
  REQUIRE(stream.receive(0ms));
  CHECK(answered() == LabStream::kAlive);
}

TEST_CASE("who does not wait for the end of a message leaves it to what is sent next", "[labs]") {
  auto [in, out] = line();
  auto [back_in, back_out] = line();
  LabStream stream(std::move(back_in), std::move(out));
  LabStream other(std::move(in), std::move(back_out));
  const Json large{{"text", std::string(1 << 20U, 'x')}};  // a pipe holds 64 KiB

  REQUIRE(stream.send(large, [] { return true; }));
  CHECK(stream.sent() < 1 << 20U);
  REQUIRE(stream.send(Json{{"kind", "cancel"}}, [] { return true; }));
  std::vector<Json> came;
  for (int i = 0; i < 1000 && came.size() < 2; ++i) {
    stream.say_alive();
    auto message = other.receive(0ms);
    REQUIRE(message);
    if (*message) came.push_back(**message);
  }

  CHECK(came == std::vector<Json>{large, {{"kind", "cancel"}}});
}

TEST_CASE("who reads does not wait to give a sign that nobody takes", "[labs]") {
  auto [in, out] = line();
  auto [back_in, back_out] = line();
  ::fcntl(back_out.get(), F_SETFL, O_NONBLOCK);
  while (::write(back_out.get(), "full", 4) > 0) {
  }
  LabStream stream(std::move(in), std::move(back_out));
  const std::string half = "ratchet-lab 8\n{\"a\"";
  REQUIRE(::write(out.get(), half.data(), half.size()) == std::ssize(half));

  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(stream.receive(0ms));

  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

#include "server/core/channel.h"

#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <thread>

#include "server/core/memory_file.h"

using namespace ratchet;

namespace {

struct Ends {
  Channel near, far;
};

Ends connected(Descriptors near_policy = Descriptors::accepted) {
  auto ends = Channel::connected();
  REQUIRE(ends);
  return {Channel(std::move(ends->first), near_policy),
          Channel(std::move(ends->second), Descriptors::accepted)};
}

}  // namespace

TEST_CASE("a message larger than the socket buffer arrives complete", "[channel]") {
  auto ends = connected();
  const std::string large(8U << 20U, 'x');

  std::jthread sender([&] { CHECK(ends.far.send(7, Json{{"text", large}})); });
  const auto message = ends.near.receive(std::chrono::seconds(10));

  REQUIRE(message);
  CHECK(message->id == 7);
  CHECK(message->body["text"] == large);
}

TEST_CASE("a descriptor sent with a message refers to the same memory", "[channel]") {
  auto ends = connected();
  auto file = MemoryFile::holding("test", "shared bytes");
  REQUIRE(file);
  const std::array descriptors{file->fd()};

  REQUIRE(ends.far.send(1, Json::object(), descriptors));
  const auto message = ends.near.receive(std::chrono::seconds(1));

  REQUIRE(message);
  REQUIRE(message->descriptors.size() == 1);
  const auto mapped = Mapping::map(message->descriptors[0].get(), 12, Mapping::Access::read);
  REQUIRE(mapped);
  CHECK(std::memcmp(mapped->bytes().data(), "shared bytes", 12) == 0);
}

TEST_CASE("an end that refuses descriptors gets the message without them", "[channel]") {
  auto ends = connected(Descriptors::refused);
  const std::array descriptors{STDERR_FILENO};

  REQUIRE(ends.far.send(1, Json{{"a", 1}}, descriptors));
  const auto message = ends.near.receive(std::chrono::seconds(1));

  REQUIRE(message);
  CHECK(message->descriptors.empty());
}

TEST_CASE("a closed, a silent and a garbage-sending peer get different errors", "[channel]") {
  auto silent = connected();
  CHECK(silent.near.receive(std::chrono::milliseconds(20)).error().code == ErrorCode::timed_out);

  auto garbage = connected();
  const std::array<unsigned char, 32> noise{255, 255, 255, 255};
  REQUIRE(::write(garbage.far.fd(), noise.data(), noise.size()) == 32);
  CHECK(garbage.near.receive(std::chrono::seconds(1)).error().code == ErrorCode::invalid_argument);

  auto closed = Channel::connected();
  REQUIRE(closed);
  Channel near(std::move(closed->first), Descriptors::refused);
  closed->second.reset();
  CHECK(near.receive(std::chrono::seconds(1)).error().code == ErrorCode::unavailable);
}

TEST_CASE("a memory file cannot be sealed while it is mapped for writing", "[channel][slow]") {
  auto file = MemoryFile::create("test", 4096);
  REQUIRE(file);
  {
    const auto writable = file->map(Mapping::Access::write);
    REQUIRE(writable);
    CHECK(file->seal().error().code == ErrorCode::conflict);
  }
  CHECK(file->seal());
  CHECK_FALSE(file->map(Mapping::Access::write));
  CHECK(::ftruncate(file->fd(), 0) != 0);
}

TEST_CASE("mapping more than a memory file has is rejected", "[channel]") {
  auto file = MemoryFile::create("test", 100);
  REQUIRE(file);

  CHECK(Mapping::map(file->fd(), 4096, Mapping::Access::read).error().code ==
        ErrorCode::invalid_argument);
}

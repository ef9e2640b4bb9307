// Replays the messages of the fuzzer's corpus to a whole server; tests/fuzz/replay has the rest.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "server/core/files.h"
#include "tests/support/peers.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

std::vector<std::pair<std::string, std::string>> messages() {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "tests/fuzz/corpus/message")) {
    const auto text = read_file(entry.path());
    REQUIRE(text);
    inputs.emplace_back(entry.path().filename(), *text);
  }
  REQUIRE(!inputs.empty());
  return inputs;
}

TEST_CASE("a stdio client may send every message of the corpus", "[corpus]") {
  SampleServer sample;
  StdioPeer peer(*sample.server);
  for (const auto& [name, text] : messages()) {
    INFO(name);
    peer.send_text(text);
    peer.send(legacy("still here", "ping"));
    Json answer;
    do answer = peer.receive();
    while (answer.is_object() && answer["id"] != "still here");
    CHECK(answer.is_object());
  }
}

}  // namespace
}  // namespace ratchet::test

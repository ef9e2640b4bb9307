// The conversations of tests/transcripts over both transports.
//
// A line is {"send": message}, {"send_text": "raw"}, or {"expect": what a message must contain}.
// Expectations may be met in any order; every message must be expected.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <deque>
#include <filesystem>
#include <fstream>

#include "tests/support/peers.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

std::vector<std::filesystem::path> transcripts() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests/transcripts"))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Json> steps_of(const std::filesystem::path& file) {
  std::ifstream input(file);
  std::vector<Json> steps;
  for (std::string line; std::getline(input, line);)
    if (!line.empty()) steps.push_back(Json::parse(line));
  return steps;
}

/// Removes the first message that contains `wanted`; `more` returns further ones, null at the end.
template <class More>
bool take(std::deque<Json>& seen, const Json& wanted, More more) {
  while (true) {
    const auto found = std::find_if(seen.begin(), seen.end(),
                                    [&](const Json& one) { return contains(one, wanted); });
    if (found != seen.end()) {
      seen.erase(found);
      return true;
    }
    Json next = more();
    if (next.is_null()) return false;
    seen.push_back(std::move(next));
  }
}

std::string text_of(const Json& step) {
  return step.contains("send") ? step["send"].dump() : step["send_text"].get<std::string>();
}

TEST_CASE("every transcript holds over stdio", "[transcript]") {
  const auto file = GENERATE(from_range(transcripts()));
  INFO(file.filename());
  SampleServer sample;
  StdioPeer peer(*sample.server);
  std::deque<Json> seen;
  for (const auto& step : steps_of(file)) {
    INFO(step.dump());
    if (!step.contains("expect"))
      peer.send_text(text_of(step));
    else
      CHECK(take(seen, step["expect"], [&] { return peer.receive(); }));
  }
  CHECK(peer.receive(std::chrono::milliseconds(20)).is_null());
  CHECK(Json(std::vector<Json>(seen.begin(), seen.end())) == Json::array());
}

TEST_CASE("every transcript holds over HTTP", "[transcript]") {
  const auto file = GENERATE(from_range(transcripts()));
  INFO(file.filename());
  SampleServer sample;
  const HttpPeer peer(*sample.server);
  std::deque<Json> seen;
  for (const auto& step : steps_of(file)) {
    INFO(step.dump());
    if (!step.contains("expect"))
      for (auto& message : peer.exchange(post_text(text_of(step))).messages())
        seen.push_back(std::move(message));
    else
      CHECK(take(seen, step["expect"], [] { return Json(); }));
  }
  CHECK(Json(std::vector<Json>(seen.begin(), seen.end())) == Json::array());
}

}  // namespace
}  // namespace ratchet::test

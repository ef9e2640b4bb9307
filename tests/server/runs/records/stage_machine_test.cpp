#include "server/runs/records/stage_machine.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

namespace ratchet {
namespace {

// The allowed transitions again, written independently by stage. An event that is not listed for a
// stage must be refused.
const std::map<std::string, std::map<std::string, std::string>> kExpected{
    {"open",
     {{"submitted", "built"},
      {"build_failed", "open"},
      {"abandoned", "abandoned"},
      {"proposed", "open"},
      {"explored", "correct"},
      {"branches_failed", "open"},
      {"sanitized", "open"}}},
    {"built",
     {{"submitted", "built"},
      {"build_failed", "built"},
      {"checked", "correct"},
      {"check_failed", "open"},
      {"sanitized", "built"}}},
    {"correct",
     {{"submitted", "built"},
      {"build_failed", "correct"},
      {"checked", "correct"},
      {"check_failed", "open"},
      {"profiled", "profiled"},
      {"profile_invalid", "open"},
      {"benchmarked", "correct"},
      {"sanitized", "correct"}}},
    {"profiled",
     {{"submitted", "built"},
      {"build_failed", "profiled"},
      {"profiled", "profiled"},
      {"profile_invalid", "open"},
      {"evidence_written", "evidenced"},
      {"ablated", "profiled"},
      {"benchmarked", "profiled"},
      {"sanitized", "profiled"}}},
    {"evidenced",
     {{"submitted", "built"},
      {"build_failed", "evidenced"},
      {"evidence_written", "evidenced"},
      {"hypothesis_written", "hypothesised"},
      {"final_gate_passed", "finished"},
      {"ablated", "evidenced"},
      {"benchmarked", "evidenced"},
      {"sanitized", "evidenced"}}},
    {"hypothesised",
     {{"submitted", "built"},
      {"build_failed", "hypothesised"},
      {"evidence_written", "evidenced"},
      {"hypothesis_written", "hypothesised"},
      {"gate_passed", "passed"},
      {"final_gate_passed", "finished"},
      {"ablated", "hypothesised"},
      {"benchmarked", "hypothesised"},
      {"sanitized", "hypothesised"}}},
    {"passed", {}},
    {"abandoned", {{"final_gate_passed", "finished"}}},
    {"finished",
     {{"benchmarked", "finished"},
      {"reported", "finished"},
      {"tuned", "finished"},
      {"sanitized", "finished"}}},
};

TEST_CASE("every pair of stage and event leads to the expected stage", "[gate]") {
  for (const auto& [stage, stage_name] : enum_names(Stage{})) {
    for (const auto& [event, event_name] : enum_names(Event{})) {
      INFO(stage_name << " + " << event_name);
      const auto& allowed = kExpected.at(std::string(stage_name));
      const auto expected = allowed.find(std::string(event_name));
      const auto next = advance(stage, event);
      REQUIRE(next.has_value() == (expected != allowed.end()));
      if (next) CHECK(std::string(name_of(*next)) == expected->second);
    }
  }
}

TEST_CASE("every refusal says wrong_stage and names the stage", "[gate]") {
  for (const auto& [stage, stage_name] : enum_names(Stage{})) {
    for (const auto& [event, event_name] : enum_names(Event{})) {
      const auto next = advance(stage, event);
      if (next) continue;
      INFO(stage_name << " + " << event_name);
      CHECK(next.error().code == ErrorCode::wrong_stage);
      CHECK(next.error().message.find(stage_name) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ratchet

// Fixture tools that report, log, or ask while they run.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "tests/support/conformance/fixtures.h"

namespace ratchet::test::conformance {
namespace {

/// Waits 50 ms, or until the call is canceled.
void pause(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kStep{50};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kStep, [] { return false; });
}

Outcome with_progress(const Json&, Interaction& interaction) {
  constexpr double kTotal = 100;
  for (const double done : {0.0, 50.0, 100.0}) {
    interaction.call().progress(done, kTotal, "step");
    if (done < kTotal) pause(interaction.call().stop());
  }
  return text_result("progress reported");
}

Outcome with_logging(const Json&, Interaction& interaction) {
  for (const char* message :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    interaction.log(LogLevel::info, message);
    pause(interaction.call().stop());
  }
  return text_result("Tool with logging executed successfully");
}

Outcome with_reconnection(const Json&, Interaction& interaction) {
  interaction.release_connection();
  pause(interaction.call().stop());
  return text_result("answered after the connection was closed");
}

Outcome with_sampling(const Json& arguments, Interaction& interaction) {
  const auto answer = interaction.ask(
      "sampling", "sampling/createMessage",
      {{"messages", Json::array({{{"role", "user"},
                                  {"content", text_content(arguments.value("prompt", ""))}}})},
       {"maxTokens", 100}});
  if (!answer) return text_result("no answer to the sampling request");
  const Json content = answer->value("content", Json::object());
  return text_result("LLM response: " + content.value("text", "none"));
}

Outcome elicited(Interaction& interaction, Json request) {
  const auto answer = interaction.ask("form", "elicitation/create", std::move(request));
  if (!answer) return text_result("no answer to the elicitation request");
  return text_result("User response: action=" + answer->value("action", "none") +
                     ", content=" + answer->value("content", Json::object()).dump());
}

Outcome with_elicitation(const Json& arguments, Interaction& interaction) {
  return elicited(interaction, form(arguments.value("message", ""), "response", "string"));
}

Outcome with_defaults(const Json&, Interaction& interaction) {
  return elicited(interaction, Json::parse(R"({
    "message": "Please review the defaults",
    "requestedSchema": {"type": "object", "required": [], "properties": {
      "name": {"type": "string", "default": "John Doe"},
      "age": {"type": "integer", "default": 30},
      "score": {"type": "number", "default": 95.5},
      "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
      "verified": {"type": "boolean", "default": true}}}})"));
}

Outcome with_enums(const Json&, Interaction& interaction) {
  return elicited(interaction, Json::parse(R"({
    "message": "Please choose",
    "requestedSchema": {"type": "object", "required": [], "properties": {
      "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
      "titledSingle": {"type": "string", "oneOf": [
        {"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"}]},
      "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                     "enumNames": ["Option One", "Option Two", "Option Three"]},
      "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3,
                        "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
      "titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": [
        {"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"},
        {"const": "value3", "title": "Third Choice"}]}}}}})"));
}

RawCall publishes(Change change) {
  return [change](const Json&, Interaction& interaction) -> Outcome {
    interaction.publish(change);
    return text_result("published");
  };
}

RawTool with_argument(RawTool tool, const std::string& name) {
  tool.entry["inputSchema"]["properties"] = {{name, {{"type", "string"}}}};
  tool.entry["inputSchema"]["required"] = {name};
  return tool;
}

}  // namespace

void add_interactive_tools(std::vector<RawTool>& tools) {
  const auto add = [&](const char* name, const char* description, RawCall call) {
    tools.push_back(raw_tool(name, description, Pace::interactive, std::move(call)));
  };
  add("test_tool_with_progress", "Reports progress.", with_progress);
  add("test_tool_with_logging", "Logs.", with_logging);
  add("test_logging_tool", "Logs.", with_logging);
  add("test_reconnection", "Closes the connection before it answers.", with_reconnection);
  tools.push_back(with_argument(
      raw_tool("test_sampling", "Asks the client's model.", Pace::interactive, with_sampling),
      "prompt"));
  tools.push_back(with_argument(
      raw_tool("test_elicitation", "Asks the person.", Pace::interactive, with_elicitation),
      "message"));
  add("test_elicitation_sep1034_defaults", "Asks with defaults.", with_defaults);
  add("test_elicitation_sep1330_enums", "Asks with enums.", with_enums);
  add("test_streaming_elicitation", "Answers without asking on the stream.",
      [](const Json&, Interaction&) -> Outcome { return text_result("no request was sent"); });
  add("test_trigger_tool_change", "Says that the tools changed.", publishes(Change::tools));
  add("test_trigger_prompt_change", "Says that the prompts changed.", publishes(Change::prompts));
}

}  // namespace ratchet::test::conformance

// Fixture tools that answer at once, and helpers for all fixtures.

#include "tests/support/conformance/fixtures.h"

#include <utility>

namespace ratchet::test::conformance {
namespace {

RawCall answers(Json content) {
  return [result = Json{{"content", std::move(content)}}](const Json&, Interaction&) -> Outcome {
    return result;
  };
}

Json image() {
  return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}};
}

Json resource(const char* uri, const char* mime_type, const std::string& text) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}};
}

/// A tool whose schema uses keywords that servers tend to lose.
RawTool schema_tool() {
  RawTool tool = raw_tool("json_schema_2020_12_tool", "Shows a full JSON Schema 2020-12.",
                          Pace::quick, [](const Json& arguments, Interaction&) -> Outcome {
                            return text_result("called with " + arguments.dump());
                          });
  tool.entry["inputSchema"] = Json::parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
                          "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                   "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
  })");
  return tool;
}

/// A tool with one argument that HTTP clients mirror into a header.
RawTool mirrored_tool() {
  RawTool tool = raw_tool("test_x_mcp_header", "Has an argument that is mirrored into a header.",
                          Pace::quick, [](const Json& arguments, Interaction&) -> Outcome {
                            return text_result("region=" + arguments.value("region", "none"));
                          });
  tool.entry["inputSchema"]["properties"] = {
      {"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
      {"level", {{"type", "integer"}}}};
  return tool;
}

OfferedTool offered_raw(RawTool raw) {
  const auto shared = std::make_shared<const RawTool>(std::move(raw));
  return {.name = shared->entry.at("name").get<std::string>(),
          .effect = shared->effect,
          .input_schema = {shared, &shared->entry.at("inputSchema")},
          .entry = [shared] { return shared->entry; },
          .call = [shared](const Json& arguments, Interaction& interaction) -> Outcome {
            if (!arguments.is_object())
              return RpcError{code::kInvalidParams, "params.arguments must be an object", {}};
            return shared->call(arguments, interaction);
          }};
}

}  // namespace

Json text_content(const std::string& text) {
  return {{"type", "text"}, {"text", text}};
}

Json text_result(const std::string& text) {
  return {{"content", Json::array({text_content(text)})}};
}

Json form(const std::string& message, const std::string& property, const std::string& type) {
  return {{"message", message},
          {"requestedSchema",
           {{"type", "object"},
            {"properties", {{property, {{"type", type}}}}},
            {"required", {property}}}}};
}

Json entered(const std::optional<Json>& answer, const std::string& property) {
  if (!answer || answer->value("action", "") != "accept") return nullptr;
  const Json content = answer->value("content", Json());
  return content.is_object() ? content.value(property, Json()) : Json();
}

RawTool raw_tool(const std::string& name, const std::string& description, Pace pace, RawCall call) {
  Json entry{{"name", name},
             {"description", description},
             {"inputSchema", {{"type", "object"}, {"properties", Json::object()}}}};
  return {std::move(entry), pace == Pace::quick ? Effect::reads : Effect::writes, std::move(call)};
}

void add_content_tools(std::vector<RawTool>& tools) {
  tools.push_back(raw_tool("test_simple_text", "Answers with text.", Pace::quick,
                           answers({text_content("This is a simple text response for testing.")})));
  tools.push_back(
      raw_tool("test_image_content", "Answers with an image.", Pace::quick, answers({image()})));
  tools.push_back(
      raw_tool("test_audio_content", "Answers with audio.", Pace::quick,
               answers({Json{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}})));
  tools.push_back(raw_tool("test_embedded_resource", "Answers with a resource.", Pace::quick,
                           answers({resource("test://embedded-resource", "text/plain",
                                             "This is an embedded resource content.")})));
  tools.push_back(raw_tool("test_multiple_content_types", "Answers with text, image and resource.",
                           Pace::quick,
                           answers({text_content("Multiple content types test:"), image(),
                                    resource("test://mixed-content-resource", "application/json",
                                             R"({"test":"data","value":123})")})));
  tools.push_back(raw_tool(
      "test_error_handling", "Fails.", Pace::quick, [](const Json&, Interaction&) -> Outcome {
        Json result = text_result("This tool intentionally returns an error for testing");
        result["isError"] = true;
        return result;
      }));
  tools.push_back(schema_tool());
  tools.push_back(mirrored_tool());
}

void add_fixtures(ServerOptions& options) {
  options.lists_change = true;
  std::vector<RawTool> tools;
  add_content_tools(tools);
  add_interactive_tools(tools);
  add_multi_round_tools(tools);
  add_task_tools(options, tools);
  for (auto& tool : tools) options.tools.push_back(offered_raw(std::move(tool)));
  add_prompts(options.prompts);
  add_resources(options.resources);
}

}  // namespace ratchet::test::conformance

#pragma once

#include <string>
#include <vector>

#include "server/mcp/server.h"

// What the official MCP conformance suite expects a server to offer. The suite's scenarios fix all
// names and answers.

namespace ratchet::test::conformance {

using namespace mcp;  // NOLINT(google-build-using-namespace): the fixtures speak MCP itself

/// A 1 × 1 PNG and an empty WAV file, in base64.
inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
inline constexpr const char* kWav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

[[nodiscard]] Json text_content(const std::string& text);
[[nodiscard]] Json text_result(const std::string& text);
/// An `elicitation/create` for an object with one required property.
[[nodiscard]] Json form(const std::string& message, const std::string& property,
                        const std::string& type);
/// The value that the user entered for `property`; null unless the form was accepted.
[[nodiscard]] Json entered(const std::optional<Json>& answer, const std::string& property);

/// A tool that writes its own entry in tools/list and its own CallToolResult.
using RawCall = std::function<Outcome(const Json& arguments, Interaction& interaction)>;
struct RawTool {
  Json entry;  ///< needs `name` and `inputSchema`
  Effect effect = Effect::reads;
  RawCall call;
};
/// Interactive tools ask or report, and therefore never run on the reading thread.
enum class Pace { quick, interactive };
[[nodiscard]] RawTool raw_tool(const std::string& name, const std::string& description, Pace pace,
                               RawCall call);

void add_content_tools(std::vector<RawTool>& tools);
void add_interactive_tools(std::vector<RawTool>& tools);
void add_multi_round_tools(std::vector<RawTool>& tools);
/// Creates `options.jobs` if there is none.
void add_task_tools(ServerOptions& options, std::vector<RawTool>& tools);
void add_prompts(std::vector<Prompt>& prompts);
void add_resources(std::vector<ResourceProvider>& providers);

/// Adds all of the above.
void add_fixtures(ServerOptions& options);

}  // namespace ratchet::test::conformance

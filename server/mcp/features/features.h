#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/core/tool.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

class Interaction;

/// Proposes values for one argument, given what was typed so far and the other arguments' values.
/// Thread rule, for this and every function below: called from several threads at once.
using Complete = std::function<std::vector<std::string>(
    const std::string& typed, const std::map<std::string, std::string>& others)>;

struct PromptArgument {
  std::string name;
  std::string description;
  bool required = false;
  Complete complete;  ///< may be empty
};

/// A prompt; clients show it as a slash command.
struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments;
  /// Returns a GetPromptResult (`messages`, `description?`). The caller has checked that required
  /// arguments are present and all arguments are strings. `prompt_text` builds the usual answer.
  std::function<Outcome(const Json& arguments, Interaction& interaction)> get;
};

/// A GetPromptResult of one user message.
[[nodiscard]] Json prompt_text(const std::string& description, const std::string& text);

struct Resource {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type = "text/plain";
  std::optional<std::int64_t> size_bytes;
};

struct ResourceTemplate {
  std::string uri_template;  ///< RFC 6570 level 1: "run://{run}/{artifact}"
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type = "text/plain";
  std::map<std::string, Complete> complete;  ///< by variable name
};

struct ResourceContents {
  std::string uri;
  std::string mime_type = "text/plain";
  std::string bytes;
  bool binary = false;  ///< sent as base64 `blob` instead of `text`
};

/// Everything below one URI scheme.
struct ResourceProvider {
  std::string scheme;  ///< "run", without "://"; a URI goes to the provider of its scheme
  std::vector<ResourceTemplate> templates;
  /// All listed resources, in a stable order; the server splits them into pages. May be empty.
  std::function<Result<std::vector<Resource>>()> list;
  /// Errors: `not_found` becomes the protocol's "resource not found".
  std::function<Result<std::vector<ResourceContents>>(const std::string& uri)> read;
  /// How long a client may cache what it read; 0 for resources that change.
  std::int64_t read_ttl_ms = 0;
};

struct SkillFile {
  std::string uri;  ///< "skill://kernel-loop/SKILL.md"
  std::string sha256_hex;
  std::size_t size_bytes = 0;
};

/// Instructions for agents (SEP-2640): a SKILL.md and the other files in its folder.
struct Skill {
  std::string uri;                                  ///< of its SKILL.md
  std::map<std::string, std::string> front_matter;  ///< of its SKILL.md, verbatim; has `name`
  std::vector<SkillFile> files;                     ///< all of them, including SKILL.md
};

/// A tool as the protocol serves it; `offered` makes one of a `Tool`.
struct OfferedTool {
  std::string name;
  Effect effect = Effect::reads;
  bool only_waits = false;                   ///< for work on a thread of its own
  std::shared_ptr<const Json> input_schema;  ///< never null
  std::function<Json()> entry;               ///< its entry in tools/list
  std::function<Outcome(const Json& arguments, Interaction& interaction)> call;  ///< CallToolResult
};

/// Work that outlasts its call becomes a task for clients that take tasks.
[[nodiscard]] OfferedTool offered(Tool tool);
[[nodiscard]] std::vector<OfferedTool> offered(std::vector<Tool> tools);

}  // namespace ratchet::mcp

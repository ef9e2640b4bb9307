#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/core/call_context.h"
#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// What a call may do; becomes the MCP annotations and the queueing rule.
enum class Effect {
  reads,        ///< changes nothing; clients run such calls in parallel and so do we
  writes,       ///< writes ledger or artifacts
  uses_device,  ///< occupies a measuring device, and writes
  destroys,     ///< may overwrite or hide existing work
};

/// Groups that `--toolsets` switches.
enum class Toolset { loop, kbs, analysis, search, memory, review, fixtures };
constexpr auto enum_names(Toolset) {
  return std::array{std::pair{Toolset::loop, "loop"},         std::pair{Toolset::kbs, "kbs"},
                    std::pair{Toolset::analysis, "analysis"}, std::pair{Toolset::search, "search"},
                    std::pair{Toolset::memory, "memory"},     std::pair{Toolset::review, "review"},
                    std::pair{Toolset::fixtures, "fixtures"}};
}

struct ToolInfo {
  std::string name;     ///< verb_noun, [a-z_], at most 40 characters
  std::string summary;  ///< one sentence
  Effect effect = Effect::reads;
  Toolset toolset = Toolset::loop;
  bool idempotent = false;   ///< the same call again changes nothing more
  bool always_load = false;  ///< clients that defer tools should load this one at start
};

class Job;

/// What a call gave back. The model sees `structured` or `text`, never both, so they hold the same
/// facts; of an error it sees only the text.
struct ToolAnswer {
  Json structured;  ///< null when `is_error`
  std::string text;
  bool is_error = false;
  /// The work that goes on without the call (see long_running.h); null when this is its answer.
  std::shared_ptr<Job> job = nullptr;
};

/// A tool is a value: what it is called, what it takes and gives, and what it does.
///
/// Thread rule: `call` may run on several threads at once; the handler's object guards itself.
struct Tool {
  ToolInfo info;
  Json input_schema;
  Json output_schema;
  std::function<ToolAnswer(const Json& arguments, CallContext& call)> call;
};

/// Renders an error as the text a model can act on: code, message, hint.
[[nodiscard]] ToolAnswer error_answer(const Error& error);

/// Renders an encoded answer as indented "key: value" lines; the text twin of structured content.
[[nodiscard]] std::string readable_text(const Json& value);

/// Builds a tool from its two structs and a typed handler `Result<Out>(const Args&, CallContext&)`.
/// Arguments are checked before the handler runs; a failed check changes nothing.
template <HasFields Args, HasFields Out, class Handler>
[[nodiscard]] Tool make_tool(ToolInfo info, Handler handler) {
  auto call = [handler = std::move(handler)](const Json& arguments,
                                             CallContext& context) -> ToolAnswer {
    auto args = decode<Args>(arguments.is_null() ? Json::object() : arguments);
    if (!args) return error_answer(args.error());
    Result<Out> out = handler(*args, context);
    if (!out) return error_answer(out.error());
    Json structured = encode(*out);
    std::string text = readable_text(structured);
    return {std::move(structured), std::move(text), false};
  };
  return {std::move(info), schema_of<Args>(), schema_of<Out>(), std::move(call)};
}

/// Arguments of a tool that takes none.
struct NoArgs {
  static constexpr void fields(auto&&) {}
};

}  // namespace ratchet

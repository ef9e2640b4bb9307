#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/core/call_context.h"
#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// What a call may do; determines its MCP annotations and how it is queued.
enum class Effect {
  reads,        ///< changes nothing; runs in parallel with other calls
  writes,       ///< writes the ledger or artifacts
  uses_device,  ///< occupies a measuring device, and writes
  destroys,     ///< may overwrite or hide existing work
};

/// Groups of tools that `--toolsets` selects.
enum class Toolset { loop, kbs, analysis, search, memory, review };
constexpr auto enum_names(Toolset) {
  using enum Toolset;
  return as_written<loop, kbs, analysis, search, memory, review>();
}

struct ToolInfo {
  std::string name;     ///< verb_noun, [a-z_], at most 40 characters
  std::string summary;  ///< one sentence
  Effect effect = Effect::reads;
  Toolset toolset = Toolset::loop;
  bool idempotent = false;   ///< repeating the same call changes nothing more
  bool builds = false;       ///< compiles kernels, so that the disk quota may refuse it
  bool always_load = false;  ///< clients that load tools on demand should load this one at start
};

class BackgroundCall;

/// The result of a call. `structured` is for programs and holds everything; `text` is for a model
/// and holds what decides its next step. Of an error there is only the text.
struct ToolAnswer {
  Json structured;  ///< null when `is_error`
  std::string text;
  bool is_error = false;
  /// The work that continues after this answer (see long_running.h); null for a final answer.
  std::shared_ptr<BackgroundCall> job = nullptr;
};

/// A tool as a value: its name, its input and output schemas, and its handler.
///
/// `call` may run on several threads at once; handlers synchronize access to what they share.
struct Tool {
  ToolInfo info;
  Json input_schema;
  Json output_schema;
  std::function<ToolAnswer(const Json& arguments, CallContext& call)> call;
  bool only_waits = false;  ///< for work on a thread of its own (see long_running.h)
};

/// Renders an error as text for a model: code, message, hint.
[[nodiscard]] ToolAnswer error_answer(const Error& error);

/// Renders structured content as indented "key: value" lines, the keys of `first` before the
/// others. Numbers have three significant digits; within a record, empty fields are left out.
[[nodiscard]] std::string readable_text(const Json& value,
                                        const std::vector<std::string>& first = {});

/// An answer may say how its text is made from its structured content: as a rule `readable_text`
/// of a part of it, so that foreign text stays fenced.
template <class T>
concept HasText = requires(const T& answer, Json structured) {
  { answer.text(structured) } -> std::same_as<std::string>;
};

/// Builds a tool from its argument and answer structs and a handler
/// `Result<Out>(const Args&, CallContext&)`, which runs only with valid arguments.
template <HasFields Args, HasFields Out, class Handler>
[[nodiscard]] Tool make_tool(ToolInfo info, Handler handler) {
  auto call = [handler = std::move(handler)](const Json& arguments,
                                             CallContext& context) -> ToolAnswer {
    auto args = decode<Args>(arguments.is_null() ? Json::object() : arguments);
    if (!args) return error_answer(args.error());
    Result<Out> out = handler(*args, context);
    if (!out) return error_answer(out.error());
    Json structured = encode(*out);
    std::string text;
    if constexpr (HasText<Out>)
      text = out->text(structured);
    else
      text = readable_text(structured);
    return {std::move(structured), std::move(text), false};
  };
  return {std::move(info), schema_of<Args>(), schema_of<Out>(), std::move(call)};
}

/// For tools without arguments.
struct NoArgs {
  static constexpr void fields(auto&&) {}
};

}  // namespace ratchet

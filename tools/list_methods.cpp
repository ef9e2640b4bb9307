#include <algorithm>

#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ListMethodsArgs {
  std::optional<RunId> run;
  std::optional<Axis> axis;
  std::optional<std::string> id;

  static constexpr void fields(auto&& visit) {
    using A = ListMethodsArgs;
    visit(optional<&A::run>("Adds its readings, budget and exclusions."),
          optional<&A::axis>("Only methods of this axis."),
          optional<&A::id>("Only this method.", {.max_length = 64}));
  }
};

}  // namespace

Tool list_methods(const Services& services) {
  return make_tool<ListMethodsArgs, MethodList>(
      {.name = "list_methods",
       .summary = "List optimization methods by axis and priority; with a run, how strongly its "
                  "profile suggests each, and the budget.",
       .effect = Effect::reads,
       .toolset = Toolset::search,
       .idempotent = true},
      [&runs = services.runs](const ListMethodsArgs& args, CallContext&) -> Result<MethodList> {
        auto list = runs.methods(args.run);
        if (!list) return list;
        const auto* const wanted = args.id ? find_method(*args.id) : nullptr;
        if (args.id && wanted == nullptr)
          return not_found("id: there is no method \"" + *args.id + "\"",
                           "list_methods without id lists all methods.");
        std::erase_if(list->methods, [&](const MethodLine& line) {
          const bool other_axis = args.axis && find_method(line.id)->axis != *args.axis;
          return other_axis || (wanted != nullptr && line.id != wanted->id);
        });
        // Without a filter the answer is an overview; details come with an axis or an id.
        if (!args.axis && !args.id)
          for (auto& line : list->methods)
            line = {.id = line.id,
                    .priority = line.priority,
                    .strength = line.strength,
                    .excluded = line.excluded};
        return list;
      });
}

}  // namespace ratchet

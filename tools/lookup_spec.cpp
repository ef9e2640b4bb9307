#include "kbs/knowledge.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct SpecArgs {
  std::string product;
  std::optional<std::string> metric;

  static constexpr void fields(auto&& visit) {
    visit(required<&SpecArgs::product>("For example H200.", {.max_length = 100}),
          optional<&SpecArgs::metric>("For example dram_bandwidth. Default: all.",
                                      {.max_length = 100}));
  }
};

}  // namespace

Tool lookup_spec(const Services& services) {
  return make_tool<SpecArgs, SpecAnswer>(
      {.name = "lookup_spec",
       .summary =
           "Look up hardware specifications, each with the cited line; what is not documented is "
           "reported as unknown.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .idempotent = true},
      [&knowledge = services.knowledge](const SpecArgs& args, CallContext&) {
        return knowledge.lookup_spec(args.product, args.metric);
      });
}

}  // namespace ratchet

#include "kernels/lab.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ListLabsArgs {
  static constexpr void fields(auto&& /*visit*/) {}
};

struct LabList {
  std::vector<LabState> labs;

  static constexpr void fields(auto&& visit) {
    visit(required<&LabList::labs>("Remote labs of this server."));
  }
};

}  // namespace

Tool list_labs(const Services& services) {
  return make_tool<ListLabsArgs, LabList>(
      {.name = "list_labs",
       .summary = "List the labs that create_run can use.",
       .effect = Effect::reads,
       .toolset = Toolset::loop},
      [&lab = services.lab](const ListLabsArgs&, CallContext&) -> Result<LabList> {
        return LabList{lab.labs()};
      });
}

}  // namespace ratchet

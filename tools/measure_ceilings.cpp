#include "tools/all.h"

namespace ratchet {
namespace {

struct CeilingArgs {
  int device = 0;
  std::optional<DeviceKind> kind;
  bool refresh = false;

  static constexpr auto fields() {
    using A = CeilingArgs;
    return std::tuple{
        optional("device", &A::device, "Device index.", {.min = 0, .max = 63}),
        optional("kind", &A::kind, "host or cuda; default: cuda where there is one."),
        optional("refresh", &A::refresh, "Measure again instead of the cached values.")};
  }
};

struct CeilingAnswer {
  std::vector<Ceiling> ceilings;

  static constexpr auto fields() {
    return std::tuple{required("ceilings", &CeilingAnswer::ceilings, "Measured roofs.")};
  }
};

DeviceKind best_kind(const Environment& environment) {
  for (const auto& device : environment.devices)
    if (device.kind == DeviceKind::cuda) return DeviceKind::cuda;
  return DeviceKind::host;
}

}  // namespace

Tool measure_ceilings(const Services& services) {
  return make_tool<CeilingArgs, CeilingAnswer>(
      {.name = "measure_ceilings",
       .summary = "Measure the bandwidth and arithmetic roofs of a device; cached until driver or "
                  "device change.",
       .effect = Effect::uses_device,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [&lab = services.lab](const CeilingArgs& args, CallContext& call) -> Result<CeilingAnswer> {
        auto kind = args.kind;
        if (!kind) {
          auto environment = lab.environment(args.device, call);
          if (!environment) return environment.error();
          kind = best_kind(*environment);
        }
        auto ceilings = lab.ceilings(args.device, *kind, args.refresh, call);
        if (!ceilings) return ceilings.error();
        return CeilingAnswer{*std::move(ceilings)};
      });
}

}  // namespace ratchet

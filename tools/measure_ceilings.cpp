#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CeilingArgs {
  int device = 0;
  std::optional<DeviceKind> kind;
  bool refresh = false;
  std::optional<std::string> lab;

  static constexpr void fields(auto&& visit) {
    using A = CeilingArgs;
    visit(optional<&A::device>("", {.min = 0, .max = 63}),
          optional<&A::kind>("Default: cuda if there is such a device."),
          optional<&A::refresh>("Measure again."), optional<&A::lab>("", {.max_length = 64}));
  }
};

/// A measured roof beside the vendor's figure.
struct CeilingLine {
  std::string what;
  double value = 0;
  std::string unit;
  std::optional<double> datasheet;  ///< in the same unit
  std::optional<std::string> citation;

  static constexpr void fields(auto&& visit) {
    using C = CeilingLine;
    visit(required<&C::what>("fp32, copy_bandwidth, …"), required<&C::value>("Measured."),
          required<&C::unit>("B/s, FLOP/s, OP/s, MHz or s."),
          optional<&C::datasheet>("The vendor's figure in the same unit."),
          optional<&C::citation>("Source of the vendor's figure."));
  }
};

struct CeilingAnswer {
  std::string device;
  std::vector<CeilingLine> ceilings;

  static constexpr void fields(auto&& visit) {
    visit(required<&CeilingAnswer::device>("Name of the device."),
          required<&CeilingAnswer::ceilings>("Measured roofs."));
  }
};

/// The metric of a hardware page that corresponds to a roof; empty: none.
std::string_view metric_of(std::string_view what) {
  if (what == "fp64" || what == "fp32") return what;
  if (what == "tf32") return "tf32_tensor";
  if (what == "fp16") return "fp16_tensor";
  if (what == "bf16") return "bf16_tensor";
  if (what == "fp8") return "fp8_tensor";
  if (what == "int8") return "int8_tensor";
  if (what == "copy_bandwidth" || what == "read_bandwidth" || what == "write_bandwidth")
    return "dram_bandwidth";
  return "";
}

/// The factor that converts a unit such as "TFLOP/s" or "GB/s" to FLOP/s or B/s.
double factor_of(std::string_view unit) {
  if (unit.starts_with("T")) return 1e12;
  if (unit.starts_with("G")) return 1e9;
  return 1;
}

/// Adds the datasheet's figure if a page has one.
void add_datasheet(Knowledge& knowledge, const std::string& product, CeilingLine& line) {
  const auto metric = metric_of(line.what);
  if (metric.empty()) return;
  const auto spec = knowledge.lookup_spec(product, std::string(metric));
  if (!spec) return;
  for (const auto& row : spec->specs) {
    if (row.kind != "datasheet") continue;
    line.datasheet = row.value * factor_of(row.unit);
    line.citation = row.citation;
    return;
  }
}

/// The requested device; without a kind, a GPU if there is one.
Result<DeviceInfo> chosen_device(Lab& lab, const CeilingArgs& args, CallContext& call) {
  const bool host = args.kind == DeviceKind::host;
  auto environment = lab.environment(host ? 0 : args.device, call);
  if (!environment) return environment.error();
  const DeviceInfo* chosen = nullptr;
  for (const auto& device : environment->devices)
    if (args.kind ? device.kind == *args.kind : !chosen || device.kind == DeviceKind::cuda)
      chosen = &device;
  if (chosen) return *chosen;
  return unavailable("device: no device of the requested kind can be used on this machine",
                     "check_env lists the devices that can be used, and what others lack.");
}

Result<CeilingAnswer> run_measure_ceilings(const Services& services, const CeilingArgs& args,
                                           CallContext& call) {
  const auto lab = services.lab.named(args.lab);
  if (!lab) return lab.error();
  auto device = chosen_device(**lab, args, call);
  if (!device) return device.error();
  auto ceilings = (*lab)->ceilings(args.device, device->kind, args.refresh, call);
  if (!ceilings) return ceilings.error();
  CeilingAnswer answer{device->name, {}};
  for (const auto& roof : *ceilings) {
    CeilingLine line{.what = roof.what, .value = roof.value, .unit = roof.unit};
    add_datasheet(services.knowledge, device->name, line);
    answer.ceilings.push_back(std::move(line));
  }
  return answer;
}

}  // namespace

Tool measure_ceilings(const Services& services) {
  return make_tool<CeilingArgs, CeilingAnswer>(
      {.name = "measure_ceilings",
       .summary = "Measure a device's bandwidth and arithmetic roofs; cached.",
       .effect = Effect::uses_device,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [services](const CeilingArgs& args, CallContext& call) {
        return run_measure_ceilings(services, args, call);
      });
}

}  // namespace ratchet

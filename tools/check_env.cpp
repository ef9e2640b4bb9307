#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckEnvArgs {
  std::optional<int> device;
  std::optional<RunId> run;

  static constexpr void fields(auto&& visit) {
    visit(optional<&CheckEnvArgs::device>("Index of the only GPU to report. Default: all.",
                                          {.min = 0, .max = 63}),
          optional<&CheckEnvArgs::run>("Also rewrite env_check.md of this run."));
  }
};

struct CheckEnvAnswer : Environment {
  std::optional<std::string> artifact;

  static constexpr void fields(auto&& visit) {
    Environment::fields(visit);
    visit(optional<&CheckEnvAnswer::artifact>("env_check.md, when run was given."));
  }
};

}  // namespace

Tool check_env(const Services& services) {
  return make_tool<CheckEnvArgs, CheckEnvAnswer>(
      {.name = "check_env",
       .summary =
           "Report devices, toolchains, permission for hardware counters (tested by a probe) and "
           "which implementations can run here.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop,
       .idempotent = true},
      [&lab = services.lab, &runs = services.runs](const CheckEnvArgs& args,
                                                   CallContext& call) -> Result<CheckEnvAnswer> {
        auto environment = lab.environment(args.device, call);
        if (!environment) return environment.error();
        CheckEnvAnswer answer{*std::move(environment), {}};
        if (args.run) {
          auto written = runs.record_environment(*args.run, answer);
          if (!written) return written.error();
          answer.artifact = written->artifacts.at(0);
        }
        return answer;
      });
}

}  // namespace ratchet

#include "kernels/lab.h"
#include "server/core/storage.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckEnvArgs {
  std::optional<int> device;
  std::optional<RunId> run;
  std::optional<std::string> lab;

  static constexpr void fields(auto&& visit) {
    visit(optional<&CheckEnvArgs::device>("Index of the only GPU to report. Default: all.",
                                          {.min = 0, .max = 63}),
          optional<&CheckEnvArgs::run>("Also rewrite env_check.md of this run."),
          optional<&CheckEnvArgs::lab>("", {.max_length = 64}));
  }
};

struct CheckEnvAnswer : Environment {
  std::optional<std::string> artifact;
  StorageUse storage;

  static constexpr void fields(auto&& visit) {
    Environment::fields(visit);
    visit(optional<&CheckEnvAnswer::artifact>("env_check.md, when run was given."),
          required<&CheckEnvAnswer::storage>("Space that the server's state folder takes."));
  }
};

}  // namespace

Tool check_env(const Services& services) {
  return make_tool<CheckEnvArgs, CheckEnvAnswer>(
      {.name = "check_env",
       .summary = "Report devices, toolchains, counter permission (probed), what runs here and "
                  "what fills the state folder.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop,
       .idempotent = true},
      [services](const CheckEnvArgs& args, CallContext& call) -> Result<CheckEnvAnswer> {
        auto name = args.lab;
        if (args.run && !name) {
          const auto status = services.runs.status(*args.run);
          if (!status) return status.error();
          if (status->labs) name = status->labs->lab;
        }
        const auto lab = services.lab.named(name);
        if (!lab) return lab.error();
        auto environment = (*lab)->environment(args.device, call);
        if (!environment) return environment.error();
        (*lab)->expect_run();  // as the server's instructions have it
        CheckEnvAnswer answer{*std::move(environment), {}, services.storage.use()};
        if (args.run) {
          auto written = services.runs.record_environment(*args.run, answer);
          if (!written) return written.error();
          answer.artifact = written->artifacts.at(0);
        }
        return answer;
      });
}

}  // namespace ratchet

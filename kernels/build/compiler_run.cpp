#include "kernels/build/compiler_run.h"

#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "server/core/files.h"

namespace ratchet {
namespace {

constexpr std::size_t kLargestWritten = std::size_t{1} << 30U;
constexpr unsigned kProcessorsForCheck = 4;  // with fewer, the check would slow the build down

/// Runs the commands of one plan in its folder.
struct Runner {
  const std::filesystem::path& work;
  std::chrono::seconds deadline;
  const Confinement& confinement;
  const std::vector<std::string>& environment;

  [[nodiscard]] ProcessSpec spec_of(const std::vector<std::string>& arguments) const {
    ProcessSpec spec;
    spec.argv = arguments;
    spec.folder = work;
    spec.environment = inherited_environment({"PATH"});
    for (const auto* name : {"TMPDIR=", "HOME="}) spec.environment.push_back(name + work.string());
    spec.environment.emplace_back("LC_ALL=C");
    spec.environment.insert(spec.environment.end(), environment.begin(), environment.end());
    spec.address_space_bytes = kCompilerAddressSpace;
    spec.file_size_bytes = kLargestWritten;
    return spec;
  }

  [[nodiscard]] Result<ConfinedRun> run(const std::vector<std::string>& arguments,
                                        const std::stop_token& stop) const {
    return run_confined(spec_of(arguments), confinement, deadline, stop);
  }

  /// The device-only check in parallel to the whole build; see compiler_run.h.
  [[nodiscard]] Result<ConfinedRun> with_check(const BuildPlan& plan, const std::stop_token& stop,
                                               unsigned processors) const {
    if (plan.check.empty() || processors < kProcessorsForCheck) return run(plan.arguments, stop);
    std::stop_source end_build, end_check;
    const std::stop_callback cancelled(stop, [&] {
      end_build.request_stop();
      end_check.request_stop();
    });
    std::optional<ConfinedRun> early;
    std::jthread check([&] {
      auto checked = run(plan.check, end_check.get_token());
      if (!checked || checked->timed_out || checked->status.clean()) return;
      early = *std::move(checked);
      end_build.request_stop();
    });
    auto built = run(plan.arguments, end_build.get_token());
    end_check.request_stop();
    check.join();
    if (!built && early && !stop.stop_requested()) return *std::move(early);
    return built;
  }

  /// The job on standard input: name and options, then the declaration and the source.
  [[nodiscard]] Result<ConfinedRun> run_fast(const BuildPlan& plan, const std::stop_token& stop,
                                             WarmCompiler& warm) const {
    const auto source = read_file(work / plan.file_name);
    if (!source) return source.error();
    std::string job = plan.file_name + "\n";
    for (const auto& option : plan.fast_options) job += option + "\n";
    job += "\n" + plan.header + "\n#line 1 \"" + plan.file_name + "\"\n" + *source;
    // It writes no file, so it can wait for a job before there is a folder.
    static const std::filesystem::path nowhere = "/dev";
    const auto spec = Runner{nowhere, deadline, confinement, environment}.spec_of(plan.fast);
    auto ran = warm.run(confined(spec, confinement, false), job, deadline, stop);
    if (!ran || !ran->status.clean() || ran->timed_out) return ran;
    std::ofstream cubin(work / kCubinFile, std::ios::binary);
    if (!(cubin << ran->out << std::flush))
      return Error{ErrorCode::unavailable, "the compiled kernel cannot be written", ""};
    ran->out.clear();
    return ran;
  }
};

}  // namespace

unsigned available_processors() {
  return std::thread::hardware_concurrency();
}

Result<CompilerRun> run_compiler(const BuildPlan& plan, const std::filesystem::path& work,
                                 std::chrono::seconds deadline, const std::stop_token& stop,
                                 WarmCompiler& warm, const Confinement& confinement,
                                 unsigned processors) {
  const Runner runner{work, deadline, confinement, plan.environment};
  const auto good = [](const Result<ConfinedRun>& run) {
    return run && !run->timed_out && run->status.clean();
  };
  Result<ConfinedRun> beside = ConfinedRun{};
  std::jthread other([&] {
    if (!plan.beside.empty()) beside = runner.run(plan.beside, stop);
  });
  auto run = plan.fast.empty() ? Result<ConfinedRun>(Error{}) : runner.run_fast(plan, stop, warm);
  const bool fast = good(run);
  if (!fast) run = runner.with_check(plan, stop, processors);
  other.join();
  if (good(run) && !good(beside)) run = std::move(beside);
  for (const auto& step : plan.finish) {
    if (!good(run)) break;
    auto next = runner.run(step, stop);
    if (!next) return next.error();
    next->elapsed += run->elapsed;
    next->err = run->err + "\n" + next->err;
    run = std::move(next);
  }
  if (!run) return run.error();
  return CompilerRun{*std::move(run), fast};
}

}  // namespace ratchet

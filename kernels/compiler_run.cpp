#include "kernels/compiler_run.h"

#include <optional>
#include <thread>
#include <utility>

namespace ratchet {
namespace {

constexpr std::size_t kCompilerMemory = std::size_t{24}
                                        << 30U;  // cicc reserves far more than it uses
constexpr std::size_t kLargestFile = std::size_t{1} << 30U;
constexpr unsigned kProcessorsForCheck = 4;  // with fewer the check would slow the build down

ProcessSpec spec_of(const std::vector<std::string>& arguments, const std::filesystem::path& work) {
  ProcessSpec spec;
  spec.argv = arguments;
  spec.folder = work;
  spec.environment = inherited_environment({"PATH"});
  for (const auto* name : {"TMPDIR=", "HOME="}) spec.environment.push_back(name + work.string());
  spec.environment.emplace_back("LC_ALL=C");
  spec.address_space_bytes = kCompilerMemory;
  spec.file_size_bytes = kLargestFile;
  return spec;
}

Result<Captured> with_check(const BuildPlan& plan, const std::filesystem::path& work,
                            std::chrono::seconds deadline, const std::stop_token& stop,
                            unsigned processors) {
  if (plan.check.empty() || processors < kProcessorsForCheck)
    return run_program(spec_of(plan.arguments, work), deadline, stop);
  std::stop_source end_build, end_check;
  const std::stop_callback cancelled(stop, [&] {
    end_build.request_stop();
    end_check.request_stop();
  });
  std::optional<Captured> early;
  std::jthread check([&] {
    auto checked = run_program(spec_of(plan.check, work), deadline, end_check.get_token());
    if (!checked || checked->timed_out || checked->status.clean()) return;
    early = *std::move(checked);
    end_build.request_stop();
  });
  auto built = run_program(spec_of(plan.arguments, work), deadline, end_build.get_token());
  end_check.request_stop();
  check.join();
  if (!built && early && !stop.stop_requested()) return *std::move(early);
  return built;
}

}  // namespace

unsigned available_processors() {
  return std::thread::hardware_concurrency();
}

Result<CompilerRun> run_compiler(const BuildPlan& plan, const std::filesystem::path& work,
                                 std::chrono::seconds deadline, const std::stop_token& stop,
                                 unsigned processors) {
  const auto good = [](const Result<Captured>& run) {
    return run && !run->timed_out && run->status.clean();
  };
  Result<Captured> beside = Captured{};
  std::jthread other([&] {
    if (!plan.beside.empty()) beside = run_program(spec_of(plan.beside, work), deadline, stop);
  });
  auto run = plan.fast.empty() ? Result<Captured>(Error{})
                               : run_program(spec_of(plan.fast, work), deadline, stop);
  const bool fast = good(run);
  if (!fast) run = with_check(plan, work, deadline, stop, processors);
  other.join();
  if (good(run) && !good(beside)) run = std::move(beside);
  for (const auto& step : plan.finish) {
    if (!good(run)) break;
    auto next = run_program(spec_of(step, work), deadline, stop);
    if (!next) return next.error();
    next->elapsed += run->elapsed;
    next->err = run->err + "\n" + next->err;
    run = std::move(next);
  }
  if (!run) return run.error();
  return CompilerRun{*std::move(run), fast};
}

}  // namespace ratchet

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

}  // namespace

Result<Captured> run_compiler(const BuildPlan& plan, const std::filesystem::path& work,
                              std::chrono::seconds deadline, const std::stop_token& stop) {
  if (plan.check.empty() || std::thread::hardware_concurrency() < kProcessorsForCheck)
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

}  // namespace ratchet

#include "tools/all.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "kernels/lab.h"
#include "server/core/long_running.h"
#include "server/core/storage.h"
#include "tools/lab_time.h"
#include "tools/watched_machine.h"

namespace ratchet {
namespace {

// Measuring a large state folder takes a second, so room that was there counts for a while.
constexpr std::chrono::seconds kMeasured(10);

/// Asks the storage for room, for all tools of a server. Thread-safe.
class Room {
 public:
  explicit Room(const Storage& storage) : storage_(storage) {}

  Status admit() {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (found_ && now - *found_ < kMeasured) return {};
    auto room = storage_.admit();
    if (room) found_ = now;
    return room;
  }

 private:
  const Storage& storage_;
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> found_;
};

Tool within_quota(Tool tool, const std::shared_ptr<Room>& room) {
  tool.call = [inner = std::move(tool.call), room](const Json& arguments,
                                                   CallContext& call) -> ToolAnswer {
    if (const auto admitted = room->admit(); !admitted) return error_answer(admitted.error());
    return inner(arguments, call);
  };
  return tool;
}

}  // namespace

std::vector<Tool> all_tools(const Services& services) {
  std::vector<Tool> tools{
      // loop, in the order of an iteration
      check_env(services),
      create_run(services),
      import_problem(services),
      reporting_jobs(run_status(services), services.jobs),
      cancel_job(services),
      list_runs(services),
      list_labs(services),
      extend_run(services),
      submit_kernel(services),
      check_correctness(services),
      profile_kernel(services),
      write_kbs_evidence(services),
      write_hypothesis(services),
      check_gate(services),
      benchmark(services),
      write_report(services),
      // knowledge
      query_kbs(services),
      get_kbs_page(services),
      grep_kbs(services),
      lookup_spec(services),
      // analysis
      measure_ceilings(services),
      sanitize_kernel(services),
      disassemble(services),
      check_sass(services),
      roofline(services),
      import_profile(services),
      compare_versions(services),
      // search
      list_methods(services),
      propose_methods(services),
      explore_branches(services),
      ablate(services),
      tune_dispatch(services),
      // memory
      read_memory(services),
      mask_memory(services),
      restart_partial(services),
      // review
      define_acceptance(services),
      review(services),
  };
  const auto room = std::make_shared<Room>(services.storage);
  const bool labs = !services.lab.labs().empty();
  const WatchedMachine machine(services.runs, services.lab);
  for (auto& tool : tools) {
    const bool measures = tool.info.effect == Effect::uses_device;
    if (measures) tool = machine.told_by(std::move(tool));
    if (labs && tool.input_schema.at("properties").contains("run"))
      tool = on_labs(std::move(tool), services.runs, services.lab);
    if (tool.info.builds) tool = within_quota(std::move(tool), room);
    if (measures) tool = long_running(std::move(tool), services.jobs);
  }
  return tools;
}

std::vector<Tool> useful_tools(std::vector<Tool> tools, const Services& services) {
  if (!services.lab.labs().empty()) return tools;
  std::erase_if(tools, [](const Tool& tool) { return tool.info.name == "list_labs"; });
  for (auto& tool : tools)
    for (const char* argument : {"lab", "max_lab_seconds", "max_cost"})
      tool.input_schema.at("properties").erase(argument);
  return tools;
}

}  // namespace ratchet

#include "tools/all.h"

#include "server/core/long_running.h"

namespace ratchet {

std::vector<Tool> all_tools(const Services& services) {
  std::vector<Tool> tools{
      // loop, in the order of an iteration
      check_env(services),
      create_run(services),
      reporting_jobs(run_status(services), services.jobs),
      cancel_job(services),
      list_runs(services),
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
  for (auto& tool : tools)
    if (tool.info.effect == Effect::uses_device)
      tool = long_running(std::move(tool), services.jobs);
  return tools;
}

}  // namespace ratchet

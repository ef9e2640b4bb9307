#include "tools/all.h"

namespace ratchet {

std::vector<Tool> all_tools(const Services& services) {
  return {
      // loop, in the order of an iteration
      check_env(services),
      create_run(services),
      run_status(services),
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
      lookup_spec(services),
      // analysis
      measure_ceilings(services),
  };
}

}  // namespace ratchet

#pragma once

#include <vector>

#include "server/core/tool.h"
#include "tools/services.h"

namespace ratchet {

/// Every tool of the server, in the order that clients see. The services outlive the tools.
[[nodiscard]] std::vector<Tool> all_tools(const Services& services);

/// Those of them that a server offers: tools and arguments about labs cost a model nothing where
/// there are none.
[[nodiscard]] std::vector<Tool> useful_tools(std::vector<Tool> tools, const Services& services);

// One function per tool, each in the file of the same name.
Tool check_env(const Services& services);
Tool create_run(const Services& services);
Tool import_problem(const Services& services);
Tool run_status(const Services& services);
Tool cancel_job(const Services& services);
Tool list_runs(const Services& services);
Tool list_labs(const Services& services);
Tool extend_run(const Services& services);
Tool submit_kernel(const Services& services);
Tool check_correctness(const Services& services);
Tool profile_kernel(const Services& services);
Tool query_kbs(const Services& services);
Tool get_kbs_page(const Services& services);
Tool grep_kbs(const Services& services);
Tool lookup_spec(const Services& services);
Tool write_kbs_evidence(const Services& services);
Tool write_hypothesis(const Services& services);
Tool check_gate(const Services& services);
Tool benchmark(const Services& services);
Tool write_report(const Services& services);
Tool measure_ceilings(const Services& services);
Tool sanitize_kernel(const Services& services);
Tool disassemble(const Services& services);
Tool check_sass(const Services& services);
Tool roofline(const Services& services);
Tool import_profile(const Services& services);
Tool compare_versions(const Services& services);
Tool list_methods(const Services& services);
Tool propose_methods(const Services& services);
Tool explore_branches(const Services& services);
Tool ablate(const Services& services);
Tool tune_dispatch(const Services& services);
Tool read_memory(const Services& services);
Tool mask_memory(const Services& services);
Tool restart_partial(const Services& services);
Tool define_acceptance(const Services& services);
Tool review(const Services& services);

}  // namespace ratchet

#include "server/offers/prompts.h"

#include <fmt/format.h>

#include "server/offers/completions.h"

namespace ratchet {
namespace {

mcp::Prompt kernel_loop() {
  const auto get = [](const Json& arguments, mcp::Interaction&) -> mcp::Outcome {
    return mcp::prompt_text(
        "Optimize a kernel step by step",
        fmt::format(
            "Optimize the kernel {} against the reference {} with the ratchet tools, in {} "
            "versions.\n"
            "1. check_env, then create_run with both files, the sizes and an empty output_dir. "
            "Read "
            "its warnings: a weak task proves little.\n"
            "2. For every version, v0 included: check_correctness, profile_kernel, then query_kbs "
            "twice with run set, once with purpose kernel and once with purpose bottleneck, "
            "write_kbs_evidence, write_hypothesis with exactly one change, check_gate. Then write "
            "the next version and submit_kernel.\n"
            "3. A refusal names the missing step and the tool to call; do that, nothing else. A "
            "failed check costs a retry; a compile error costs none.\n"
            "4. After the last version: check_gate with final, benchmark, write_report.\n"
            "Quote only numbers that the tools returned. A verdict `same` or `inconclusive` is not "
            "a "
            "gain. After losing context call run_status first.",
            arguments.at("kernel").get<std::string>(), arguments.at("reference").get<std::string>(),
            arguments.value("iterations", "3")));
  };
  return {.name = "kernel_loop",
          .title = "Optimize a kernel",
          .description = "Drive a whole optimization run of one kernel.",
          .arguments = {{"kernel", "Path of the kernel source.", true, {}},
                        {"reference", "Path of the reference.", true, {}},
                        {"iterations", "Versions after v0; default 3.", false, {}}},
          .get = get};
}

mcp::Prompt diagnose(Runs& runs) {
  const auto get = [](const Json& arguments, mcp::Interaction&) -> mcp::Outcome {
    return mcp::prompt_text(
        "Explain what limits a kernel",
        fmt::format(
            "Call run_status for run {0}. If its open version is checked but not profiled, "
            "call profile_kernel. Explain what limits the kernel from bound, bound_evidence, "
            "findings and roofline, quoting the numbers; read the pattern page of the first "
            "finding with get_kbs_page; name the one change with the most headroom and what "
            "would disprove it. Change nothing.",
            arguments.at("run").get<std::string>()));
  };
  return {.name = "diagnose",
          .title = "Diagnose a kernel",
          .description = "Explain what limits the open version of a run.",
          .arguments = {{"run", "Run id.", true, run_ids(runs)}},
          .get = get};
}

mcp::Prompt final_report(Runs& runs) {
  const auto get = [](const Json& arguments, mcp::Interaction&) -> mcp::Outcome {
    return mcp::prompt_text(
        "Finish a run",
        fmt::format(
            "Finish run {0}: call run_status; if the last version is evidenced, call "
            "check_gate with final, then benchmark, then write_report with a retrospective "
            "of at most ten sentences: what worked, what did not, what was left. Quote only "
            "figures from the tools' answers, with their intervals.",
            arguments.at("run").get<std::string>()));
  };
  return {.name = "final_report",
          .title = "Finish a run",
          .description = "Pass the final gate, benchmark and write the report.",
          .arguments = {{"run", "Run id.", true, run_ids(runs)}},
          .get = get};
}

}  // namespace

std::vector<mcp::Prompt> all_prompts(Runs& runs) {
  return {kernel_loop(), diagnose(runs), final_report(runs)};
}

}  // namespace ratchet

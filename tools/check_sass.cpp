#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckSassArgs {
  RunId run;
  std::optional<VersionId> version;
  std::vector<std::string> methods;

  static constexpr void fields(auto&& visit) {
    using A = CheckSassArgs;
    visit(required("run", &A::run, "Run id."),
          optional("version", &A::version, "Default: the open one."),
          optional("methods", &A::methods, "Method ids; default: all.", {.max_length = 64}));
  }
};

struct CheckSassAnswer : ArtifactAnswer {
  std::string disassembler;
  std::optional<std::string> unavailable;
  std::vector<MethodVerdict> methods;
  std::vector<std::string> unknown;

  static constexpr void fields(auto&& visit) {
    using A = CheckSassAnswer;
    ArtifactAnswer::fields(visit);
    visit(required("disassembler", &A::disassembler, "Program and version."),
          optional("unavailable", &A::unavailable, "Why there is no code to see."),
          required("methods", &A::methods, "Those asked for; else verified and absent ones."),
          required("unknown", &A::unknown, "Not asked for, and not to be told from code."));
  }
};

/// What was not asked for and is unknown is told by its id alone; the artifact has it all.
CheckSassAnswer answer_of(ArtifactAnswer view, SassCheck check, bool all_wanted) {
  CheckSassAnswer answer{
      {std::move(view)}, std::move(check.disassembler), std::move(check.unavailable), {}, {}};
  for (auto& method : check.methods) {
    if (all_wanted || method.verdict != CodeVerdict::unknown)
      answer.methods.push_back(std::move(method));
    else
      answer.unknown.push_back(std::move(method.id));
  }
  return answer;
}

/// What an ablation reads: verdicts by the ids of the registry.
SignatureFact signatures_of(const SassCheck& check) {
  SignatureFact fact{check.candidate_digest, {}};
  for (const auto& method : check.methods)
    if (const auto* const known = find_method(method.id))
      fact.verdicts[known->id] = name_of(method.verdict);
  return fact;
}

}  // namespace

Tool check_sass(const Services& services) {
  return make_tool<CheckSassArgs, CheckSassAnswer>(
      {.name = "check_sass",
       .summary = "Which methods show in a version's machine code, against its parent's: verified, "
                  "absent or unknown.",
       .effect = Effect::writes,
       .toolset = Toolset::analysis,
       .idempotent = true},
      [services](const CheckSassArgs& args, CallContext& call) -> Result<CheckSassAnswer> {
        auto subject = services.runs.subject(args.run, args.version);
        if (!subject) return subject.error();
        auto check = services.lab.check_sass(subject->contract, subject->candidate,
                                             subject->parent ? &*subject->parent : nullptr,
                                             args.methods, call);
        if (!check) return check.error();
        auto written = services.runs.record_analysis(
            *subject, analysis_of("check_sass", *subject, *check), {{"sass_check.json", ""}});
        if (!written) return written.error();
        auto seen =
            services.runs.record_signatures(args.run, subject->version, signatures_of(*check));
        if (!seen) return seen.error();
        return answer_of(*std::move(written), *std::move(check), !args.methods.empty());
      });
}

}  // namespace ratchet

#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckSassArgs {
  RunId run;
  std::optional<VersionId> version;
  std::vector<std::string> methods;

  static constexpr void fields(auto&& visit) {
    using A = CheckSassArgs;
    visit(required<&A::run>(), optional<&A::version>("Default: the open one."),
          optional<&A::methods>("Method ids. Default: all.", {.max_length = 64}));
  }
};

struct CheckSassAnswer : ArtifactAnswer, SassCheck {
  std::vector<std::string> unknown;

  static constexpr void fields(auto&& visit) {
    using A = CheckSassAnswer;
    ArtifactAnswer::fields(visit);
    visit(required<&A::disassembler>("Program and version."),
          optional<&A::unavailable>("Why there is no code to inspect."),
          required<&A::methods>("The requested methods; by default those verified or absent."),
          required<&A::unknown>("Methods not requested that the code cannot show."));
  }
};

/// Methods that were not requested and are unknown appear by id only; the artifact has all details.
CheckSassAnswer answer_of(ArtifactAnswer view, SassCheck check, bool all_wanted) {
  CheckSassAnswer answer{std::move(view), std::move(check), {}};
  if (all_wanted) return answer;
  const auto is_unknown = [](const auto& method) { return method.verdict == CodeVerdict::unknown; };
  for (const auto& method : answer.methods)
    if (is_unknown(method)) answer.unknown.push_back(method.id);
  std::erase_if(answer.methods, is_unknown);
  return answer;
}

/// The verdicts by method id, for ablation.
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
       .summary = "Tell which methods show in a version's machine code, compared with its "
                  "parent's: verified, absent, unknown.",
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

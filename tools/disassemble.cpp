#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/sources.h"

namespace ratchet {
namespace {

struct DisassembleArgs {
  std::optional<RunId> run;
  std::optional<VersionId> version;
  std::optional<SourceArg> kernel;
  std::optional<std::string> arch;
  std::optional<std::string> implementation;
  std::string entry = TaskRequest{}.entry;
  std::vector<std::string> flags;
  CodeView kind = CodeView::sass;
  std::optional<std::string> function;
  int cursor = 0;
  std::optional<std::string> lab;

  static constexpr void fields(auto&& visit) {
    using A = DisassembleArgs;
    visit(optional<&A::run>(), optional<&A::version>("Default: the open one."),
          optional<&A::kernel>("Instead of run: a source to build, not judged."),
          optional<&A::arch>("Of kernel; need not be here.", {.max_length = 32}),
          optional<&A::implementation>("", {.max_length = 32}),
          optional<&A::entry>("", {.max_length = 64}), optional<&A::flags>("", {.max_length = 32}),
          optional<&A::kind>("Ignored for host kernels."),
          optional<&A::function>("Default: most code in loops.", {.max_length = 512}),
          optional<&A::cursor>("From next_cursor.", {.min = 0}),
          optional<&A::lab>("", {.max_length = 64}));
  }
};

struct DisassembleAnswer {
  static constexpr std::string_view kOrigin = "machine code";  // with names from the source
  std::optional<VersionId> version;
  std::optional<BuildRecord> build;
  std::optional<std::string> note;
  std::string disassembler;
  std::vector<FunctionCode> functions;
  std::string shown;
  std::string text;
  std::optional<int> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = DisassembleAnswer;
    visit(optional<&A::version>("Version shown."),
          optional<&A::build>("Of a kernel without a run: its build, with registers and memory."),
          optional<&A::note>("What was not done."),
          required<&A::disassembler>("Program and version."),
          required<&A::functions>("Counts per function, largest first."),
          required<&A::shown>("The function in text."),
          required<&A::text>("Per line: loop depth, source line, offset, instruction."),
          optional<&A::next_cursor>("Pass as cursor for the next page."));
  }
};

constexpr std::string_view kNotJudged =
    "It was only built: neither run, nor judged, nor timed. create_run does that, on a machine "
    "that has the device.";
constexpr std::string_view kNeverRun =
    "It was only built: nothing here runs on AMD GPUs. What rocprof counts elsewhere, "
    "import_profile reads.";

Result<Disassembly> page_of(Lab& lab, const Contract& contract, const Candidate& candidate,
                            const DisassembleArgs& args, CallContext& call) {
  return lab.disassemble(
      contract, candidate,
      {.view = args.kind, .function = args.function.value_or(""), .first_line = args.cursor}, call);
}

void add_page(DisassembleAnswer& answer, Disassembly page) {
  answer.disassembler = std::move(page.disassembler);
  answer.functions = std::move(page.functions);
  answer.shown = std::move(page.shown);
  answer.text = std::move(page.text);
  answer.next_cursor = page.next_line;
}

/// A source without a run. What cannot be disassembled here is built nevertheless.
Result<DisassembleAnswer> built_alone(const Services& services, const DisassembleArgs& args,
                                      CallContext& call) {
  auto source =
      read_source(*args.kernel, "kernel", kernel_name_for(args.implementation), services.roots);
  if (!source) return source.error();
  const auto lab = services.lab.named(args.lab);
  if (!lab) return lab.error();
  auto compiled = (*lab)->compile(
      {*std::move(source), args.implementation, args.arch, args.entry, args.flags}, call);
  if (!compiled) return compiled.error();
  DisassembleAnswer answer;
  answer.build = compiled->candidate.build;
  answer.note = is_only_built(compiled->contract.implementation) ? kNeverRun : kNotJudged;
  if (!answer.build->ok) return answer;
  auto page = page_of(**lab, compiled->contract, compiled->candidate, args, call);
  if (!page && page.error().code != ErrorCode::unavailable) return page.error();
  if (page)
    add_page(answer, *std::move(page));
  else
    *answer.note += " No machine code is shown: " + page.error().message + ". " + page.error().hint;
  return answer;
}

Result<DisassembleAnswer> shown(const Services& services, const DisassembleArgs& args,
                                CallContext& call) {
  if (args.run.has_value() == args.kernel.has_value())
    return Error{ErrorCode::invalid_argument, "run, kernel: give exactly one of the two",
                 "A run's versions by run and version, any other source by kernel and arch."};
  if (args.kernel) return built_alone(services, args, call);
  if (args.lab)
    return invalid_argument("lab: the run is measured where it was created",
                            "Leave lab out; it is for a kernel without a run.");
  auto subject = services.runs.subject(*args.run, args.version);
  if (!subject) return subject.error();
  auto page = page_of(services.lab, subject->contract, subject->candidate, args, call);
  if (!page) return page.error();
  DisassembleAnswer answer;
  answer.version = subject->version;
  add_page(answer, *std::move(page));
  return answer;
}

}  // namespace

Tool disassemble(const Services& services) {
  return make_tool<DisassembleArgs, DisassembleAnswer>(
      {.name = "disassemble",
       .summary = "Show machine code of a version, or of a kernel without a run: opcode counts, "
                  "loops, spills, "
                  "access widths per function.",
       .effect = Effect::reads,
       .toolset = Toolset::analysis,
       .builds = true},
      [services](const DisassembleArgs& args, CallContext& call) {
        return shown(services, args, call);
      });
}

}  // namespace ratchet

#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct DisassembleArgs {
  RunId run;
  std::optional<VersionId> version;
  CodeView kind = CodeView::sass;
  std::optional<std::string> function;
  int cursor = 0;

  static constexpr void fields(auto&& visit) {
    using A = DisassembleArgs;
    visit(required<&A::run>("Run id."), optional<&A::version>("Default: the open one."),
          optional<&A::kind>("sass or ptx; ignored for host kernels."),
          optional<&A::function>("Default: the one with the most code in loops.",
                                 {.max_length = 512}),
          optional<&A::cursor>("next_cursor of the previous page.", {.min = 0, .max = 10'000'000}));
  }
};

struct DisassembleAnswer {
  static constexpr std::string_view kOrigin = "machine code";  // with names from the source
  VersionId version;
  std::string disassembler;
  std::vector<FunctionCode> functions;
  std::string shown;
  std::string text;
  std::optional<int> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = DisassembleAnswer;
    visit(required<&A::version>("Version shown."),
          required<&A::disassembler>("Program and version."),
          required<&A::functions>("Counts per function, largest first."),
          required<&A::shown>("The function in text."),
          required<&A::text>("Per line: loop depth, source line, offset, instruction."),
          optional<&A::next_cursor>("Pass as cursor for the next page."));
  }
};

}  // namespace

Tool disassemble(const Services& services) {
  return make_tool<DisassembleArgs, DisassembleAnswer>(
      {.name = "disassemble",
       .summary =
           "Show the machine code of a version page by page, with opcode counts, loops, spills "
           "and access widths per function.",
       .effect = Effect::reads,
       .toolset = Toolset::analysis},
      [services](const DisassembleArgs& args, CallContext& call) -> Result<DisassembleAnswer> {
        auto subject = services.runs.subject(args.run, args.version);
        if (!subject) return subject.error();
        auto page = services.lab.disassemble(
            subject->contract, subject->candidate,
            {.view = args.kind, .function = args.function.value_or(""), .first_line = args.cursor},
            call);
        if (!page) return page.error();
        return DisassembleAnswer{.version = subject->version,
                                 .disassembler = std::move(page->disassembler),
                                 .functions = std::move(page->functions),
                                 .shown = std::move(page->shown),
                                 .text = std::move(page->text),
                                 .next_cursor = page->next_line};
      });
}

}  // namespace ratchet

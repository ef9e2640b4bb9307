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
    visit(required("run", &A::run, "Run id."),
          optional("version", &A::version, "Default: the open one."),
          optional("kind", &A::kind, "sass or ptx; host kernels have their own code."),
          optional("function", &A::function, "Default: the one with most code in loops.",
                   {.max_length = 512}),
          optional("cursor", &A::cursor, "next_cursor of the page before.",
                   {.min = 0, .max = 10'000'000}));
  }
};

struct DisassembleAnswer {
  VersionId version;
  std::string disassembler;
  std::vector<FunctionCode> functions;
  std::string shown;
  std::string text;
  std::optional<int> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = DisassembleAnswer;
    visit(required("version", &A::version, ""),
          required("disassembler", &A::disassembler, "Program and version."),
          required("functions", &A::functions, "Counts of every function, largest first."),
          required("shown", &A::shown, "Function in text."),
          required("text", &A::text, "Loop depth, source line, offset, instruction."),
          optional("next_cursor", &A::next_cursor, "For the next page."));
  }
};

}  // namespace

Tool disassemble(const Services& services) {
  return make_tool<DisassembleArgs, DisassembleAnswer>(
      {.name = "disassemble",
       .summary = "Machine code of a version's binary by pages, with opcode counts, loops, spills "
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
        return DisassembleAnswer{subject->version,           std::move(page->disassembler),
                                 std::move(page->functions), std::move(page->shown),
                                 std::move(page->text),      page->next_line};
      });
}

}  // namespace ratchet

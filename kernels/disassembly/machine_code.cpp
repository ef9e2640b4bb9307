#include "kernels/disassembly/machine_code.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/disassembly/code_loops.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::string_view kBlanks = " \t\r;";  // a statement ends with a semicolon

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (bad != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// The number at the start of a text; 0 if there is none, or one that no line has.
int line_number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max(value, 0);
}

/// Removes and returns the first word.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text, kBlanks);
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const auto word = text.substr(0, end);
  text = trimmed(text.substr(end), kBlanks);
  return word;
}

/// A function being read: labels refer to the instruction after them.
struct Draft {
  CodeFunction function;
  std::map<std::string, std::size_t, std::less<>> labels;
};

class Reader {
 public:
  Reader(CodeKind kind, std::string_view file) : kind_(kind), file_(file) {}

  void line(std::string_view text) {
    switch (kind_) {
      case CodeKind::sass:
        return sass(text);
      case CodeKind::host:
        return host(text);
      case CodeKind::amd:
        return amd(text);
    }
  }

  std::vector<CodeFunction> finish() {
    std::vector<CodeFunction> functions;
    for (auto& draft : drafts_) {
      connect(draft);
      if (!draft.function.instructions.empty()) functions.push_back(std::move(draft.function));
    }
    return functions;
  }

 private:
  void begin(std::string_view name) {
    drafts_.push_back({});
    drafts_.back().function.name = name;
    line_ = 0;
  }

  /// Whether this is the label of a function in objdump's output: "0000000000001119 <solve>:".
  bool begins(std::string_view bare) {
    if (!bare.ends_with(">:")) return false;
    const auto at = bare.find(" <");
    if (at != std::string_view::npos) begin(bare.substr(at + 2, bare.size() - at - 4));
    return true;
  }

  void sass(std::string_view text) {
    constexpr std::string_view kText = ".text.", kFunction = "Function : ", kLine = "\", line ";
    const auto bare = trimmed(text, kBlanks);
    if (bare.starts_with(kText) && bare.ends_with(":"))
      return begin(bare.substr(kText.size(), bare.size() - kText.size() - 1));
    if (bare.starts_with(kFunction)) return begin(bare.substr(kFunction.size()));
    if (drafts_.empty()) return;
    if (bare.starts_with("//## File")) {
      const auto at = bare.find(kLine);
      // The location inside an inlined function comes first, followed by where it was inlined.
      if (at == std::string_view::npos || bare.find("inlined at") != std::string_view::npos) return;
      line_ = line_number(bare.substr(at + kLine.size()));
      return;
    }
    if (bare.starts_with(".L_") && bare.ends_with(":"))
      return mark(bare.substr(0, bare.size() - 1));
    if (!bare.starts_with("/*")) return;
    const auto close = bare.find("*/");
    const auto address = hexadecimal(bare.substr(2, close - 2));
    if (close == std::string_view::npos || !address) return;
    auto rest = bare.substr(close + 2);
    rest = trimmed(rest.substr(0, rest.find(';')));
    // Every second line of cuobjdump contains only the encoding.
    if (rest.empty() || rest.starts_with("/*")) return;
    Instruction instruction{.address = *address, .line = line_};
    if (rest.starts_with('@')) instruction.guard = take_word(rest);
    instruction.opcode = take_word(rest);
    instruction.operands = rest;
    drafts_.back().function.instructions.push_back(instruction);
  }

  void host(std::string_view text) {
    // "0000000000001119 <solve>:" and "    1119:\tjle    1145 <solve+0x2c>"
    const auto bare = trimmed(text, kBlanks);
    if (begins(bare)) return;
    const auto colon = bare.find(":\t");
    if (drafts_.empty() || colon == std::string_view::npos) return;
    const auto address = hexadecimal(bare.substr(0, colon));
    if (!address) return;
    auto rest = bare.substr(colon + 2);
    Instruction instruction{.address = *address};
    instruction.opcode = take_word(rest);
    instruction.operands = rest;
    drafts_.back().function.instructions.push_back(instruction);
  }

  void amd(std::string_view text) {
    // "0000000000001700 <f>:", "; /folder/kernel.hip:4" and
    // "\ts_branch 8    // 000000001720: BF820008 <f+0x44>"
    const auto bare = trimmed(text, " \t\r");
    if (begins(bare)) return;
    if (bare.starts_with(';')) {
      // "; _Z4rowsPKfPfi():" is no place.
      const auto colon = bare.rfind(':');
      if (colon == std::string_view::npos || bare.ends_with("():")) return;
      const auto path = trimmed(bare.substr(1, colon - 1));
      const bool own = path.substr(path.rfind('/') + 1) == file_;
      line_ = own ? line_number(bare.substr(colon + 1)) : 0;
      return;
    }
    const auto comment = bare.find("// ");
    if (drafts_.empty() || comment == std::string_view::npos) return;
    const auto encoding = bare.substr(comment + 3);
    const auto address = hexadecimal(encoding.substr(0, encoding.find(':')));
    if (!address) return;
    auto rest = trimmed(bare.substr(0, comment));
    Instruction instruction{.address = *address, .line = line_};
    instruction.opcode = take_word(rest);
    // Where a branch goes is only said behind its encoding.
    const auto target = encoding.rfind("+0x");
    const bool names = target != std::string_view::npos && encoding.ends_with('>');
    instruction.operands = branches(instruction) && names
                               ? encoding.substr(target + 1, encoding.size() - target - 2)
                               : rest;
    drafts_.back().function.instructions.push_back(instruction);
  }

  void mark(std::string_view label) {
    auto& draft = drafts_.back();
    draft.labels.emplace(label, draft.function.instructions.size());
  }

  [[nodiscard]] bool branches(const Instruction& instruction) const {
    if (kind_ == CodeKind::sass)
      return instruction.opcode.starts_with("BRA") || instruction.opcode.starts_with("JMP");
    if (kind_ == CodeKind::amd)
      return starts_with_any(instruction.opcode, {"s_branch", "s_cbranch"});
    return instruction.opcode.starts_with('j') || instruction.opcode.starts_with("b.") ||
           instruction.opcode == "b" || instruction.opcode.starts_with("cb");
  }

  /// "nop", "nopw 0x0(%rax,%rax,1)", "cs nopw …", "data16 cs nopw …", "NOP".
  [[nodiscard]] static bool is_nop(const Instruction& instruction) {
    return starts_with_any(instruction.opcode, {"NOP", "nop"}) ||
           starts_with_any(instruction.operands, {"nop", "cs nop"});
  }

  [[nodiscard]] bool ends(const Instruction& instruction) const {
    if (kind_ == CodeKind::host)
      return instruction.opcode == "jmp" || instruction.opcode.starts_with("ret") ||
             instruction.opcode == "b";
    if (kind_ == CodeKind::amd)
      return instruction.opcode == "s_branch" || instruction.opcode == "s_endpgm" ||
             instruction.opcode.starts_with("s_setpc");
    if (!instruction.guard.empty()) return false;
    constexpr std::array<std::string_view, 7> kEnds{"BRA", "EXIT", "RET", "JMP",
                                                    "BRX", "JMX",  "KILL"};
    const auto base = instruction.opcode.substr(0, instruction.opcode.find('.'));
    // "BRA.U !UP0, target" and "BRA.DIV UR4, target" fall through depending on the first operand.
    const bool conditional = instruction.operands.find(',') != std::string_view::npos &&
                             !instruction.operands.starts_with("PT,");
    return !conditional && std::ranges::find(kEnds, base) != kEnds.end();
  }

  [[nodiscard]] std::optional<std::size_t> target_of(const Draft& draft,
                                                     const Instruction& instruction) const {
    auto text = instruction.operands;
    if (const auto open = text.find("`("); open != std::string_view::npos) {
      const auto label = text.substr(open + 2, text.find(')', open) - open - 2);
      const auto found = draft.labels.find(label);
      return found == draft.labels.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<std::uint64_t> address;
    while (!text.empty() && !address) {
      auto word = take_word(text);
      if (word.starts_with("0x")) word.remove_prefix(2);
      address = hexadecimal(word);
    }
    if (!address) return std::nullopt;
    const auto& all = draft.function.instructions;
    if (kind_ == CodeKind::amd) *address += all.front().address;  // relative to the function
    const auto at = std::ranges::lower_bound(all, *address, {}, &Instruction::address);
    if (at == all.end() || at->address != *address) return std::nullopt;
    return static_cast<std::size_t>(at - all.begin());
  }

  void connect(Draft& draft) const {
    auto& all = draft.function.instructions;
    std::vector<Flow> flow;
    std::vector<bool> padding, aimed(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      Flow one{.falls_through = !ends(all[i])};
      if (branches(all[i])) one.target = target_of(draft, all[i]);
      const bool to_itself = one.target == i;
      padding.push_back(to_itself || is_nop(all[i]));
      if (to_itself || (one.target && *one.target >= all.size())) one.target.reset();
      if (one.target) aimed[*one.target] = true;
      flow.push_back(one);
    }
    // Padding behind a jump is never reached: a loop that it leads into is not entered there.
    for (std::size_t i = 1; i < all.size(); ++i)
      if (padding[i] && !aimed[i] && !flow[i - 1].falls_through) flow[i].falls_through = false;
    const auto loops = find_loops(flow);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].loop_depth = loops.depth[i];
      all[i].loop = loops.innermost[i];
    }
    draft.function.loops = loops.count;
    std::size_t index = 0;
    std::erase_if(all, [&](const Instruction&) { return padding[index++]; });
  }

  CodeKind kind_;
  std::string_view file_;
  int line_ = 0;
  std::vector<Draft> drafts_;
};

// "S1_" and "T_" in a linked name repeat an earlier part, which may hold such references too: 200
// bytes can stand for gigabytes. Parts of three references each grow fastest, 3^(n/3) times.
constexpr std::size_t kMostReferences = 32;
constexpr std::size_t kLongestName = 4096;

/// The references in a linked name, and a few words that look like one.
std::size_t references_in(std::string_view linked) {
  std::size_t references = 0;
  for (auto at = linked.find('_'); at != std::string_view::npos; at = linked.find('_', at + 1)) {
    const auto before = linked.substr(0, at);
    const auto begin = before.find_last_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const auto run = before.substr(begin == std::string_view::npos ? 0 : begin + 1);
    references += run.find_first_of("ST") != std::string_view::npos ? 1 : 0;
  }
  return references;
}

/// What the C runtime links into every library.
bool is_startup_code(const CodeFunction& function) {
  constexpr std::array<std::string_view, 4> kNames = {"register_tm_clones", "deregister_tm_clones",
                                                      "__do_global_dtors_aux", "frame_dummy"};
  return std::ranges::find(kNames, function.name) != kNames.end();
}

/// Behind the last kernel, for what fetches instructions ahead.
bool is_prefetched_padding(const CodeFunction& function) {
  return std::ranges::all_of(function.instructions, [](const Instruction& one) {
    return one.opcode == "s_nop" || one.opcode == "s_code_end";
  });
}

}  // namespace

std::vector<CodeFunction> read_code(std::string_view listing, CodeKind kind,
                                    std::string_view file) {
  Reader reader(kind, file);
  while (!listing.empty()) {
    const auto end = std::min(listing.find('\n'), listing.size());
    reader.line(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
  }
  auto functions = reader.finish();
  if (kind == CodeKind::host) std::erase_if(functions, is_startup_code);
  if (kind == CodeKind::amd) std::erase_if(functions, is_prefetched_padding);
  return functions;
}

std::string source_name(const std::string& linked) {
  if (references_in(linked) > kMostReferences) return linked;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return linked;
  std::string name = demangled.get();
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (auto at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (name[i] == '(' && depth == 0) {
      name.resize(i);
      break;
    }
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  return name.size() > kLongestName ? linked : name;
}

}  // namespace ratchet

// A candidate's machine code, in pages, and the methods that show in it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kernels/build/build_plan.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/disassembly/sass_check.h"
#include "kernels/lab/laboratory.h"
#include "server/core/files.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

// A text answer stays under 8 kB: half of it is code, half is counts.
constexpr std::size_t kPageBytes = 4000;
constexpr std::size_t kMostFunctions = 8;
constexpr std::size_t kMostCubin = std::size_t{64} << 20U;
constexpr std::size_t kMostOpcodes = 16;

CodeKind kind_of(const Contract& contract) {
  if (is_only_built(contract.implementation)) return CodeKind::amd;
  return contract.device_kind == DeviceKind::cuda ? CodeKind::sass : CodeKind::host;
}

/// The requested function, else the one with most instructions in loops.
const CodeFunction* chosen(const std::vector<CodeFunction>& functions, const std::string& name,
                           CodeKind kind) {
  if (!name.empty()) {
    const auto found = std::ranges::find_if(functions, [&](const CodeFunction& one) {
      return one.name == name || source_name(one.name) == name;
    });
    return found == functions.end() ? nullptr : &*found;
  }
  const auto weight = [&](const CodeFunction& one) {
    const auto code = summary_of(one, kind);
    return std::pair(code.in_loops, code.instructions);
  };
  return &*std::ranges::max_element(functions, {}, weight);
}

std::string line_of(const Instruction& instruction, std::uint64_t first) {
  return fmt::format("{:>2} {:>5} {:04x} {:<5}{} {}\n",
                     instruction.loop_depth > 0 ? std::to_string(instruction.loop_depth) : "",
                     instruction.line > 0 ? "L" + std::to_string(instruction.line) : "",
                     instruction.address - first, instruction.guard, instruction.opcode,
                     instruction.operands);
}

/// Lines from `first` on, as many as fit on a page.
template <class Line>
void fill_page(Disassembly& page, std::size_t first, std::size_t count, const Line& line) {
  for (std::size_t i = first; i < count; ++i) {
    auto text = line(i);
    if (page.text.size() + text.size() > kPageBytes && !page.text.empty()) {
      page.next_line = static_cast<int>(i);
      return;
    }
    page.text += text;
  }
}

/// Keeps the most frequent opcodes; the others are summed up.
void trim(FunctionCode& code) {
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [opcode, count] : code.opcodes) order.emplace_back(-count, opcode);
  std::ranges::sort(order);
  for (std::size_t i = kMostOpcodes; i < order.size(); ++i) {
    code.opcodes.erase(order[i].second);
    code.opcodes["others"] -= order[i].first;
  }
}

/// Counts of the largest functions.
std::vector<FunctionCode> summaries(const std::vector<CodeFunction>& functions, CodeKind kind) {
  std::vector<FunctionCode> all;
  for (const auto& function : functions) all.push_back(summary_of(function, kind));
  std::ranges::stable_sort(all, std::greater{}, &FunctionCode::instructions);
  all.resize(std::min(all.size(), kMostFunctions));
  for (auto& code : all) trim(code);
  return all;
}

Result<std::vector<const MethodSignature*>> wanted(const std::vector<std::string>& ids) {
  std::vector<const MethodSignature*> signatures;
  for (const auto& id : ids) {
    const auto* const signature = signature_of(id);
    if (signature == nullptr)
      return not_found(fmt::format("methods: there is no method \"{}\"", id),
                       "list_methods shows the ids.");
    signatures.push_back(signature);
  }
  if (ids.empty())
    for (const auto& signature : method_signatures()) signatures.push_back(&signature);
  return signatures;
}

/// Of the first library with GPU code among those that a Python kernel compiled; empty without one.
std::optional<Listing> listing_of_extensions(const std::vector<std::filesystem::path>& libraries,
                                             CodeView view, const Toolchain& toolchain,
                                             const std::stop_token& stop) {
  for (const auto& library : libraries) {
    auto listing = view == CodeView::sass ? sass_of_library(library, toolchain, stop)
                                          : ptx_of_library(library, toolchain, stop);
    if (listing && !listing->text.empty()) return *std::move(listing);
  }
  return std::nullopt;
}

}  // namespace

Result<Listing> LabParts::listing_of(const Contract& contract, const Candidate& candidate,
                                     CodeView view, const CallContext& call) const {
  const auto& toolchain = builder.toolchain();
  const auto& stop = call.stop();
  if (contract.implementation == Implementation::host_python)
    return unavailable("a Python kernel for the host has no machine code of its own");
  if (is_python(contract.implementation)) {
    const auto cache = cache_of(candidate.build.build_key);
    const auto files = cache.files(view == CodeView::sass ? ".cubin" : ".ptx");
    if (files.empty())
      if (auto listing = listing_of_extensions(cache.files(".so"), view, toolchain, stop))
        return *std::move(listing);
    if (files.empty())
      return not_found("no GPU code of the kernel has been compiled yet",
                       "Call check_correctness first: it compiles the kernel.");
    if (view == CodeView::sass) return sass_of_cubins(files, toolchain, stop);
    Listing listing{"as compiled", ""};
    for (const auto& file : files) listing.text += read_file(file).value_or("");
    std::erase(listing.text, '\0');  // some compilers end their files with it
    return listing;
  }
  auto library = library_path(contract, candidate, call);
  if (!library) return library.error();
  if (is_only_built(contract.implementation)) return amd_code_of(*library, toolchain, stop);
  if (contract.device_kind == DeviceKind::host) return host_code_of(*library, toolchain, stop);
  return view == CodeView::sass ? sass_of_library(*library, toolchain, stop)
                                : ptx_of_library(*library, toolchain, stop);
}

Result<std::vector<std::string>> LabParts::gpu_codes_of(const Contract& contract,
                                                        const Candidate& candidate,
                                                        const CallContext& call) const {
  if (contract.device_kind != DeviceKind::cuda)
    return unavailable("this kernel runs on the processor");
  if (!is_python(contract.implementation)) {
    auto library = library_path(contract, candidate, call);
    if (!library) return library.error();
    return cubins_of_library(*library, builder.toolchain(), call.stop());
  }
  std::vector<std::string> codes;
  for (const auto& file : cache_of(candidate.build.build_key).files(".cubin")) {
    auto code = read_file(file, kMostCubin);
    if (!code) return code.error();
    codes.push_back(*std::move(code));
  }
  if (!codes.empty()) return codes;
  for (const auto& library : cache_of(candidate.build.build_key).files(".so")) {
    auto inside = cubins_of_library(library, builder.toolchain(), call.stop());
    if (inside && !inside->empty()) return inside;
  }
  return codes;
}

Result<Disassembly> Laboratory::disassemble(const Contract& contract, const Candidate& candidate,
                                            const DisassemblyRequest& request, CallContext& call) {
  if (request.view == CodeView::ptx && language_of(contract.implementation) != Language::cuda)
    return invalid_argument("kind: only kernels for NVIDIA GPUs have ptx", "Leave kind out.");
  auto listing = listing_of(contract, candidate, request.view, call);
  if (!listing) return listing.error();
  Disassembly page;
  page.disassembler = listing->program;
  const auto first = static_cast<std::size_t>(std::max(0, request.first_line));
  if (request.view == CodeView::ptx) {
    const auto lines = lines_of(listing->text);
    page.shown = "ptx";
    fill_page(page, first, lines.size(),
              [&](std::size_t i) { return std::string(lines[i]) + "\n"; });
    return page;
  }
  const auto kind = kind_of(contract);
  const auto functions = read_code(
      listing->text, kind, name_to_compile(candidate.source, language_of(contract.implementation)));
  if (functions.empty()) return not_found("no code could be read from the binary");
  page.functions = summaries(functions, kind);
  const auto* const function = chosen(functions, request.function, kind);
  if (function == nullptr) {
    std::string names;
    for (const auto& one : functions) names += (names.empty() ? "" : ", ") + source_name(one.name);
    return not_found(fmt::format("function: there is no \"{}\"", request.function),
                     fmt::format("The binary has: {}.", names.substr(0, 500)));
  }
  page.shown = source_name(function->name);
  const auto& code = function->instructions;
  fill_page(page, first, code.size(),
            [&](std::size_t i) { return line_of(code[i], code.front().address); });
  return page;
}

Result<SassCheck> Laboratory::check_sass(const Contract& contract, const Candidate& candidate,
                                         const Candidate* parent,
                                         const std::vector<std::string>& ids, CallContext& call) {
  auto signatures = wanted(ids);
  if (!signatures) return signatures.error();
  SassCheck check;
  check.candidate_digest = candidate.build.binary_digest;
  check.arch = contract.arch;
  const auto unknown = [&](const std::string& why) {
    check.unavailable = why;
    for (const auto* signature : *signatures)
      check.methods.push_back(
          {std::string(signature->id), CodeVerdict::unknown, {}, {}, "nothing was disassembled"});
    return check;
  };
  if (contract.device_kind == DeviceKind::host)
    return unknown("signatures exist only for NVIDIA GPU code; this kernel runs on the host");
  auto own = listing_of(contract, candidate, CodeView::sass, call);
  if (!own) {
    if (call.canceled()) return own.error();
    return unknown(own.error().message + ". " + own.error().hint);
  }
  check.disassembler = own->program;
  const auto functions = read_code(own->text, CodeKind::sass);
  if (functions.empty()) return unknown("no GPU code could be read from the binary");
  std::optional<OpcodeCounts> before;
  std::optional<Listing> parents;
  if (parent) {
    auto listing = listing_of(contract, *parent, CodeView::sass, call);
    if (listing) {
      parents = *std::move(listing);
      before.emplace(read_code(parents->text, CodeKind::sass));
      check.parent_digest = parent->build.binary_digest;
    }
  }
  const OpcodeCounts counts(functions);
  for (const auto* signature : *signatures)
    check.methods.push_back(verdict_of(*signature, counts, before ? &*before : nullptr));
  return check;
}

}  // namespace ratchet

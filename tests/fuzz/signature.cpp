// A signature that is accepted can be declared: its types, with any names, are the same parameters
// again. The text that two versions are compared by does not depend on white space and comments
// around it, and is a part of the source.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/source/signature.h"
#include "server/runs/records/source_text.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

void check_declared(const Signature& signature) {
  std::string list;
  for (std::size_t i = 0; i < signature.types.size(); ++i)
    list += fmt::format("{}{} p{}", i == 0 ? "" : ", ", signature.types[i], i);
  const auto again = parse_signature(
      fmt::format("extern \"C\" void {}({});", signature.entry, list), signature.entry);
  require(again.has_value(), "a signature can be declared");
  require(std::ranges::equal(again->parameters, signature.parameters,
                             [](const Parameter& a, const Parameter& b) {
                               return a.kind == b.kind && a.dtype == b.dtype &&
                                      a.is_const == b.is_const;
                             }),
          "its declaration has the same parameters");
}

void check_signature(std::string_view source, const Dialect& dialect) {
  const auto signature = parse_signature(source, "solve", dialect);
  if (!signature) {
    require(
        signature.error().code == ErrorCode::invalid_argument && !signature.error().hint.empty(),
        "a refusal says what to do");
    return;
  }
  require(signature->entry == "solve" && signature->types.size() == signature->parameters.size(),
          "every parameter has a type");
  for (const auto& parameter : signature->parameters)
    require(!parameter.name.empty(), "every parameter has a name");
  require(!declaration_header(*signature).empty(), "there is a declaration");
  if (!signature->device) check_declared(*signature);
}

void check_stripped(std::string_view source, bool python) {
  const auto text = stripped_source(source, python);
  const std::string lead = python ? "# \"note\n\t" : "/* ' */ // \"note\n\t";
  require(stripped_source(lead + std::string(source), python) == text,
          "a comment before a source changes nothing");
  auto at = source.begin();
  for (const char c : text) {
    at = std::find(at, source.end(), c);
    require(at != source.end(), "what is left is a part of the source");
    ++at;
  }
}

}  // namespace

void signature(std::string_view bytes) {
  check_signature(bytes, {});
  check_signature(bytes, {.language = Language::cpp, .flags = {"-DN=4", "-UDEBUG"}});
  check_signature(bytes, {.device_entry = true});
  for (const auto& name : kernel_names(bytes)) require(!name.empty(), "a kernel has a name");
  for (const bool python : {false, true}) check_stripped(bytes, python);
}

}  // namespace ratchet::fuzz

#include "kernels/source/size_dispatch.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <set>

#include "kernels/source/signature.h"

namespace ratchet {
namespace {

bool word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The end of a comment or literal that begins at `at`; `at` if none begins there.
std::size_t past_opaque(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at);
  const auto past = [&](std::string_view end, std::size_t from) {
    const auto found = text.find(end, at + from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return past("*/", 2);
  if (rest.starts_with("R\"")) {
    const auto open = rest.find('(');
    if (open == std::string_view::npos) return text.size();
    return past(")" + std::string(rest.substr(2, open - 2)) + "\"", open);
  }
  const bool digits_before = at > 0 && word(text[at - 1]);  // 1'000
  if (rest.front() != '"' && (rest.front() != '\'' || digits_before)) return at;
  auto stop = at + 1;
  while (stop < text.size() && text[stop] != rest.front() && text[stop] != '\n')
    stop += text[stop] == '\\' ? 2 : 1;
  return std::min(stop + 1, text.size());
}

/// The text with one identifier renamed.
std::string renamed(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto end = past_opaque(text, at); end > at) {
      out += text.substr(at, end - at);
      at = end;
    } else if (word(text[at])) {
      auto stop = at;
      while (stop < text.size() && word(text[stop])) ++stop;
      const auto name = text.substr(at, stop - at);
      out += name == from ? to : name;
      at = stop;
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// A variant's text without its includes, plus what it includes and defines.
struct Parts {
  std::string body;
  std::vector<std::string> includes;
  std::vector<std::string> macros;
};

std::string directive_of(std::string_view line) {
  auto at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || line[at] != '#') return "";
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return "";
  auto stop = at;
  while (stop < line.size() && word(line[stop])) ++stop;
  return std::string(line.substr(at, stop - at));
}

Parts parts_of(std::string_view text) {
  Parts parts;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    const auto directive = directive_of(line);
    if (directive == "include") {
      parts.includes.emplace_back(line);
      parts.body += '\n';
    } else {
      if (directive == "define") {
        const auto at = line.find_first_not_of(" \t", line.find("define") + 6);
        auto stop = at;
        while (stop < line.size() && word(line[stop])) ++stop;
        if (at < stop) parts.macros.emplace_back(line.substr(at, stop - at));
      }
      parts.body += std::string(line) + '\n';
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> dims_of(const Contract& contract) {
  std::vector<std::string> names;
  for (const auto& parameter : contract.parameters)
    if (parameter.kind == ParameterKind::dim) names.push_back(parameter.name);
  return names;
}

std::string places(const Dims& dims, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    const auto found = dims.find(name);
    const double value = found == dims.end() ? 1 : static_cast<double>(found->second);
    text += fmt::format("{}{:.6f}", text.empty() ? "" : ", ", std::log2(value));
  }
  return text;
}

/// Parameters of the entry: as declared, as passed on, and the dims among them.
struct Call {
  std::string declared, passed;
  std::vector<std::string> logs;
};

Call call_of(const Contract& contract, const Signature& signature) {
  Call call;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    const char* const comma = i == 0 ? "" : ", ";
    call.declared += fmt::format("{}{} {}", comma, signature.types[i], name);
    call.passed += comma + name;
    if (contract.parameters.at(i).kind == ParameterKind::dim)
      call.logs.push_back(fmt::format("std::log2(static_cast<double>({}))", name));
  }
  return call;
}

constexpr std::string_view kPythonEntry = "run_kernel";  // whatever entry the contract names
constexpr std::string_view kHead =
    "Generated: calls, for each size, the variant that was fastest "
    "at the nearest case.";

Result<std::string> cpp_source(const Contract& contract, const std::vector<Variant>& variants,
                               const std::vector<Route>& routes, std::size_t fallback) {
  const Dialect dialect{language_of(contract.implementation), contract.flags, false};
  const auto signature = parse_signature(variants.at(fallback).text, contract.entry, dialect);
  if (!signature) return signature.error();
  std::string text = fmt::format("// {}\n#include <cmath>\n", kHead);
  std::set<std::string> included;
  std::string bodies;
  for (const auto& variant : variants) {
    const auto parts = parts_of(
        renamed(variant.text, contract.entry, fmt::format("{}_{}", contract.entry, variant.name)));
    for (const auto& line : parts.includes)
      if (included.insert(line).second) text += line + "\n";
    bodies += fmt::format("\nnamespace variant_{} {{\n{}\n}}  // namespace variant_{}\n",
                          variant.name, parts.body, variant.name);
    for (const auto& macro : parts.macros) bodies += fmt::format("#undef {}\n", macro);
  }
  const auto call = call_of(contract, *signature);
  const auto names = dims_of(contract);
  text += bodies;
  text += fmt::format("\nextern \"C\" void {}({}) {{\n", contract.entry, call.declared);
  text += fmt::format("  struct Route {{ double place[{}]; int variant; }};\n", names.size());
  text += "  static const Route routes[] = {\n";
  for (const auto& route : routes)
    text += fmt::format("      {{{{{}}}, {}}},\n", places(route.dims, names), route.variant);
  text += fmt::format("  }};\n  const double place[{}] = {{{}}};\n", names.size(),
                      fmt::join(call.logs, ", "));
  text += fmt::format("  int chosen = {};\n  double nearest = 1e30;\n", fallback);
  text += fmt::format(
      "  for (const Route& route : routes) {{\n    double distance = 0;\n"
      "    for (int i = 0; i < {}; ++i) distance += std::fabs(route.place[i] - place[i]);\n"
      "    if (distance < nearest) {{\n      nearest = distance;\n      chosen = route.variant;\n"
      "    }}\n  }}\n  switch (chosen) {{\n",
      names.size());
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (i != fallback)
      text += fmt::format("    case {}:\n      return variant_{}::{}_{}({});\n", i,
                          variants[i].name, contract.entry, variants[i].name, call.passed);
  text +=
      fmt::format("    default:\n      return variant_{}::{}_{}({});\n  }}\n}}\n",
                  variants[fallback].name, contract.entry, variants[fallback].name, call.passed);
  return text;
}

/// A Python string literal with this text.
std::string python_text(std::string_view text) {
  std::string out = "(\n";
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out += "    \"";
    for (const char c : text.substr(0, end)) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\r') continue;
      out += c;
    }
    out += "\\n\"\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + ")";
}

std::string python_source(const Contract& contract, const std::vector<Variant>& variants,
                          const std::vector<Route>& routes, std::size_t fallback) {
  const auto names = dims_of(contract);
  std::string text = fmt::format(
      "# {}\nimport linecache\nimport math\nimport types\n\n\n"
      "def _module(name, text):\n"
      "    file_name = f\"<{{name}}>\"\n"
      "    linecache.cache[file_name] = (len(text), None, text.splitlines(True), file_name)\n"
      "    module = types.ModuleType(name)\n"
      "    module.__file__ = file_name\n"
      "    exec(compile(text, file_name, \"exec\"), module.__dict__)\n"
      "    return module\n\n\n_variants = [\n",
      kHead);
  for (const auto& variant : variants)
    text += fmt::format("    _module(\"variant_{}\", {}).{},\n", variant.name,
                        python_text(variant.text), kPythonEntry);
  text += "]\n_routes = [\n";
  for (const auto& route : routes)
    text += fmt::format("    (({},), {}),\n", places(route.dims, names), route.variant);
  std::string quoted;
  for (const auto& name : names) quoted += fmt::format("\"{}\", ", name);
  text += fmt::format(
      "]\n\n\ndef {}(**arguments):\n"
      "    place = [math.log2(arguments[name]) for name in ({})]\n"
      "    chosen, nearest = {}, math.inf\n"
      "    for route, variant in _routes:\n"
      "        distance = sum(abs(a - b) for a, b in zip(route, place))\n"
      "        if distance < nearest:\n"
      "            chosen, nearest = variant, distance\n"
      "    return _variants[chosen](**arguments)\n",
      kPythonEntry, quoted, fallback);
  return text;
}

}  // namespace

Result<std::string> dispatcher_source(const Contract& contract,
                                      const std::vector<Variant>& variants,
                                      const std::vector<Route>& routes, std::size_t fallback) {
  if (contract.launch)
    return unavailable(
        "a device-only kernel has no host function that could choose between variants",
        "Write the variants with a host entry.");
  if (dims_of(contract).empty())
    return unavailable("the kernel has no integer parameter by which a variant could be chosen",
                       "No dispatcher is needed: one variant serves all cases of this task.");
  if (contract.signature)
    return unavailable(
        fmt::format("variants of a {} are not chosen by size", name_of(*contract.call)),
        "Choose by the sizes of the arguments within one kernel.");
  if (is_python(contract.implementation))
    return python_source(contract, variants, routes, fallback);
  return cpp_source(contract, variants, routes, fallback);
}

}  // namespace ratchet

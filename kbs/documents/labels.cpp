#include "kbs/documents/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "server/core/fields.h"
#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

struct DeviceName {
  std::string_view name;
  std::string_view architecture;
};

// Compute capabilities: CUDA C++ Programming Guide; gfx names: ROCm accelerator table.
constexpr std::array kDevices{DeviceName{"blackwell", "sm100"},
                              DeviceName{"b100", "sm100"},
                              DeviceName{"b200", "sm100"},
                              DeviceName{"gb200", "sm100"},
                              DeviceName{"b300", "sm103"},
                              DeviceName{"gb300", "sm103"},
                              DeviceName{"hopper", "sm90"},
                              DeviceName{"h100", "sm90"},
                              DeviceName{"h200", "sm90"},
                              DeviceName{"h800", "sm90"},
                              DeviceName{"h20", "sm90"},
                              DeviceName{"gh200", "sm90"},
                              DeviceName{"ampere", "sm80"},
                              DeviceName{"a100", "sm80"},
                              DeviceName{"a800", "sm80"},
                              DeviceName{"rtx3090", "sm86"},
                              DeviceName{"a10", "sm86"},
                              DeviceName{"ada", "sm89"},
                              DeviceName{"l4", "sm89"},
                              DeviceName{"l40s", "sm89"},
                              DeviceName{"rtx4090", "sm89"},
                              DeviceName{"rtx5090", "sm120"},
                              DeviceName{"mi300x", "gfx942"},
                              DeviceName{"mi308x", "gfx942"},
                              DeviceName{"mi300", "gfx942"},
                              DeviceName{"cdna3", "gfx942"},
                              DeviceName{"mi355x", "gfx950"},
                              DeviceName{"mi350x", "gfx950"},
                              DeviceName{"cdna4", "gfx950"},
                              DeviceName{"blackwellultra", "sm103"},
                              DeviceName{"blackwellgeforce", "sm120"},
                              DeviceName{"volta", "sm70"},
                              DeviceName{"v100", "sm70"},
                              DeviceName{"turing", "sm75"},
                              DeviceName{"t4", "sm75"}};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// `sm100a` → `sm100`; empty when the name is not a compute capability.
std::string compute_capability(std::string_view squeezed_name) {
  for (const std::string_view prefix : {"sm", "compute", "arch"}) {
    if (!squeezed_name.starts_with(prefix)) continue;
    auto digits = squeezed_name.substr(prefix.size());
    if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
    if (all_digits(digits) && digits.size() >= 2 && digits.size() <= 3)
      return "sm" + std::string(digits);
  }
  return {};
}

/// The architecture that a single word names; empty when it names none.
std::string named_architecture(std::string_view word) {
  auto name = squeezed(word);
  if (auto capability = compute_capability(name); !capability.empty()) return capability;
  if (name.starts_with("gfx") && name.size() >= 6) return name;
  for (const auto& device : kDevices)
    if (device.name == name) return std::string(device.architecture);
  return {};
}

/// A cheap test that rejects most other words: architectures contain a digit or are one of a few
/// names.
bool may_name(std::string_view word) {
  if (std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; })) {
    // Plain numbers and the hashes in a diff begin with a digit.
    const char first = word.front();
    return first < '0' || first > '9';
  }
  if (word == "sm" || word == "SM" || word == "compute") return true;
  constexpr std::string_view kFirst = "abhtvABHTV";
  constexpr std::string_view kLast = "alregALREG";  // ada, volta; hopper; ampere; blackwell; turing
  return kFirst.find(word.front()) != std::string_view::npos &&
         kLast.find(word.back()) != std::string_view::npos;
}

void add_named(std::string_view text, std::size_t shortest, std::vector<std::string>& found) {
  const auto is_part = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = 0; at < text.size();) {
    if (!is_part(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_part(static_cast<unsigned char>(text[end]))) ++end;
    // "sm_90a", "compute_100": the number follows the underscore.
    const auto word = text.substr(at, end - at);
    auto joined = end;
    if (end < text.size() && text[end] == '_' &&
        (word == "sm" || word == "SM" || word == "compute"))
      for (++joined; joined < text.size() && is_part(static_cast<unsigned char>(text[joined]));)
        ++joined;
    const bool fits = joined - at >= shortest && word.size() >= 2 && word.size() <= 12;
    if (fits && may_name(word)) {
      auto name = named_architecture(text.substr(at, joined - at));
      if (!name.empty() && std::ranges::find(found, name) == found.end())
        found.push_back(std::move(name));
    }
    at = std::max(end, joined);
  }
}

}  // namespace

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += lower(c);
  return out;
}

std::string normal_architecture(std::string_view name) {
  // A driver says more: "NVIDIA GeForce RTX 4090", "NVIDIA A100-SXM4-80GB".
  for (std::size_t at = 0; at < name.size();) {
    const auto rest = name.substr(at);
    const auto end = std::min(rest.find_first_of(" -"), rest.size());
    for (const auto part : {rest, rest.substr(0, end)})
      if (auto known = named_architecture(part); !known.empty()) return known;
    at += end + 1;
  }
  return squeezed(name);
}

std::vector<ArchitectureLabel> label_architectures(const std::vector<std::string>& declared,
                                                   Scope scope, std::string_view text) {
  std::vector<ArchitectureLabel> labels;
  const auto add = [&](const std::string& name, LabelOrigin origin) {
    const bool known =
        std::ranges::any_of(labels, [&](const auto& label) { return label.name == name; });
    if (!known) labels.push_back({name, origin});
  };
  if (scope != Scope::prs) {
    for (const auto& name : declared) add(normal_architecture(name), LabelOrigin::declared);
    return labels;
  }
  const bool default_only =
      declared.size() == 1 && normal_architecture(declared.front()) == "sm100";
  for (const auto& name : declared)
    add(normal_architecture(name), default_only ? LabelOrigin::unverified : LabelOrigin::declared);
  derive_architectures(labels, text);
  return labels;
}

namespace {

void derive(std::vector<ArchitectureLabel>& labels, std::string_view text, std::size_t shortest) {
  std::vector<std::string> named;
  add_named(text, shortest, named);
  for (const auto& name : named) {
    const auto known = std::ranges::find(labels, name, &ArchitectureLabel::name);
    if (known == labels.end())
      labels.push_back({name, LabelOrigin::derived});
    else if (known->origin == LabelOrigin::unverified)
      known->origin = LabelOrigin::derived;
  }
}

}  // namespace

void derive_architectures(std::vector<ArchitectureLabel>& labels, std::string_view text) {
  derive(labels, text, 2);
}

void derive_architectures_of_code(std::vector<ArchitectureLabel>& labels, std::string_view code) {
  derive(labels, code, 4);
}

std::string label_list(const std::vector<ArchitectureLabel>& labels) {
  std::string out;
  for (const auto& label : labels)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", label.name, name_of(label.origin));
  return out;
}

std::string facet_value(std::string_view value) {
  std::string out(value);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c == '_' || c == ' ' ? '-' : lower(c); });
  return out;
}

bool is_document_id(std::string_view id) {
  if (id.empty() || id.size() > 240 || id.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(
      id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; });
}

}  // namespace ratchet::kbs

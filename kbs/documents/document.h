#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"

namespace ratchet::kbs {

/// The kind of source that a document comes from. Queries filter by it, and ranking treats the
/// scopes differently.
enum class Scope : std::uint8_t { wiki, docs, blogs, contests, prs, diffs, snapshots };
constexpr auto enum_names(Scope) {
  using enum Scope;
  return as_written<wiki, docs, blogs, contests, prs, diffs, snapshots>();
}

/// Fields of the full-text index, in column order.
enum class FtsField : std::uint8_t { id, title, tags, symptoms, headings, body };
inline constexpr std::size_t kFtsFields = 6;
/// Number of occurrences in each field.
using FieldCounts = std::array<std::uint16_t, kFtsFields>;
inline constexpr std::array<std::string_view, kFtsFields> kFtsFieldNames{
    "id", "title", "tags", "symptoms", "headings", "body"};

/// Where an architecture label comes from. Filters accept only the first two.
enum class LabelOrigin : std::uint8_t {
  declared,    ///< written by the author of the page
  derived,     ///< found in the title, the paths or the description
  unverified,  ///< a generator's default that nothing in the document supports
};
constexpr auto enum_names(LabelOrigin) {
  using enum LabelOrigin;
  return as_written<declared, derived, unverified>();
}

struct ArchitectureLabel {
  std::string name;  ///< normalized: sm100, gfx942
  LabelOrigin origin = LabelOrigin::declared;
};

/// One metric of a hardware page, with its line number.
struct SpecRow {
  std::string metric, unit, qualifier, kind, source;
  double value = 0;
  int line = 0;  ///< in the page's file, counted from 1
};

/// A source that a page cites.
struct SourceNote {
  std::string id, title, publisher;
};

/// What a page of code shows the cure of.
struct CureNote {
  std::string id;      ///< of a pattern or method page
  std::string region;  ///< of the code
};

/// A page or record, ready to be indexed.
struct Document {
  std::string id, title, kind, repo, date, confidence, license;
  Scope scope = Scope::docs;
  std::string path;              ///< of its file, relative to the corpus root
  std::string text;              ///< the whole file, or the record's body
  std::string description;       ///< text of the record joined to the page
  std::string description_path;  ///< file:line of that record
  std::string product;           ///< exact product name, on hardware pages
  std::string code_evidence;     ///< measured or compiled: how its complete code was tried
  std::string measured_on;       ///< the device of its measured code
  bool has_code = false;
  std::vector<std::string> tags, aliases, symptoms, languages, extra_terms;
  std::vector<std::string> proposes;  ///< ids of the techniques that a pattern page proposes
  std::vector<CureNote> cures;
  std::vector<ArchitectureLabel> architectures;
  std::vector<SourceNote> sources;
  std::vector<SpecRow> specs;
};

/// An input that was not indexed, and why.
struct Problem {
  std::string path;
  std::string reason;
};

}  // namespace ratchet::kbs

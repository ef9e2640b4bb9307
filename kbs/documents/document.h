#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet::kbs {

/// Where a document belongs; ranked apart, filtered by name.
enum class Scope : std::uint8_t { wiki, docs, blogs, contests, prs, diffs, snapshots };
constexpr auto enum_names(Scope) {
  return std::array{std::pair{Scope::wiki, "wiki"},
                    std::pair{Scope::docs, "docs"},
                    std::pair{Scope::blogs, "blogs"},
                    std::pair{Scope::contests, "contests"},
                    std::pair{Scope::prs, "prs"},
                    std::pair{Scope::diffs, "diffs"},
                    std::pair{Scope::snapshots, "snapshots"}};
}

/// Fields of the full-text index, in column order.
enum class FtsField : std::uint8_t { id, title, tags, symptoms, headings, body };
inline constexpr std::size_t kFtsFields = 6;
/// How often something stands in each field.
using FieldCounts = std::array<std::uint16_t, kFtsFields>;
inline constexpr std::array<std::string_view, kFtsFields> kFtsFieldNames{
    "id", "title", "tags", "symptoms", "headings", "body"};

/// Where an architecture label comes from; only the first two are believed by filters.
enum class LabelOrigin : std::uint8_t {
  declared,    ///< written by the author of the page
  derived,     ///< read off the title, the paths or the description
  unverified,  ///< a generator's default that nothing in the document supports
};
constexpr auto enum_names(LabelOrigin) {
  return std::array{std::pair{LabelOrigin::declared, "declared"},
                    std::pair{LabelOrigin::derived, "derived"},
                    std::pair{LabelOrigin::unverified, "unverified"}};
}

struct ArchitectureLabel {
  std::string name;  ///< normalised: sm100, gfx942
  LabelOrigin origin = LabelOrigin::declared;
};

/// One row of a hardware page and the line it stands on.
struct SpecRow {
  std::string metric, unit, qualifier, kind, source;
  double value = 0;
  int line = 0;  ///< counted from 1, in the page's file
};

struct SourceNote {
  std::string id, title, publisher;
};

/// A page or record on its way into the index.
struct Document {
  std::string id, title, kind, repo, date, confidence, license;
  Scope scope = Scope::docs;
  std::string path;              ///< of the file, relative to the corpus root
  std::string text;              ///< the whole file, or the record's body
  std::string description;       ///< text of a joined record
  std::string description_path;  ///< file:line of that record
  std::string product;           ///< hardware pages: the exact product
  bool has_code = false;
  std::vector<std::string> tags, aliases, symptoms, languages, extra_terms;
  std::vector<std::string> proposes;  ///< ids of techniques that a pattern page names
  std::vector<ArchitectureLabel> architectures;
  std::vector<SourceNote> sources;
  std::vector<SpecRow> specs;
};

/// Something that was not indexed, and why.
struct Problem {
  std::string path;
  std::string reason;
};

}  // namespace ratchet::kbs

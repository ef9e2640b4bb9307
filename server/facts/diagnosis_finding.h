#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// How far the numbers of a rule are beyond their thresholds.
enum class Confidence { low, medium, high };
constexpr auto enum_names(Confidence) {
  using enum Confidence;
  return as_written<low, medium, high>();
}

/// What timing the kernel under another condition said about a finding. Consistent: the time
/// depends on what the finding names, but its cause was not removed.
enum class FindingOutcome { confirmed, consistent, undecided, not_confirmed };
constexpr auto enum_names(FindingOutcome) {
  using enum FindingOutcome;
  return as_written<confirmed, consistent, undecided, not_confirmed>();
}

/// A diagnosed fact with its numbers and where to read more.
struct DiagnosisFinding {
  std::string id;  ///< id of a pattern page of the wiki, e.g. "pattern-tail-effect"
  std::string title;
  std::string evidence;  ///< metric names and values
  double headroom = 0;   ///< estimated fraction of the time that could be saved, 0..1
  std::string query;     ///< a suitable knowledge query
  Confidence confidence = Confidence::medium;
  std::vector<std::string> methods;         ///< ids of methods that address it, best first
  std::optional<FindingOutcome> outcome;    ///< if an intervention spoke about it
  std::optional<std::string> intervention;  ///< that one, with its figures

  static constexpr void fields(auto&& visit) {
    using D = DiagnosisFinding;
    visit(required<&D::id>("Id of the pattern page."), required<&D::title>("Title."),
          required<&D::evidence>("Metrics and values it is based on."),
          required<&D::headroom>("Estimated share of the time that could be saved."),
          required<&D::query>("A suitable query for query_kbs."),
          optional<&D::confidence>("low, medium or high."),
          optional<&D::methods>("Ids of methods that address it."),
          optional<&D::outcome>("What an intervention says: confirmed, consistent, undecided or "
                                "not_confirmed."),
          optional<&D::intervention>("That intervention, with its figures."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<DiagnosisFinding>();
}  // namespace ratchet::fields_detail

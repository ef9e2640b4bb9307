#include "kbs/query/context_boost.h"

#include <fmt/format.h>

#include <string_view>

#include "kbs/documents/labels.h"

namespace ratchet::kbs {
namespace {

enum Bit : std::uint8_t { kChip = 1, kOtherChip = 2, kLanguage = 4, kBound = 8, kDiagnosed = 16 };

// Strong enough to order equals, too weak to lift a page that hardly matches the words.
constexpr double kForChip = 1.1;
constexpr double kForOtherChip = 0.9;
constexpr double kForLanguage = 1.05;
constexpr double kForBound = 1.1;
constexpr double kForDiagnosis = 1.25;

class Marker {
 public:
  Marker(Connection& connection, std::vector<std::uint8_t>& bits)
      : connection_(connection), bits_(bits) {}

  Status mark(Bit bit, std::string_view sql, std::string_view value) {
    if (value.empty()) return {};
    auto statement = connection_.prepared(sql);
    if (!statement) return statement.error();
    (*statement)->bind(1, value);
    for (;;) {
      auto row = (*statement)->step();
      if (!row) return row.error();
      if (!*row) return {};
      bits_[static_cast<std::size_t>((*statement)->integer(0))] |= bit;
    }
  }

 private:
  Connection& connection_;
  std::vector<std::uint8_t>& bits_;
};

}  // namespace

Result<Fit> Fit::make(const QuerySituation& situation, Connection& connection, std::size_t rows) {
  Fit fit;
  fit.situation_ = situation;
  if (describe(situation).empty()) return fit;
  fit.bits_.resize(rows);
  Marker marker(connection, fit.bits_);
  Status done;
  if (!situation.architecture.empty()) {
    const auto chip = normal_architecture(situation.architecture);
    done = marker.mark(kChip, "SELECT doc FROM facet WHERE name='architecture' AND value=?", chip);
    if (done)
      done = marker.mark(kOtherChip, "SELECT doc FROM facet WHERE name='architecture' AND value<>?",
                         chip);
  }
  if (done)
    done = marker.mark(kLanguage, "SELECT doc FROM facet WHERE name='language' AND value=?",
                       facet_value(situation.language));
  for (const auto& name : {situation.bound, situation.bound + "-bound"})
    if (done && !situation.bound.empty())
      done = marker.mark(kBound,
                         "SELECT doc FROM facet WHERE name IN ('tag','symptom') AND value=?", name);
  for (const auto& page : situation.findings) {
    if (done) done = marker.mark(kDiagnosed, "SELECT rowid FROM doc WHERE own_id=?", page);
    // What the page of a diagnosed pattern proposes.
    if (done)
      done = marker.mark(kDiagnosed,
                         "SELECT technique.rowid FROM doc AS page JOIN facet ON "
                         "facet.doc=page.rowid AND facet.name='proposes' JOIN doc AS technique ON "
                         "technique.corpus=page.corpus AND technique.own_id=facet.value "
                         "WHERE page.own_id=?",
                         page);
  }
  if (!done) return done.error();
  return fit;
}

double Fit::factor(std::int64_t row) const {
  if (bits_.empty()) return 1;
  const auto bits = bits_[static_cast<std::size_t>(row)];
  double factor = 1;
  if ((bits & kChip) != 0)
    factor *= kForChip;
  else if ((bits & kOtherChip) != 0)
    factor *= kForOtherChip;
  if ((bits & kLanguage) != 0) factor *= kForLanguage;
  if ((bits & kBound) != 0) factor *= kForBound;
  if ((bits & kDiagnosed) != 0) factor *= kForDiagnosis;
  return factor;
}

std::string Fit::reasons(std::int64_t row) const {
  if (bits_.empty()) return {};
  const auto bits = bits_[static_cast<std::size_t>(row)];
  std::vector<std::string> reasons;
  if ((bits & kDiagnosed) != 0) reasons.emplace_back("the diagnosis");
  if ((bits & kBound) != 0) reasons.push_back(situation_.bound + " bound");
  if ((bits & kChip) != 0) reasons.push_back(normal_architecture(situation_.architecture));
  if ((bits & kLanguage) != 0) reasons.push_back(situation_.language);
  return fmt::format("{}", fmt::join(reasons, ", "));
}

std::string describe(const QuerySituation& situation) {
  std::vector<std::string> parts;
  if (!situation.architecture.empty()) parts.push_back(normal_architecture(situation.architecture));
  if (!situation.language.empty()) parts.push_back(situation.language);
  if (!situation.bound.empty()) parts.push_back(situation.bound + " bound");
  for (const auto& finding : situation.findings) parts.push_back(finding);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ratchet::kbs

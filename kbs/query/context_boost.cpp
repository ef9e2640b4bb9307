#include "kbs/query/context_boost.h"

#include <fmt/format.h>

#include <string_view>

#include "kbs/documents/labels.h"

namespace ratchet::kbs {
namespace {

enum Bit : std::uint8_t { kChip = 1, kOtherChip = 2, kLanguage = 4, kBound = 8, kDiagnosed = 16 };

// Strong enough to order equal matches, too weak to lift a page that hardly matches the words.
constexpr double kForChip = 1.1;
constexpr double kForOtherChip = 0.9;
constexpr double kForLanguage = 1.05;
constexpr double kForBound = 1.1;
constexpr double kForDiagnosis = 1.25;

}  // namespace

Result<ContextBoost> ContextBoost::make(const QuerySituation& context, Connection& connection,
                                        std::size_t rows) {
  ContextBoost boost;
  boost.context_ = context;
  if (describe(context).empty()) return boost;
  boost.bits_.resize(rows);
  Status done;
  const auto mark = [&](Bit bit, std::string_view sql, std::string_view value) {
    if (done && !value.empty())
      done = for_each_row(
          connection, sql,
          [&](const Statement& row) {
            boost.bits_[static_cast<std::size_t>(row.integer(0))] |= bit;
          },
          value);
  };
  if (!context.architecture.empty()) {
    const auto chip = normal_architecture(context.architecture);
    mark(kChip, "SELECT doc FROM facet WHERE name='architecture' AND value=?", chip);
    mark(kOtherChip, "SELECT doc FROM facet WHERE name='architecture' AND value<>?", chip);
  }
  mark(kLanguage, "SELECT doc FROM facet WHERE name='language' AND value=?",
       facet_value(context.language));
  if (!context.bound.empty())
    for (const auto& name : {context.bound, context.bound + "-bound"})
      mark(kBound, "SELECT doc FROM facet WHERE name IN ('tag','symptom') AND value=?", name);
  for (const auto& page : context.findings) {
    mark(kDiagnosed, "SELECT rowid FROM doc WHERE own_id=?", page);
    // The techniques that the page of a diagnosed pattern proposes.
    mark(kDiagnosed,
         "SELECT technique.rowid FROM doc AS page JOIN facet ON "
         "facet.doc=page.rowid AND facet.name='proposes' JOIN doc AS technique ON "
         "technique.corpus=page.corpus AND technique.own_id=facet.value "
         "WHERE page.own_id=?",
         page);
    // Code that shows the cure.
    mark(kDiagnosed,
         "SELECT doc FROM facet WHERE name='cures' AND substr(value,1,length(?1)+1)=?1||'#'", page);
  }
  if (!done) return done.error();
  return boost;
}

double ContextBoost::factor(std::int64_t row) const {
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

std::string ContextBoost::reasons(std::int64_t row) const {
  if (bits_.empty()) return {};
  const auto bits = bits_[static_cast<std::size_t>(row)];
  std::vector<std::string> reasons;
  if ((bits & kDiagnosed) != 0) reasons.emplace_back("the diagnosis");
  if ((bits & kBound) != 0) reasons.push_back(context_.bound + " bound");
  if ((bits & kChip) != 0) reasons.push_back(normal_architecture(context_.architecture));
  if ((bits & kLanguage) != 0) reasons.push_back(context_.language);
  return fmt::format("{}", fmt::join(reasons, ", "));
}

std::string describe(const QuerySituation& context) {
  std::vector<std::string> parts;
  if (!context.architecture.empty()) parts.push_back(normal_architecture(context.architecture));
  if (!context.language.empty()) parts.push_back(context.language);
  if (!context.bound.empty()) parts.push_back(context.bound + " bound");
  for (const auto& finding : context.findings) parts.push_back(finding);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ratchet::kbs

#pragma once

// Input and output of tools that analyze a version without changing its stage.

#include <optional>
#include <string>
#include <utility>

#include "server/core/fields.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"
#include "server/facts/profile.h"

namespace ratchet {

/// A snapshot of one version and what is known about it.
struct RunSubject {
  RunId run;
  VersionId version;
  Contract contract;
  Candidate candidate;
  std::optional<Candidate> parent;  ///< kernel of the last correct version before it; empty for v0
  std::optional<Profile> profile;
};

/// The result of an analysis as recorded in the ledger; its form depends on the tool.
struct AnalysisFact {
  std::string tool;
  std::string candidate_digest;
  Json result;

  static constexpr void fields(auto&& visit) {
    using A = AnalysisFact;
    visit(required<&A::tool>(), required<&A::candidate_digest>(), required<&A::result>());
  }
};

template <HasFields Record>
AnalysisFact analysis_of(std::string tool, const RunSubject& subject, const Record& record) {
  return {std::move(tool), subject.candidate.build.binary_digest, encode(record)};
}

/// A file to write with it, below the version's folder. Without text, it holds the result as JSON.
struct AnalysisFile {
  std::string name;
  std::string text;
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<AnalysisFact>();
}  // namespace ratchet::fields_detail

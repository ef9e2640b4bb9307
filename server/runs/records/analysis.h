#pragma once

// A version as the tools see it that look at it and change no stage.

#include <optional>
#include <string>
#include <utility>

#include "server/core/fields.h"
#include "server/facts/build.h"
#include "server/facts/contract.h"
#include "server/facts/profile.h"

namespace ratchet {

/// One version with what is known of it, as it stood when it was asked for.
struct RunSubject {
  RunId run;
  VersionId version;
  Contract contract;
  Candidate candidate;
  std::optional<Candidate> parent;  ///< kernel of the last correct version before; empty for v0
  std::optional<Profile> profile;
};

/// What an analysis found, in the ledger. `result` is the analysis' own record.
struct AnalysisFact {
  std::string tool;
  std::string candidate_digest;
  Json result;

  static constexpr void fields(auto&& visit) {
    using A = AnalysisFact;
    visit(required("tool", &A::tool, ""), required("candidate_digest", &A::candidate_digest, ""),
          required("result", &A::result, ""));
  }
};

template <HasFields Record>
AnalysisFact analysis_of(std::string tool, const RunSubject& subject, const Record& record) {
  return {std::move(tool), subject.candidate.build.binary_digest, encode(record)};
}

/// A file beside it, below the version's folder. No text: the result itself as JSON.
struct AnalysisFile {
  std::string name;
  std::string text;
};

}  // namespace ratchet

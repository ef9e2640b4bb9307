#pragma once

// Ledger rows about knowledge: logged queries and the evidence that cites them.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/knowledge.h"
#include "server/runs/records/run_prose.h"

namespace ratchet {

struct QueryFact {
  std::string query;
  std::string purpose;
  QueryAnswer answer;

  static constexpr void fields(auto&& visit) {
    visit(required<&QueryFact::query>(), required<&QueryFact::purpose>(),
          required<&QueryFact::answer>());
  }
};

/// A metric that the agent named, with the value that the server measured.
struct MetricFact {
  std::string metric;
  std::string kernel;  ///< empty for the whole call
  double value = 0;

  static constexpr void fields(auto&& visit) {
    visit(required<&MetricFact::metric>(), required<&MetricFact::kernel>(),
          required<&MetricFact::value>());
  }
};

/// A cited document, with what the logged query returned for it.
struct CitedDocument {
  std::string id;
  std::string query_id;
  std::string applies_because;
  std::string path;
  std::string confidence;
  std::string content_digest;

  static constexpr void fields(auto&& visit) {
    using C = CitedDocument;
    visit(required<&C::id>(), required<&C::query_id>(), required<&C::applies_because>(),
          required<&C::path>(), required<&C::confidence>(), required<&C::content_digest>());
  }
};

struct EvidenceFact {
  std::vector<MetricFact> facts;
  std::vector<CitedDocument> selected;
  std::vector<RejectedEvidence> rejected;
  std::string decision_link;
  std::vector<std::string> specs;  ///< citations from the knowledge base, verbatim

  static constexpr void fields(auto&& visit) {
    using E = EvidenceFact;
    visit(required<&E::facts>(), required<&E::selected>(), required<&E::rejected>(),
          optional<&E::specs>(), required<&E::decision_link>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<QueryFact>();
extern template const FieldTable& table_of<MetricFact>();
extern template const FieldTable& table_of<CitedDocument>();
extern template const FieldTable& table_of<EvidenceFact>();
}  // namespace ratchet::fields_detail

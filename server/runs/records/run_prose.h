#pragma once

// Evidence and hypothesis as the agent writes them: ids and prose, never measured values.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"

namespace ratchet {

struct SelectedEvidence {
  std::string id;
  std::string query_id;
  std::string applies_because;

  static constexpr void fields(auto&& visit) {
    using S = SelectedEvidence;
    visit(required<&S::id>("Page id a query returned."),
          required<&S::query_id>("The query that returned it."),
          required<&S::applies_because>("Why it fits here.", {.max_length = 2000}));
  }
};

struct RejectedEvidence {
  std::string id;
  std::string reason;

  static constexpr void fields(auto&& visit) {
    visit(required<&RejectedEvidence::id>("Page id or idea."),
          required<&RejectedEvidence::reason>("Why not.", {.max_length = 2000}));
  }
};

/// A hardware figure by name. The calling tool looks it up: figures come from the knowledge base,
/// never from the agent.
struct SpecRequest {
  std::string product;
  std::string metric;
  std::vector<std::string> lines;  ///< citations, or one line saying that it is unknown

  static constexpr void fields(auto&& visit) {
    using S = SpecRequest;
    visit(required<&S::product>("As for lookup_spec.", {.max_length = 100}),
          required<&S::metric>("", {.max_length = 100}));
  }
};

struct EvidenceRequest {
  std::vector<std::string> facts;  ///< metric names; the server fills in the values
  std::vector<SelectedEvidence> selected;
  std::vector<RejectedEvidence> rejected;
  std::string decision_link;
  std::vector<SpecRequest> specs;

  static constexpr void fields(auto&& visit) {
    using E = EvidenceRequest;
    visit(
        required<&E::facts>("Metric names from the profile; values are filled in.",
                            {.max_length = 64}),
        required<&E::selected>("Documents that decide.", {.max_length = 32}),
        optional<&E::rejected>("Documents or ideas turned down.", {.max_length = 32}),
        optional<&E::specs>("Hardware figures; the server cites the line.", {.max_length = 16}),
        required<&E::decision_link>("Symptom → pattern → proposed change.", {.max_length = 4000}));
  }
};

struct ExpectedMovement {
  std::string metric;
  std::string direction;
  std::optional<std::string> amount;

  static constexpr void fields(auto&& visit) {
    using X = ExpectedMovement;
    visit(required<&X::metric>("A metric of the profile."),
          required<&X::direction>("up, down or same."),
          optional<&X::amount>("For example \"-40 %\".", {.max_length = 100}));
  }
};

struct Hypothesis {
  std::string category;
  std::string change;
  std::string rationale;
  std::vector<ExpectedMovement> expected;
  std::string risk;
  std::vector<std::string> evidence;
  std::string accept_if;
  std::string reject_if;

  static constexpr void fields(auto&& visit) {
    using H = Hypothesis;
    visit(required<&H::category>("memory, compute, latency, …", {.max_length = 64}),
          required<&H::change>("Exactly one change.", {.max_length = 2000}),
          required<&H::rationale>("Why it should help.", {.max_length = 4000}),
          required<&H::expected>("Metrics that should move.", {.max_length = 16}),
          required<&H::risk>("Correctness and speed.", {.max_length = 2000}),
          required<&H::evidence>("Page ids of the evidence.", {.max_length = 32}),
          required<&H::accept_if>("Conditions that must all hold, e.g. speedup >= 1.2.",
                                  {.max_length = 1000}),
          required<&H::reject_if>("Conditions of which one is enough.", {.max_length = 1000}));
  }
};

}  // namespace ratchet

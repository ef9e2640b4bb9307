#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "server/runs/ledger/disk.h"
#include "server/runs/ledger/run_store.h"
#include "server/runs/runs.h"

namespace ratchet {
namespace {

void add_changed_texts(Ledger& ledger, const RunState& state, std::vector<Reason>& breaks) {
  std::vector<std::pair<std::string, std::string>> texts(state.artifacts.begin(),
                                                         state.artifacts.end());
  texts.emplace_back("reference", state.contract.reference_blob);
  texts.emplace_back("kernel", state.contract.kernel_blob);
  for (const auto& attempt : state.attempts)
    if (!attempt.source_digest.empty())
      texts.emplace_back("source of row " + std::to_string(attempt.sequence),
                         attempt.source_digest);
  for (const auto& [name, digest] : texts)
    if (const auto text = ledger.blob(digest); !text)
      breaks.push_back({"text_changed", fmt::format("{}: {}", name, text.error().message), name});
}

/// Adds what is wrong with one run.
Status audit_run(RunStore& store, const RunId& run, AuditReport& report) {
  if (auto done = store.finish(run); !done && done.error().code != ErrorCode::not_found)
    return done.error();
  const auto rows = store.ledger().rows(run);
  if (!rows) return rows.error();
  report.rows += static_cast<std::int64_t>(rows->size());
  const auto chain = store.ledger().first_break(run);
  if (!chain) return chain.error();
  if (*chain) report.breaks.push_back(**chain);
  const auto loaded = store.load(run);
  if (!loaded) {
    if (!*chain || rows->empty()) return loaded.error();
    return {};
  }
  const RunState& state = *loaded->state;
  add_changed_texts(store.ledger(), state, report.breaks);
  for (auto& reason : disk::inspect(state, disk::Extent::whole))
    report.breaks.push_back(std::move(reason));
  return {};
}

std::string coverage(const ChainReport& chain) {
  auto text = fmt::format("{} records of all runs, chained since {}", chain.records,
                          chain.since.empty() ? "an unknown time" : chain.since);
  if (chain.linked_later == 0) return text;
  return text + fmt::format(
                    "; {} of them, up to record {}, were written by an older version and "
                    "chained later: what was removed before that is not found",
                    chain.linked_later, chain.last_linked_later);
}

/// Compares the ledger with heads kept outside, and says what that shows.
Status compare_heads(Ledger& ledger, const std::vector<std::string>& kept, AuditReport& report) {
  if (kept.empty()) {
    report.rollback =
        "not looked for: a ledger put back as a whole to an earlier state is intact in itself. "
        "Pass --against with a head that was kept outside (run_status, final_report.md, the "
        "machine's log)";
    return {};
  }
  std::optional<HeadStanding> shown;  // the newest, or the newest that was rolled back
  const auto rank = [](const HeadStanding& one) {
    return std::pair(one.standing == Standing::rolled_back, one.record);
  };
  std::size_t foreign = 0;
  for (const auto& head : kept) {
    const auto standing = ledger.compare(head);
    if (!standing) return standing.error();
    if (standing->standing == Standing::unknown)
      ++foreign;
    else if (!shown || rank(*standing) > rank(*shown))
      shown = *standing;
  }
  if (!shown) {
    report.rollback = fmt::format(
        "unknown: \"{}\" is not a head of this ledger, which seals its heads with its key; copy "
        "one whole, as run_status or `ratchet head` shows it",
        kept.front().substr(0, 80));
    report.breaks.push_back({"unknown_head", report.rollback, std::nullopt});
    return {};
  }
  if (shown->standing == Standing::rolled_back) {
    report.rollback = fmt::format(
        "rolled back: the ledger had reached record {} when the head was kept; that record is "
        "gone, and the ledger ends at record {}",
        shown->record, shown->now);
    report.breaks.push_back({"rolled_back", report.rollback, std::nullopt});
  } else {
    report.rollback =
        shown->standing == Standing::intact
            ? fmt::format("none: record {} is still the last one", shown->record)
            : fmt::format(
                  "none: extended by {} records since record {}, the last one when the "
                  "head was kept",
                  shown->since, shown->record);
  }
  if (foreign > 0)
    report.rollback += fmt::format("; {} heads of other ledgers are left out", foreign);
  return {};
}

}  // namespace

Result<AuditReport> Runs::audit(const std::optional<RunId>& run,
                                const std::vector<std::string>& kept) {
  AuditReport report;
  std::vector<RunId> runs;
  if (run) {
    runs.push_back(*run);
  } else {
    const auto all = store_->ledger().runs(std::numeric_limits<int>::max(), std::nullopt);
    if (!all) return all.error();
    for (const auto& one : *all) runs.push_back(one.run);
  }
  for (const auto& one : runs)
    if (auto done = audit_run(*store_, one, report); !done) return done.error();

  const auto chain = store_->ledger().inspect_chain();
  if (!chain) return chain.error();
  if (chain->broken) report.breaks.push_back(*chain->broken);
  report.ledger = coverage(*chain);
  if (auto head = store_->ledger().kept_head()) report.head = *std::move(head);
  if (auto done = compare_heads(store_->ledger(), kept, report); !done) return done.error();
  report.intact = report.breaks.empty();
  return report;
}

Result<std::string> Runs::ledger_head() {
  return store_->ledger().kept_head();
}

}  // namespace ratchet

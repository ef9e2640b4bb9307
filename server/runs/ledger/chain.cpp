#include "server/runs/ledger/chain.h"

#include <fmt/format.h>

#include <charconv>

#include "server/core/hash.h"
#include "server/runs/ledger/ledger_key.h"

namespace ratchet {
namespace {

constexpr std::size_t kKeptLink = 32;  // hex digits: 128 bits
constexpr std::size_t kKeptCheck = 8;  // against misprints and foreign text
// The chain's own row in `heads`; a run's name is never empty.
constexpr std::string_view kAllRuns = "";

std::string link_of(const std::string& key, bool later, const ChainHead& before,
                    std::int64_t record, std::string_view seal) {
  return seal_with(key, later ? "linked later;" : "link;",
                   {before.link, std::to_string(record), seal});
}

/// The text of a kept head, taken apart.
struct KeptHead {
  std::int64_t record = 0;
  std::string_view link, check;
};

std::optional<KeptHead> parse_kept(std::string_view text) {
  KeptHead kept;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), kept.record);
  const auto digits = static_cast<std::size_t>(stop - text.data());
  if (code != std::errc{} || text.size() != digits + 2 + kKeptLink + kKeptCheck ||
      text[digits] != '-' || text[digits + 1 + kKeptLink] != '-')
    return std::nullopt;
  kept.link = text.substr(digits + 1, kKeptLink);
  kept.check = text.substr(digits + 2 + kKeptLink);
  return kept;
}

std::string check_of(const std::string& key, std::int64_t record, std::string_view link) {
  return seal_with(key, "kept head;", {std::to_string(record), link}).substr(0, kKeptCheck);
}

}  // namespace

Status LedgerChain::begin(const std::string& time) {
  const auto begun =
      database_->integer("SELECT count(*) FROM pragma_table_info('rows') WHERE name='link'");
  if (!begun) return begun.error();
  if (*begun > 0) return {};
  if (auto made = database_->execute("ALTER TABLE rows ADD COLUMN link TEXT"); !made) return made;
  if (auto made = database_->execute("CREATE TABLE chain_start(time TEXT NOT NULL, link TEXT)");
      !made)
    return made;
  auto start = database_->prepare("INSERT INTO chain_start VALUES(?,?)");
  if (!start) return start.error();
  const ChainHead none{0, seal_with(*key_, "chain start;", {time})};
  if (auto done = start->bind(1, time).bind(2, none.link).step(); !done) return done.error();
  if (auto done = set_head(none); !done) return done;
  if (const auto linked = last(); !linked) return linked.error();
  return {};
}

Result<ChainHead> LedgerChain::sealed_head() const {
  auto query = database_->prepare(
      "SELECT sequence, seal, CASE sequence WHEN 0 THEN (SELECT link FROM chain_start) ELSE "
      "(SELECT "
      "link FROM rows WHERE position=heads.sequence) END, (SELECT max(position) FROM rows) FROM "
      "heads WHERE run=?");
  if (!query) return query.error();
  const auto found = query->bind(1, kAllRuns).step();
  if (!found) return found.error();
  ChainHead head;
  if (*found)
    head = {query->integer(0), std::string(query->text(2)), query->integer(3) > query->integer(0)};
  if (!*found || !equal_in_constant_time(query->text(1), seal(head)))
    return Error{ErrorCode::drift,
                 fmt::format("ledger: its last record should be {}, but that record is missing "
                             "or was replaced",
                             *found ? std::to_string(head.record) : "known"),
                 "The state folder was changed from outside: `ratchet audit` shows where. Restore "
                 "it from a backup, or start with another --state-dir."};
  return head;
}

Result<ChainHead> LedgerChain::last() {
  auto head = sealed_head();
  if (!head || !head->more_follow) return head;
  auto rows =
      database_->prepare("SELECT position,seal FROM rows WHERE position>? ORDER BY position");
  if (!rows) return rows.error();
  rows->bind(1, head->record);
  while (true) {
    const auto more = rows->step();
    if (!more) return more.error();
    if (!*more) break;
    const auto record = rows->integer(0);
    *head = {record, link_of(*key_, true, *head, record, rows->text(1))};
    auto update = database_->prepare("UPDATE rows SET link=? WHERE position=?");
    if (!update) return update.error();
    if (auto done = update->bind(1, head->link).bind(2, record).step(); !done) return done.error();
  }
  if (auto done = set_head(*head); !done) return done.error();
  return head;
}

ChainHead LedgerChain::next(const ChainHead& last, const std::string& seal) const {
  return {last.record + 1, link_of(*key_, false, last, last.record + 1, seal)};
}

std::string LedgerChain::seal(const ChainHead& head) const {
  return seal_with(*key_, "head;", {kAllRuns, std::to_string(head.record), head.link});
}

Status LedgerChain::set_head(const ChainHead& head) {
  auto update = database_->prepare("INSERT OR REPLACE INTO heads VALUES(?,?,?)");
  if (!update) return update.error();
  update->bind(1, kAllRuns).bind(2, head.record).bind(3, seal(head));
  if (auto done = update->step(); !done) return done.error();
  return {};
}

Result<ChainReport> LedgerChain::inspect() const {
  ChainReport report;
  const auto broken = [&](const std::string& what) {
    report.broken = Reason{"ledger_broken", "the chain over all runs: " + what, std::nullopt};
    return report;
  };
  auto start = database_->prepare("SELECT time,link FROM chain_start");
  if (!start) return start.error();
  const auto begun = start->step();
  if (!begun) return begun.error();
  if (!*begun) return broken("its start is missing");
  report.since = start->text(0);
  ChainHead at{0, std::string(start->text(1))};
  if (!equal_in_constant_time(at.link, seal_with(*key_, "chain start;", {report.since})))
    return broken("its start was changed");

  auto head = database_->prepare("SELECT sequence,seal FROM heads WHERE run=?");
  if (!head) return head.error();
  const auto sealed = head->bind(1, kAllRuns).step();
  if (!sealed) return sealed.error();
  if (!*sealed) return broken("its head is missing");
  const auto end = head->integer(0);

  auto rows =
      database_->prepare("SELECT position,run,sequence,seal,link FROM rows ORDER BY position");
  if (!rows) return rows.error();
  while (true) {
    const auto more = rows->step();
    if (!more) return more.error();
    if (!*more) break;
    const auto record = rows->integer(0);
    const auto link = rows->text(4);
    if (record > end && link.empty()) continue;  // of another version, not linked yet
    const bool later =
        equal_in_constant_time(link, link_of(*key_, true, at, record, rows->text(3)));
    if (record > end ||
        (!later && !equal_in_constant_time(link, link_of(*key_, false, at, record, rows->text(3)))))
      return broken(
          fmt::format("record {} (row {} of run {}) does not follow record {}: records were "
                      "removed, put back or reordered",
                      record, rows->integer(2), rows->text(1), at.record));
    at = {record, std::string(link)};
    ++report.records;
    if (later) ++report.linked_later;
    if (later) report.last_linked_later = record;
  }
  if (at.record != end || !equal_in_constant_time(head->text(1), seal(at)))
    return broken(fmt::format("it ends at record {}, which is not the record that was written last",
                              at.record));
  return report;
}

std::string LedgerChain::kept_text(const ChainHead& head) const {
  const auto link = std::string_view(head.link).substr(0, kKeptLink);
  return fmt::format("{}-{}-{}", head.record, link, check_of(*key_, head.record, link));
}

Result<HeadStanding> LedgerChain::compare(std::string_view kept) const {
  const auto head = parse_kept(kept);
  if (!head || !equal_in_constant_time(head->check, check_of(*key_, head->record, head->link)))
    return HeadStanding{};
  HeadStanding standing{Standing::rolled_back, head->record, 0, 0};
  auto query = database_->prepare(
      "SELECT (SELECT link FROM rows WHERE position=?1), (SELECT link FROM chain_start), (SELECT "
      "count(*) FROM rows WHERE position>?1), (SELECT coalesce(max(position),0) FROM rows)");
  if (!query) return query.error();
  const auto found = query->bind(1, head->record).step();
  if (!found) return found.error();
  const auto link = query->text(head->record == 0 ? 1 : 0);
  standing.now = query->integer(3);
  if (!link.starts_with(head->link)) return standing;
  standing.since = query->integer(2);
  standing.standing = standing.since == 0 ? Standing::intact : Standing::extended;
  return standing;
}

}  // namespace ratchet

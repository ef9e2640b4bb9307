#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/sqlite/sqlite.h"

namespace ratchet {

/// The end of the chain over all runs.
struct ChainHead {
  std::int64_t record = 0;  ///< position of its row in the ledger, counted over all runs
  std::string link;
  bool more_follow = false;  ///< another version wrote rows after it
};

/// The result of verifying the chain over all runs.
struct ChainReport {
  std::string since;              ///< when it began, UTC
  std::int64_t records = 0;       ///< rows in it
  std::int64_t linked_later = 0;  ///< of those, written by a version without this chain
  std::int64_t last_linked_later = 0;
  std::optional<Reason> broken;  ///< the first break
};

/// What has become of a head that was kept.
enum class Standing {
  unknown,      ///< it is not a head of this ledger
  intact,       ///< it is still the head
  extended,     ///< records were added after it
  rolled_back,  ///< it was a head of this ledger, and its record is gone
};
struct HeadStanding {
  Standing standing = Standing::unknown;
  std::int64_t record = 0;  ///< of the kept head
  std::int64_t since = 0;   ///< records added after it
  std::int64_t now = 0;     ///< record of the present head
};

/// One chain over the rows of all runs, in the order in which they were written.
///
/// The link of a row is a seal over the link before it, the row's position and the row's own seal;
/// the last link is sealed again as the head. A run cannot lose rows without a break unless every
/// later row of every run goes too. A whole ledger that is put back to an earlier state has no
/// break: only a head that was kept outside shows that. Rows written by a version without this
/// chain are linked when this one meets them, and are marked as linked later.
///
/// Part of `Ledger`, whose thread rule and errors hold; both references must outlive it. Callers
/// hold a transaction. `drift`: the head does not fit the last row.
class LedgerChain {
 public:
  LedgerChain(sqlite::Database& database, const std::string& key)
      : database_(&database), key_(&key) {}

  /// Begins the chain in a ledger that has none.
  Status begin(const std::string& time);

  [[nodiscard]] Result<ChainHead> sealed_head() const;
  /// The head after linking the rows that another version wrote since.
  [[nodiscard]] Result<ChainHead> last();
  /// The head once a row with this seal follows `last`.
  [[nodiscard]] ChainHead next(const ChainHead& last, const std::string& seal) const;
  /// What `heads` holds beside a head, under the run "".
  [[nodiscard]] std::string seal(const ChainHead& head) const;

  [[nodiscard]] Result<ChainReport> inspect() const;

  /// A head as short text for keeping: record, start of the link, and a seal over both, which tells
  /// a head of this ledger from other text.
  [[nodiscard]] std::string kept_text(const ChainHead& head) const;
  [[nodiscard]] Result<HeadStanding> compare(std::string_view kept) const;

 private:
  Status set_head(const ChainHead& head);

  sqlite::Database* database_;
  const std::string* key_;
};

}  // namespace ratchet

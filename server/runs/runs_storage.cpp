// What runs keep in the state folder, and which builds they still need there.

#include <chrono>

#include "server/core/clock.h"
#include "server/runs/ledger/run_store.h"
#include "server/runs/runs.h"

namespace ratchet {
namespace {

// A run that nobody has continued for this long is hardly waiting for its next step.
constexpr std::chrono::days kGoesOn(7);

}  // namespace

std::vector<Store> Runs::stores() const {
  const auto folder = store_->folder();
  return {{.name = "ledger", .measure = [folder] {
             FileCount all = contents_of(folder / "locks");
             for (const char* name :
                  {"ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.key"})
               if (const auto bytes = space_of(folder / name); bytes > 0) all += {1, bytes};
             return all;
           }}};
}

std::set<std::string> Runs::needed_builds() const {
  std::set<std::string> needed;
  const auto recent =
      store_->ledger().runs_since(utc_text(std::chrono::system_clock::now() - kGoesOn));
  if (!recent) return needed;
  for (const auto& run : *recent) {
    const auto loaded = store_->load(run);
    if (!loaded || loaded->state->open().stage == Stage::finished) continue;
    for (const auto& version : loaded->state->versions)
      if (version.build) needed.insert(version.build->candidate.build.build_key);
  }
  return needed;
}

}  // namespace ratchet

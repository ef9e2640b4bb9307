// The chain over all runs: what is found when a ledger is edited or put back, and what only a head
// that was kept outside can show.

#include "server/runs/ledger/chain.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "server/core/fd.h"
#include "tests/support/runs_samples.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

using samples::Workshop;

/// Another program that edits the ledger.
class Editor {
 public:
  explicit Editor(const Workshop& shop)
      : database_(*sqlite::Database::open(shop.state() / "ledger.sqlite", sqlite::OpenMode::shared,
                                          {"editor", ""})) {}

  void run(const std::string& sql) {
    auto done = database_.execute(sql);
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
  }

  /// Copies the sealed ends of all chains, which needs no key.
  void keep_heads() { run("CREATE TABLE old AS SELECT * FROM heads"); }
  void put_back(const std::string& which = "1") {
    run("DELETE FROM rows WHERE " + which +
        " AND sequence > coalesce((SELECT sequence FROM old WHERE run=rows.run), 0)");
    run("DELETE FROM heads WHERE " + which);
    run("INSERT INTO heads SELECT * FROM old WHERE " + which);
    run("DROP TABLE old");
  }

 private:
  sqlite::Database database_;
};

/// A second run of the same server.
RunId add_run(const Workshop& shop) {
  auto wanted = shop.new_run(samples::contract());
  wanted.output_dir = shop.out().parent_path() / "second";
  auto created = shop.runs().create(wanted);
  REQUIRE(created);
  return created->run;
}

void log_query(Runs& runs, const RunId& run, const std::string& query = "q") {
  REQUIRE(runs.record_query(run, query, "", samples::answer(query, {"page"})));
}

/// v1 fails its check, which costs a retry, after the ledger's ends were kept.
void fail_a_check(const Workshop& shop, Editor& editor) {
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(samples::kernel_text(1));
  editor.keep_heads();
  shop.check(false);
  REQUIRE(shop.status().versions.back().retries_used == 1);
}

bool has_code(const AuditReport& report, std::string_view code) {
  return std::ranges::find(report.breaks, code, &Reason::code) != report.breaks.end();
}

TEST_CASE("a ledger put back as a whole is found against a head that was kept, and only so",
          "[runs][ledger]") {
  Workshop shop;
  Editor editor(shop);
  fail_a_check(shop, editor);
  const auto kept = *shop.status().ledger_head;
  editor.put_back();
  shop.reopen();
  CHECK(shop.runs().permit(shop.run, Event::checked));
  CHECK(shop.status().versions.back().retries_used == 0);
  // The files show it until they are put back too.
  samples::fs::remove(shop.out() / "v1/correctness.md");

  const auto alone = shop.runs().audit(shop.run);
  CHECK_FALSE(has_code(*alone, "chain_cut"));
  CHECK_FALSE(has_code(*alone, "ledger_broken"));
  CHECK(alone->rollback.starts_with("not looked for: a ledger put back as a whole"));
  const auto against = shop.runs().audit(shop.run, {kept});
  CHECK_FALSE(against->intact);
  CHECK(has_code(*against, "rolled_back"));
  CHECK(against->rollback.starts_with("rolled back: the ledger had reached record "));
}

TEST_CASE("a rollback is still found when the ledger has grown past it", "[runs][ledger]") {
  const Workshop shop;
  Editor editor(shop);
  editor.keep_heads();
  log_query(shop.runs(), shop.run);
  const auto kept = *shop.runs().ledger_head();
  editor.put_back();
  const auto again = shop.another();
  // Another query: the same one within a millisecond would be the same record.
  for (int i = 0; i < 3; ++i) log_query(*again, shop.run, "other");

  CHECK(again->audit(shop.run)->intact);
  CHECK(has_code(*again->audit(shop.run, {kept}), "rolled_back"));
}

TEST_CASE("one run that was put back is found without a kept head once another has grown",
          "[runs][ledger]") {
  const Workshop shop;
  Editor editor(shop);
  editor.keep_heads();
  log_query(shop.runs(), shop.run);
  log_query(shop.runs(), add_run(shop));
  editor.put_back("run='" + shop.run.text + "'");

  const auto audit = shop.another()->audit(shop.run);
  CHECK(samples::codes(audit->breaks) == std::vector<std::string>{"ledger_broken"});
  CHECK(audit->breaks.front().message.find("does not follow record") != std::string::npos);
}

TEST_CASE("the final gate finds a run that was put back", "[runs][ledger]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  Editor editor(shop);
  editor.keep_heads();
  log_query(shop.runs(), shop.run);
  log_query(shop.runs(), add_run(shop));
  editor.put_back("run='" + shop.run.text + "'");

  const auto gate = shop.another()->check_gate(shop.run, true, false);
  REQUIRE(gate);
  CHECK(samples::codes(gate->reasons) == std::vector<std::string>{"ledger_broken"});
}

TEST_CASE("removed, reordered and relinked records break the chain over all runs",
          "[runs][ledger]") {
  for (const char* sql : {
           "DELETE FROM rows WHERE position=4",
           "UPDATE rows SET position=-1 WHERE position=5; UPDATE rows SET position=5 WHERE "
           "position=6; UPDATE rows SET position=6 WHERE position=-1",
           "UPDATE rows SET link=(SELECT link FROM rows WHERE position=3) WHERE position=4",
           "UPDATE rows SET link=NULL WHERE position=8",
           "DELETE FROM heads WHERE run=''",
           "UPDATE chain_start SET time='2000-01-01T00:00:00.000Z'",
           "DELETE FROM chain_start",
       }) {
    INFO(sql);
    const Workshop shop;
    const auto second = add_run(shop);
    for (int i = 0; i < 3; ++i) {
      log_query(shop.runs(), shop.run);
      log_query(shop.runs(), second);
    }
    REQUIRE(shop.runs().audit(std::nullopt)->intact);
    Editor(shop).run(sql);
    CHECK(has_code(*shop.runs().audit(second), "ledger_broken"));
  }
}

TEST_CASE("a ledger without its last record is not written on, so that the gap stays visible",
          "[runs][ledger]") {
  const Workshop shop;
  log_query(shop.runs(), shop.run);
  Editor editor(shop);
  editor.run("DELETE FROM rows WHERE position=2; UPDATE heads SET sequence=1");
  const auto again = shop.another();

  const auto refused = again->record_query(shop.run, "q", "", samples::answer("q", {"page"}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::drift);
  CHECK(again->audit(shop.run)->breaks.front().code == "chain_cut");
}

TEST_CASE("a kept head says whether the ledger is the same, grew, or is another",
          "[runs][ledger]") {
  const Workshop shop;
  const Workshop stranger;
  const auto kept = *shop.runs().ledger_head();
  CHECK(shop.runs().audit(shop.run, {kept})->rollback == "none: record 1 is still the last one");
  log_query(shop.runs(), shop.run);
  log_query(shop.runs(), shop.run);

  const auto grown = shop.runs().audit(shop.run, {kept});
  CHECK(grown->intact);
  CHECK(grown->rollback.starts_with("none: extended by 2 records since record 1,"));
  const auto foreign = *stranger.runs().ledger_head();
  auto mistyped = kept;
  mistyped[5] = mistyped[5] == '0' ? '1' : '0';
  for (const auto& unknown : {foreign, mistyped, std::string("1-2-3"), std::string()}) {
    const auto audit = shop.runs().audit(shop.run, {unknown});
    CHECK_FALSE(audit->intact);
    CHECK(has_code(*audit, "unknown_head"));
  }
  // A log may hold heads of other ledgers as well.
  CHECK(shop.runs().audit(shop.run, {foreign, kept})->intact);
}

TEST_CASE("two servers on one folder write one chain over their runs", "[runs][ledger]") {
  const Workshop shop;
  const auto second = add_run(shop);
  const auto other = shop.another();
  std::vector<std::jthread> threads;
  for (const auto& [server, run] :
       {std::pair{&shop.runs(), shop.run}, std::pair{other.get(), second}})
    threads.emplace_back([server, run] {
      for (int i = 0; i < 25; ++i)
        (void)server->record_query(run, "q", "", samples::answer("q", {"page"}));
    });
  threads.clear();

  const auto audit = shop.runs().audit(std::nullopt);
  CHECK(audit->intact);
  CHECK(audit->rows == 2 + 2 * 25);
  CHECK(audit->ledger->starts_with("52 records of all runs, chained since 20"));
}

TEST_CASE("rows of a version without the chain are linked by the next row, and counted",
          "[runs][ledger]") {
  const Workshop shop;
  Editor editor(shop);
  editor.keep_heads();
  log_query(shop.runs(), shop.run);
  // As that version would leave it: a row, the head of its run, no link.
  editor.run("UPDATE rows SET link=NULL WHERE position=2");
  editor.run("DELETE FROM heads WHERE run=''; INSERT INTO heads SELECT * FROM old WHERE run=''");
  CHECK(shop.runs().audit(shop.run)->intact);
  const auto kept = *shop.runs().ledger_head();
  log_query(shop.runs(), shop.run);

  const auto audit = shop.runs().audit(shop.run, {kept});
  CHECK(audit->intact);
  CHECK(audit->ledger->find("; 1 of them, up to record 2, were written by an older version") !=
        std::string::npos);
}

TEST_CASE("reports name the head of the ledger, and it is found in it", "[runs][ledger]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  REQUIRE(shop.gate(true).passed);
  const auto head = *shop.status().ledger_head;
  REQUIRE(shop.runs().write_report(shop.run, ""));

  for (const char* file : {"final_report.md", "summary.md", "report.html"})
    CHECK(samples::text_of(shop.out() / file).find(head) != std::string::npos);
  CHECK(shop.runs().audit(shop.run, {head})->rollback.starts_with("none: extended by 1 records"));
}

TEST_CASE("each new head is written to the machine's log", "[runs][ledger]") {
  const test::TempFolder folder;
  const auto socket = (folder / "log").string();
  const Fd log(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(socket, address.sun_path);
  REQUIRE(::bind(log.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  const auto ledger = Ledger::open(folder / "state", false, socket);
  REQUIRE(ledger);
  REQUIRE((*ledger)->append({RunId{"run-1"}, VersionId{0}, "note", "now", "{}", {}}, 0));

  std::array<char, 200> line{};
  REQUIRE(::recv(log.get(), line.data(), line.size() - 1, MSG_DONTWAIT) > 0);
  const std::string text = line.data();
  CHECK(text.starts_with("<14>ratchet["));
  CHECK(text.ends_with("]: ledger head " + *(*ledger)->kept_head()));
}

}  // namespace
}  // namespace ratchet

// The ledger when processes die, race or tamper.

#include "server/runs/ledger/ledger.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <thread>

#include "server/core/clock.h"
#include "server/core/fd.h"
#include "server/core/hash.h"
#include "server/runs/records/entry.h"
#include "tests/support/runs_samples.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

using samples::codes;
using samples::Workshop;

using Codes = std::vector<std::string>;

/// Another program that edits the database.
void tamper(const Workshop& shop, const std::string& sql) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open((shop.state() / "ledger.sqlite").c_str(), &handle) == SQLITE_OK);
  char* message = nullptr;
  CHECK(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK);
  sqlite3_close(handle);
}

TEST_CASE("a restarted server continues after the last whole row", "[runs][ledger]") {
  Workshop shop;
  shop.check();
  shop.reopen();

  CHECK(shop.status().stage == Stage::correct);
  shop.measure();
  shop.reopen();
  shop.write_evidence();
  shop.write_hypothesis();
  CHECK(shop.gate().passed);
}

TEST_CASE("a server killed after the row and before its files loses nothing", "[runs][ledger]") {
  Workshop shop;
  shop.check();
  // As if the process had died before the rename: the row is there, the artifact is not.
  samples::fs::remove(shop.out() / "v0/correctness.md");
  shop.reopen();

  shop.measure();
  CHECK(samples::fs::exists(shop.out() / "v0/correctness.md"));
}

TEST_CASE("a transaction that was never committed is not seen", "[runs][ledger]") {
  const Workshop shop;
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open((shop.state() / "ledger.sqlite").c_str(), &handle) == SQLITE_OK);
  REQUIRE(sqlite3_exec(handle,
                       "BEGIN IMMEDIATE; INSERT INTO rows(run,sequence,time,version,kind,schema,"
                       "payload,previous,seal) SELECT run,2,time,0,'gate',1,'{}','','' FROM rows;"
                       "UPDATE heads SET sequence=2;",
                       nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);  // dies with the transaction open

  CHECK(shop.runs().audit(shop.run)->rows == 1);
  CHECK(shop.status().integrity.empty());
}

TEST_CASE("of two servers that measure the same version one gets a conflict", "[runs][ledger]") {
  const Workshop shop;
  const auto other = shop.another();
  const auto mine = shop.permit(Event::checked);
  const auto theirs = other->permit(shop.run, Event::checked);
  REQUIRE(theirs);

  REQUIRE(other->record_correctness(*theirs, samples::correctness(*theirs->candidate)));
  const auto late = shop.runs().record_correctness(mine, samples::correctness(*mine.candidate));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::conflict);
  CHECK(shop.status().stage == Stage::correct);
}

TEST_CASE("a logged query does not void a measurement under way", "[runs][ledger]") {
  const Workshop shop;
  const auto granted = shop.permit(Event::checked);
  shop.query();

  CHECK(shop.runs().record_correctness(granted, samples::correctness(*granted.candidate)));
}

TEST_CASE("a measurement of another binary is not recorded", "[runs][ledger]") {
  const Workshop shop;
  const auto granted = shop.permit(Event::checked);
  const auto recorded =
      shop.runs().record_correctness(granted, samples::correctness(samples::candidate("other")));

  REQUIRE_FALSE(recorded);
  CHECK(recorded.error().code == ErrorCode::conflict);
}

TEST_CASE("threads of two servers log queries into one unbroken chain", "[runs][ledger]") {
  const Workshop shop;
  const auto other = shop.another();
  std::vector<std::jthread> threads;
  for (Runs* const server : {&shop.runs(), other.get()})
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&shop, server] {
        for (int k = 0; k < 10; ++k)
          (void)server->record_query(shop.run, "q", "", samples::answer("q", {"page"}));
      });
  threads.clear();

  const auto audit = shop.runs().audit(shop.run);
  CHECK(audit->rows == 1 + 2 * 2 * 10);  // the contract, then every query
  CHECK(audit->intact);
}

/// A server in a child process that logs queries into the given run until it is killed.
pid_t start_writer(int told, const samples::fs::path& state) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::array<char, 64> id{};
  if (::read(told, id.data(), id.size() - 1) <= 0) ::_exit(1);
  auto server = Runs::open(state);
  while (server &&
         (*server)->record_query(RunId{id.data()}, "q", "", samples::answer("q", {"p"}))) {
  }
  ::_exit(1);
}

TEST_CASE("a server killed while it works leaves an intact chain", "[runs][ledger]") {
  const samples::FastFolder folder;
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Fd hear(ends[0]);
  const Fd tell(ends[1]);
  const pid_t writer = start_writer(hear.get(), folder.path() / "state");
  REQUIRE(writer > 0);
  auto runs = Runs::open(folder.path() / "state", {.durable = false});
  REQUIRE(runs);
  const auto frozen = samples::contract();
  const auto created = (*runs)->create({frozen,
                                        samples::environment(),
                                        samples::candidate(frozen.kernel.text),
                                        {},
                                        folder.path() / "out",
                                        false,
                                        "a secret"});
  REQUIRE(created);
  const auto& id = created->run.text;
  REQUIRE(::write(tell.get(), id.data(), id.size()) == static_cast<ssize_t>(id.size()));

  // Kill it at any point after its first row.
  while ((*runs)->audit(created->run)->rows < 3) std::this_thread::yield();
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);

  CHECK((*runs)->audit(created->run)->intact);
  CHECK((*runs)->record_query(created->run, "q", "", samples::answer("q", {"p"})));
  CHECK((*runs)->permit(created->run, Event::checked));
}

TEST_CASE("a row appended to an outgrown chain is refused", "[runs][ledger]") {
  const Workshop shop;
  auto ledger = Ledger::open(shop.state(), false);
  REQUIRE(ledger);
  const NewRow row{shop.run, {}, kind::kQuery, utc_now(), "{}", {}};

  CHECK((*ledger)->append(row, 0).error().code == ErrorCode::conflict);
  CHECK((*ledger)->append(row, 5).error().code == ErrorCode::conflict);
}

TEST_CASE("an edited payload is found and no step is allowed after it", "[runs][ledger]") {
  Workshop shop;
  shop.check(false);
  tamper(shop, "UPDATE rows SET payload=replace(payload,'\"passed\":false','\"passed\":true')");
  shop.reopen();

  const auto audit = shop.runs().audit(shop.run);
  REQUIRE(audit);
  CHECK_FALSE(audit->intact);
  CHECK(audit->breaks.front().code == "chain_broken");
  CHECK(audit->breaks.front().message.find("row 2 of run " + shop.run.text) != std::string::npos);
  CHECK(shop.runs().permit(shop.run, Event::profiled).error().code == ErrorCode::drift);
  CHECK(codes(shop.status().integrity).front() == "chain_broken");
}

TEST_CASE("an edit under a running server is found by the gate", "[runs][ledger]") {
  const Workshop shop;
  shop.finish_v0();
  tamper(shop, "UPDATE rows SET time='2000-01-01T00:00:00.000Z' WHERE sequence=3");

  CHECK(codes(shop.gate().reasons) == Codes{"chain_broken"});
  CHECK(shop.status().version.text() == "v0");
}

TEST_CASE("an edit of a row that was verified before is found", "[runs][ledger]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.status().integrity.empty());
  REQUIRE(shop.gate().passed);
  REQUIRE(shop.status().integrity.empty());
  tamper(shop, "UPDATE rows SET time='2000-01-01T00:00:00.000Z' WHERE sequence=3");

  CHECK(codes(shop.status().integrity) == Codes{"chain_broken"});
  CHECK(codes(shop.status().integrity) == Codes{"chain_broken"});  // and it stays broken
}

TEST_CASE("a row after rows that were verified before is itself verified", "[runs][ledger]") {
  const Workshop shop;
  shop.check();
  auto ledger = Ledger::open(shop.state(), false);
  REQUIRE(ledger);
  REQUIRE_FALSE(*(*ledger)->first_new_break(shop.run));
  shop.measure();
  REQUIRE_FALSE(*(*ledger)->first_new_break(shop.run));
  REQUIRE_FALSE(*(*ledger)->first_new_break(shop.run));

  tamper(shop, "DELETE FROM rows WHERE sequence=3");
  CHECK((*(*ledger)->first_new_break(shop.run))->code == "chain_cut");
}

TEST_CASE("the cached state equals the state folded from the rows", "[runs][ledger]") {
  Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  const auto kept = encode(shop.status());
  shop.reopen();

  CHECK(encode(shop.status()) == kept);
}

TEST_CASE("rows removed at the end are noticed", "[runs][ledger]") {
  Workshop shop;
  shop.check(false);
  tamper(shop, "DELETE FROM rows WHERE sequence=2");
  tamper(shop, "UPDATE heads SET sequence=1");
  shop.reopen();

  CHECK(codes(shop.runs().audit(shop.run)->breaks).front() == "chain_cut");
}

TEST_CASE("a replaced source text is found by its digest", "[runs][ledger]") {
  const Workshop shop;
  tamper(shop, "UPDATE blobs SET bytes='int x;' WHERE digest='" +
                   sha256_hex(samples::kernel_text(0)) + "'");

  CHECK(codes(shop.runs().audit(shop.run)->breaks).front() == "text_changed");
  CHECK(shop.runs().permit(shop.run, Event::checked).error().code == ErrorCode::drift);
}

TEST_CASE("large texts are compressed in the ledger, and uncompressed ones are read too",
          "[runs][ledger]") {
  const test::TempFolder folder;
  auto ledger = Ledger::open(folder.path(), false);
  REQUIRE(ledger);
  const std::string table(100'000, 'x');
  NewRow row{RunId{"run-1"}, VersionId{0}, "note", "2026-01-01T00:00:00Z", "{}", {}};
  row.blobs[sha256_hex(table)] = table;
  row.blobs[sha256_hex("short")] = "short";
  REQUIRE((*ledger)->append(row, 0));
  CHECK(*(*ledger)->blob(sha256_hex(table)) == table);
  CHECK(*(*ledger)->blob(sha256_hex("short")) == "short");

  auto database =
      sqlite::Database::open(folder / "ledger.sqlite", sqlite::OpenMode::shared, {"test", ""});
  REQUIRE(database);
  auto size = database->prepare("SELECT max(length(bytes)) FROM blobs");
  REQUIRE(size);
  REQUIRE(size->step());
  CHECK(size->integer(0) < 1000);
  REQUIRE(database->execute("UPDATE blobs SET bytes='" + table + "' WHERE length(bytes)>5"));
  CHECK(*(*ledger)->blob(sha256_hex(table)) == table);
}

TEST_CASE("an edited rendering is found by the audit", "[runs][ledger]") {
  const Workshop shop;
  samples::put(shop.out() / "env_check.md", "all fine");

  const auto breaks = shop.runs().audit(shop.run)->breaks;
  CHECK(codes(breaks) == Codes{"artifact_changed"});
  CHECK(breaks.front().path == "env_check.md");
}

TEST_CASE("a replaced secret is noticed before it is used", "[runs][ledger]") {
  const Workshop shop;
  tamper(shop, "UPDATE secrets SET secret='known'");

  CHECK(shop.runs().permit(shop.run, Event::checked).error().code == ErrorCode::drift);
}

TEST_CASE("the key is random, private, and the same for every server", "[runs][ledger]") {
  const Workshop shop;
  const auto key = samples::text_of(shop.state() / "ledger.key");
  struct stat info{};
  REQUIRE(::stat((shop.state() / "ledger.key").c_str(), &info) == 0);

  CHECK(key.size() == 32);
  CHECK((info.st_mode & 0777U) == 0600U);
  const auto other = shop.another();
  CHECK(samples::text_of(shop.state() / "ledger.key") == key);
  CHECK(other->audit(shop.run)->intact);
}

TEST_CASE("a source is stored once however often it is submitted", "[runs][ledger]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  for (int i = 0; i < 3; ++i) shop.submit(samples::kernel_text(1));
  auto database = sqlite::Database::open(shop.state() / "ledger.sqlite", sqlite::OpenMode::shared,
                                         {"test", ""});
  REQUIRE(database);
  auto count = database->prepare("SELECT count(*) FROM blobs WHERE digest=?");
  REQUIRE(count);
  REQUIRE(count->bind(1, sha256_hex(samples::kernel_text(1))).step());

  CHECK(count->integer(0) == 1);
}

TEST_CASE("create_run refuses invalid contracts", "[runs][ledger]") {
  const Workshop shop;
  auto run = shop.new_run(samples::contract());
  run.output_dir = shop.out().parent_path() / "second";
  auto bad_build = run;
  bad_build.v0 = samples::failed_build("int");
  auto bad_name = run;
  bad_name.contract.kernel_name = "../up";
  auto bad_place = run;
  bad_place.output_dir = "not-absolute";
  auto bad_suffix = run;
  bad_suffix.v0.source.file_name = "kernel.cu";

  for (const auto& bad : {bad_build, bad_name, bad_place, bad_suffix})
    CHECK(shop.runs().create(bad).error().code == ErrorCode::invalid_argument);
  CHECK_FALSE(samples::fs::exists(run.output_dir));
  CHECK(shop.runs().list(10, {})->runs.size() == 1);
}

}  // namespace
}  // namespace ratchet

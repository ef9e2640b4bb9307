#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "kbs/corpus/importer.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::reported;
using test::TestKnowledge;
using test::write_text;

TEST_CASE("a page and a record with the same id become one document, other records their own") {
  TestKnowledge kb;
  const auto report = kb.add(test::fixture_corpus());
  CHECK(report.documents == 9);  // eight pages, one of them with its record, and one record alone
  CHECK(report.problems.empty());
}

TEST_CASE("adding a folder again re-indexes only the pages that changed") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/a.md", page_text("a", "First", "alpha"));
  write_text(corpus / "wiki/b.md", page_text("b", "Second", "beta"));
  CHECK(kb.add(corpus).added == 2);
  CHECK(kb.add(corpus).unchanged == 2);

  write_text(corpus / "wiki/a.md", page_text("a", "First", "gamma"));
  std::filesystem::remove(corpus / "wiki/b.md");
  const auto again = kb.add(corpus);
  CHECK(again.changed == 1);
  CHECK(again.removed == 1);
  CHECK(kb.ids({.text = "alpha"}).empty());
  CHECK(kb.ids({.text = "beta"}).empty());
  CHECK(kb.ids({.text = "gamma"}) == std::vector<std::string>{"a"});
}

TEST_CASE("an open knowledge base picks up pages that are added later") {
  TestKnowledge kb;
  CHECK(kb.query({.text = "alpha"}).results.empty());
  write_text(kb.folder() / "c/wiki/a.md", page_text("a", "First", "alpha"));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "alpha"}) == std::vector<std::string>{"a"});
}

TEST_CASE("invalid pages and records are reported with path and reason, the others are indexed") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/good.md", page_text("good", "Good", "alpha"));
  write_text(corpus / "wiki/headless.md", "no header\n");
  write_text(corpus / "wiki/broken.md", "---\nid: [a\n---\n");
  write_text(corpus / "wiki/binary.md", "---\nid: b\n---\n\xff\xfe");
  write_text(corpus / "wiki/twice.md", page_text("good", "Again", "beta"));
  write_text(corpus / "records.jsonl",
             "{\"id\": \"r\", \"title\": \"Record\", \"body\": \"delta\"}\nnot json\n{\"title\": "
             "\"x\"}\n");
  const auto report = kb.add(corpus);
  CHECK(report.documents == 2);
  CHECK(reported(report, "headless.md", "no YAML header"));
  CHECK(reported(report, "broken.md", "line"));
  CHECK(reported(report, "binary.md", "UTF-8"));
  CHECK(reported(report, "twice.md", "duplicate id"));
  CHECK(reported(report, "records.jsonl:2", "JSON"));
  CHECK(reported(report, "records.jsonl:3", "id"));
}

TEST_CASE("symbolic links that lead out of the folder are not read") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(kb.folder() / "secret.md", page_text("secret", "Secret", "hidden"));
  write_text(corpus / "wiki/a.md", page_text("a", "First", "alpha"));
  std::filesystem::create_symlink(kb.folder() / "secret.md", corpus / "wiki/link.md");
  std::filesystem::create_directory_symlink(kb.folder().path(), corpus / "wiki/loop");
  const auto report = kb.add(corpus);
  CHECK(report.documents == 1);
  CHECK(reported(report, "link.md", "out of the folder"));
  CHECK(kb.ids({.text = "hidden"}).empty());
}

TEST_CASE("a folder of plain Markdown is indexed by path and first heading") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/notes/first.md", "# A first note\n\nalpha\n");
  CHECK(kb.add(kb.folder() / "c").documents == 1);
  const auto answer = kb.query({.text = "alpha"});
  REQUIRE(answer.results.size() == 1);
  CHECK(answer.results[0].id == "notes-first");
  CHECK(answer.results[0].title == "A first note");
}

TEST_CASE("an id used by two corpora is qualified in the later one, and both can be read") {
  TestKnowledge kb;
  write_text(kb.folder() / "one/wiki/a.md", page_text("a", "From one", "alpha"));
  write_text(kb.folder() / "two/wiki/a.md", page_text("a", "From two", "alpha"));
  kb.add(kb.folder() / "one", "one");
  kb.add(kb.folder() / "two", "two");
  CHECK(kb.base().page({.id = "a"})->title == "From one");
  CHECK(kb.base().page({.id = "two:a"})->title == "From two");
}

TEST_CASE("a removed corpus is gone, and its name is unknown") {
  TestKnowledge kb;
  kb.add(test::fixture_corpus(), "kp");
  const auto removed = kbs_remove(kb.index(), "kp");
  REQUIRE(removed);
  CHECK(removed->removed == 9);
  CHECK(kb.ids({.text = "merge_attn_states"}).empty());
  const auto again = kbs_remove(kb.index(), "kp");
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::not_found);
}

TEST_CASE("a killed writer leaves the old index unchanged, and the next one works") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/a.md", page_text("a", "First", "alpha"));
  kb.add(kb.folder() / "c");
  const auto child = ::fork();
  if (child == 0) {
    auto writer = kbs::IndexWriter::open(kb.index());
    (void)writer->begin_corpus("c", "");
    kbs::Document page;
    page.id = "b";
    page.title = "Half written";
    (void)writer->put(page);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(kb.ids({.text = "alpha"}) == std::vector<std::string>{"a"});
  CHECK(kb.ids({.text = "half written"}).empty());
  CHECK(kbs_doctor(kb.index())->healthy);
  CHECK(kb.add(kb.folder() / "c").documents == 1);
}

TEST_CASE("a second writer gets a conflict") {
  TestKnowledge kb;
  auto first = kbs::IndexWriter::open(kb.index());
  REQUIRE(first);
  auto second = kbs::IndexWriter::open(kb.index());
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
}

TEST_CASE("a stopped import changes nothing") {
  TestKnowledge kb;
  std::stop_source stop;
  stop.request_stop();
  const auto report = kbs_add({.folder = test::fixture_corpus(),
                               .name = "kp",
                               .license = "",
                               .user_index = kb.index(),
                               .progress = {},
                               .stop = stop.get_token()});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::timed_out);
  CHECK_FALSE(std::filesystem::exists(kb.index()));
}

TEST_CASE("a missing folder and an invalid corpus name are rejected") {
  TestKnowledge kb;
  const auto missing = kbs_add({.folder = "/nowhere/at/all",
                                .name = "x",
                                .license = "",
                                .user_index = kb.index(),
                                .progress = {},
                                .stop = {}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  const auto named = kbs_add({.folder = test::fixture_corpus(),
                              .name = "a/b",
                              .license = "",
                              .user_index = kb.index(),
                              .progress = {},
                              .stop = {}});
  REQUIRE_FALSE(named);
  CHECK(named.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("stats count documents by scope and corpus") {
  TestKnowledge kb;
  kb.add(test::fixture_corpus(), "kp");
  const auto stats = kbs_stats(kb.index());
  REQUIRE(stats);
  CHECK(stats->documents == 9);
  CHECK(stats->scopes.at("wiki") == 4);
  CHECK(stats->scopes.at("prs") == 3);
  REQUIRE(stats->corpora.size() == 1);
  CHECK(stats->corpora[0].name == "kp");
}

TEST_CASE("a file that is not an index is rejected and never overwritten") {
  TestKnowledge kb;
  write_text(kb.index(), "not a database at all, but long enough to be looked at as one");
  CHECK_FALSE(Knowledge::open({.builtin_index = {}, .user_index = kb.index()}));
  CHECK_FALSE(kbs_stats(kb.index()));
  const auto added = kbs_add({.folder = test::fixture_corpus(),
                              .name = "kp",
                              .license = "",
                              .user_index = kb.index(),
                              .progress = {},
                              .stop = {}});
  CHECK_FALSE(added);  // the file may belong to somebody else
  CHECK_FALSE(kbs_doctor(kb.folder() / "absent.db"));
}

}  // namespace
}  // namespace ratchet

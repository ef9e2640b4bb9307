#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::reported;
using test::TestKnowledge;
using test::write_text;
namespace fs = std::filesystem;

/// A corpus large enough for an import to take a while.
void write_many(const fs::path& corpus, int count) {
  for (int i = 0; i < count; ++i)
    write_text(corpus / "wiki" / ("p" + std::to_string(i) + ".md"),
               page_text("p" + std::to_string(i), "Page " + std::to_string(i), "okapi"));
}

/// Runs `work` in a child process and returns how it ended.
template <class Work>
int status_of_child(Work work) {
  const auto child = ::fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

Result<KbsAddReport> add(const fs::path& corpus, const fs::path& index,
                         std::function<void(int, int)> progress = {}) {
  return kbs_add({.folder = corpus,
                  .name = "kp",
                  .license = "",
                  .user_index = index,
                  .progress = std::move(progress),
                  .stop = {}});
}

TEST_CASE("JSON nested without end is reported, and the others are read") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/good.md", page_text("good", "Good", "okapi"));
  const std::string deep = R"({"id": "deep", "payload": {"a": )" + std::string(1'000'000, '[') +
                           std::string(1'000'000, ']') + "}}";
  write_text(corpus / "records/deep.json", deep);
  write_text(corpus / "lines.jsonl", deep + "\n" + R"({"id": "line", "title": "Line"})" + "\n");

  const auto report = kb.add(corpus);

  CHECK(report.documents == 2);
  CHECK(reported(report, "deep.json", "64 levels"));
  CHECK(reported(report, "lines.jsonl:1", "64 levels"));
}

TEST_CASE("a title or labels of megabytes are reported, not put into every answer") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/good.md", page_text("good", "Good", "okapi"));
  write_text(corpus / "wiki/title.md", page_text("title", std::string(5000, 't'), "okapi"));
  std::string tags;
  for (int i = 0; i < 300; ++i) tags += "  - " + std::to_string(i) + std::string(1000, 'x') + "\n";
  write_text(corpus / "wiki/tags.md", "---\nid: tags\ntags:\n" + tags + "---\n");

  const auto report = kb.add(corpus);

  CHECK(report.documents == 1);
  CHECK(reported(report, "title.md", "5000 bytes"));
  CHECK(reported(report, "tags.md", "labels"));
}

TEST_CASE("files of four gigabytes are reported and skipped") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/good.md", page_text("good", "Good", "okapi"));
  const auto bundle = corpus / "evidence/pull-bundles/demo/gh-1";
  write_text(bundle / "ORIGIN.yaml", "repo: o/d\n");
  for (const auto& path : {corpus / "wiki/huge.md", corpus / "huge.jsonl", bundle / "review.diff",
                           bundle / "source-snapshot/huge.cu", bundle / "upstream.json"}) {
    write_text(path, "");
    fs::resize_file(path, std::uintmax_t{4} << 30U);  // sparse: no disk is used
  }
  const auto report = kb.add(corpus);
  CHECK(report.documents == 1);
  for (const char* name : {"huge.md", "huge.jsonl", "upstream.json"})
    CHECK(reported(report, name, "the limit is"));
  CHECK(reported(report, "review.diff", "larger than 8 MB"));
  CHECK(reported(report, "huge.cu", "larger than 8 MB"));
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"good"});
}

TEST_CASE("ids that are paths, invalid YAML and truncated JSON are reported and skipped") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "wiki/up.md", page_text("../up", "Up", "x"));
  write_text(corpus / "wiki/abs.md", page_text("/etc/passwd", "Absolute", "x"));
  write_text(corpus / "wiki/nul.md", page_text("nul", "Nul", std::string_view("a\0b", 3)));
  write_text(corpus / "wiki/deep.md",
             "---\nid: deep\ntitle: x\ntags: " + std::string(3000, '[') + "\n---\n");
  write_text(corpus / "data/aliases.yaml", "a: [b\n");
  write_text(corpus / "cut.jsonl", "{\"id\": \"a\", \"title\": \"A\", \"bo");
  write_text(corpus / "records/cut.json", "{\"id\": \"b\", \"payload\": {");
  write_text(corpus / "records/empty.json", "{\"id\": \"c\", \"payload\": 3}");
  const auto report = kb.add(corpus);
  CHECK(report.documents == 0);
  CHECK(reported(report, "up.md", "must match"));
  CHECK(reported(report, "abs.md", "must match"));
  CHECK(reported(report, "nul.md", "NUL"));
  CHECK(reported(report, "deep.md", "line"));
  CHECK(reported(report, "aliases.yaml", "line"));
  CHECK(reported(report, "cut.jsonl:1", "JSON"));
  CHECK(reported(report, "cut.json", "truncated"));
  CHECK(reported(report, "empty.json", "payload"));
}

TEST_CASE("the old index stays usable when an import is killed") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_many(corpus, 1);
  kb.add(corpus);
  write_many(corpus, 450);
  const int status = status_of_child([&] {
    (void)add(corpus, kb.index(), [](int done, int) {
      if (done >= 400) ::kill(::getpid(), SIGKILL);
    });
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"p0"});
  CHECK(kbs_doctor(kb.index())->healthy);
  CHECK(kb.add(corpus).added == 449);
}

TEST_CASE("a full disk is an error, and the old index stays usable") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_many(corpus, 1);
  kb.add(corpus);
  const auto size = fs::file_size(kb.index());
  write_many(corpus, 800);
  const int status = status_of_child([&] {
    // A file size limit simulates a full disk.
    const rlimit limit{size + 4096, size + 4096};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto report = add(corpus, kb.index());
    const bool clear =
        !report && report.error().code == ErrorCode::unavailable && !report.error().hint.empty();
    std::_Exit(clear ? 7 : 8);
  });
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"p0"});
  CHECK_FALSE(fs::exists(kb.index().string() + ".new"));
  CHECK(kb.add(corpus).added == 799);
}

TEST_CASE("a query of one megabyte over code is answered") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/evidence/pull-bundles/demo/gh-1";
  write_text(bundle / "ORIGIN.yaml", "repo: o/d\n");
  write_text(bundle / "review.diff", "diff --git a/a.cu b/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n+okapi\n");
  kb.add(kb.folder() / "c");
  std::string query;
  while (query.size() < 1'000'000) query += "okapi NEAR(\"x\" OR *) ";
  CHECK(kb.query({.text = query}).results.front().id == "diff-demo-1-1.1");
  for (const std::string& text : {std::string("okapi AND \"("), std::string("code:okapi"),
                                  std::string("okapi\0^*", 8), std::string("\xff\xfeokapi")})
    CHECK_FALSE(kb.query({.text = text}).results.empty());
  CHECK(kb.base().grep({.pattern = "(o*)*k(a|a)*p[^\n]*i", .scopes = {{"diffs"}}})->total == 1);
}

TEST_CASE("symbolic links that lead out of a bundle are not followed") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/evidence/pull-bundles/demo/gh-1";
  write_text(kb.folder() / "secret.cu", "hidden okapi\n");
  write_text(bundle / "ORIGIN.yaml", "repo: o/d\n");
  write_text(bundle / "review.diff", "diff --git a/a.cu b/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n+x\n");
  fs::create_directories(bundle / "source-snapshot");
  fs::create_symlink(kb.folder() / "secret.cu", bundle / "source-snapshot/link.cu");
  const auto report = kb.add(kb.folder() / "c");
  CHECK(reported(report, "link.cu", "out of the folder"));
  CHECK(kb.ids({.text = "hidden"}).empty());
}

}  // namespace
}  // namespace ratchet

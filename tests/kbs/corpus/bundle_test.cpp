#include <algorithm>

#include "kbs/corpus/bundle_reader.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::TestKnowledge;
using test::write_text;
namespace fs = std::filesystem;

constexpr std::string_view kDiff =
    "diff --git a/csrc/reduce.cu b/csrc/reduce.cu\n--- a/csrc/reduce.cu\n+++ b/csrc/reduce.cu\n"
    "@@ -10,3 +10,4 @@ __global__ void row_reduce(float* out)\n+  __shfl_xor_sync(mask, v, 16);\n"
    "diff --git a/docs/notes.md b/docs/notes.md\n--- a/docs/notes.md\n+++ b/docs/notes.md\n"
    "@@ -1 +1 @@\n-old\n+zebra crossing\n";

/// A bundle with the given ORIGIN.yaml, a diff and a source file.
void write_origin(const fs::path& folder, std::string_view origin) {
  write_text(folder / "ORIGIN.yaml", origin);
  write_text(folder / "review.diff", kDiff);
  write_text(folder / "source-snapshot/csrc/reduce.cu",
             "// Reduces rows.\n__global__ void row_reduce(float* out) {}\n");
}

std::vector<std::string> paths(const QueryAnswer& answer) {
  std::vector<std::string> out;
  for (const auto& hit : answer.results) out.push_back(hit.path);
  return out;
}

TEST_CASE("a bundle's diff and sources are found by their content, with the line in their file") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/knowledge/evidence/pull-bundles/demo/gh-12";
  write_origin(bundle, "schema_version: 1\nrepo: org/demo\npr_number: 12\ntitle: Reduce\n");
  const auto report = kb.add(kb.folder() / "c");
  CHECK(report.bundles == 1);
  const auto diffs = kb.query({.text = "__shfl_xor_sync", .scopes = {{"diffs"}}});
  REQUIRE(diffs.results.size() == 1);
  CHECK(diffs.results[0].id == "diff-demo-12-1.1");
  CHECK(diffs.results[0].path == "evidence/pull-bundles/demo/gh-12/review.diff:5");
  const auto zebra = kb.query({.text = "zebra", .scopes = {{"diffs"}}});
  CHECK(paths(zebra) ==
        std::vector<std::string>{"evidence/pull-bundles/demo/gh-12/review.diff:11"});
  CHECK(kb.ids({.text = "row_reduce", .scopes = {{"snapshots"}}}) ==
        std::vector<std::string>{"snap-demo-12-1.1"});
}

TEST_CASE("every known provenance layout is read") {
  const std::vector<std::pair<std::string, std::string>> layouts{
      {"ORIGIN.yaml", "repo: org/demo\ntitle: One\nartifacts:\n  diff: review.diff\n"},
      {"ORIGIN.yaml", "repo: org/demo\ntitle: One\nbundle:\n  diff: review.diff\n"},
      {"ORIGIN.yaml", "upstream_repo: org/demo\nlicense: MIT\nfiles:\n- local_path: review.diff\n"},
      {"PROVENANCE.yaml", "upstream_repo: org/demo\nfiles:\n- local_path: diff.patch\n"},
      {"PROVENANCE.yaml", "repo: org/demo\npr: 12\nmerge_sha: 1234\ndiff_bytes: 10\n"}};
  for (const auto& [name, text] : layouts) {
    TestKnowledge kb;
    const bool origin = name == "ORIGIN.yaml";
    const auto folder = kb.folder() / (origin ? "c/evidence/pull-bundles/demo/gh-12"
                                              : "c/artifacts/prs/demo/PR-12");
    write_text(folder / name, text);
    write_text(folder / (origin ? "review.diff" : "diff.patch"), kDiff);
    const auto report = kb.add(kb.folder() / "c");
    CHECK(report.bundles == 1);
    CHECK(report.problems.empty());
    const auto found = kb.query({.text = "zebra", .scopes = {{"diffs"}}, .repos = {{"org/demo"}}});
    REQUIRE(found.results.size() == 1);
    CHECK(found.results[0].id == "diff-demo-12-2.1");
  }
}

TEST_CASE("a description joins the page of its pull request, or becomes a page if there is none") {
  TestKnowledge kb;
  const auto root = kb.folder() / "c";
  for (const char* number : {"12", "13"}) {
    const auto bundle = root / "evidence/pull-bundles/demo" / (std::string("gh-") + number);
    write_origin(bundle, "repo: org/demo\ntitle: Reduce\n");
    write_text(
        bundle / "upstream.json",
        R"({"pull": {"title": "Faster rows", "body": "Uses giraffe tiles.\nSigned-off-by: X <x@y>",
                  "labels": [{"name": "perf"}], "merged_at": "2026-01-02T03:04:05Z"}, "files": []})");
  }
  write_text(root / "sources/prs/demo/PR-12.md",
             page_text("pr-demo-12", "Reduce rows", "Changed paths."));
  const auto report = kb.add(root);
  CHECK(report.documents == 2);
  const auto ids = kb.ids({.text = "giraffe", .scopes = {{"prs"}}});
  CHECK(ids.size() == 2);
  CHECK(std::ranges::find(ids, "pr-demo-12") != ids.end());
  CHECK(std::ranges::find(ids, "pr-demo-13") != ids.end());
  CHECK(kb.base().page({.id = "pr-demo-12"})->text.find("Signed-off") == std::string::npos);
}

TEST_CASE("problems in a bundle are reported and the rest of it is indexed") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/evidence/pull-bundles/demo/gh-12";
  write_origin(bundle, "title: [broken\n");
  fs::remove(bundle / "review.diff");
  write_text(bundle / "source-snapshot/plot.png", std::string("\x89PNG\0\xff", 6));
  write_text(bundle / "upstream.json", R"({"pull": {"title": "cut off)");
  const auto report = kb.add(kb.folder() / "c");
  std::vector<std::string> reasons;
  for (const auto& problem : report.problems)
    reasons.push_back(problem.path + ": " + problem.reason);
  std::ranges::sort(reasons);
  REQUIRE(reasons.size() == 4);
  CHECK(reasons[0].find("gh-12/: its diff is missing") != std::string::npos);
  CHECK(reasons[1].find("ORIGIN.yaml: line") != std::string::npos);
  CHECK(reasons[2].find("plot.png: not UTF-8") != std::string::npos);
  CHECK(reasons[3].find("upstream.json: not JSON") != std::string::npos);
  CHECK(kb.ids({.text = "row_reduce"}) == std::vector<std::string>{"snap-demo-12-1.1"});
}

TEST_CASE("identical parts are found once, and in the next file when the first one is removed") {
  TestKnowledge kb;
  const auto root = kb.folder() / "c";
  for (const char* number : {"12", "13"})
    write_origin(root / "evidence/pull-bundles/demo" / (std::string("gh-") + number),
                 "repo: o/d\n");
  kb.add(root);
  CHECK(kb.ids({.text = "row_reduce", .scopes = {{"snapshots"}}}) ==
        std::vector<std::string>{"snap-demo-12-1.1"});
  fs::remove_all(root / "evidence/pull-bundles/demo/gh-12");
  CHECK(kb.add(root).removed == 1);
  CHECK(kb.ids({.text = "row_reduce", .scopes = {{"snapshots"}}}) ==
        std::vector<std::string>{"snap-demo-13-1.1"});
  CHECK(kbs_doctor(kb.index())->healthy);
}

TEST_CASE("only the new text of a changed bundle is found") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/evidence/pull-bundles/demo/gh-12";
  write_origin(bundle, "repo: o/d\n");
  kb.add(kb.folder() / "c");
  write_text(bundle / "review.diff", "diff --git a/a.cu b/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n+okapi\n");
  CHECK(kb.add(kb.folder() / "c").changed == 1);
  CHECK(kb.ids({.text = "zebra"}).empty());
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"diff-demo-12-1.1"});
  CHECK(kbs_remove(kb.index(), "kp"));
  CHECK(kb.ids({.text = "okapi"}).empty());
}

TEST_CASE("code is read by id, whole or in part, with the page it belongs to") {
  TestKnowledge kb;
  const auto root = kb.folder() / "c";
  write_origin(root / "evidence/pull-bundles/demo/gh-12", "repo: org/demo\nlicense: MIT\n");
  write_text(root / "sources/prs/demo/PR-12.md", page_text("pr-demo-12", "Reduce rows", "x"));
  kb.add(root);
  const auto part = kb.base().page({.id = "diff-demo-12-1.1"});
  REQUIRE(part);
  CHECK(part->text.starts_with("```diff\ndiff --git"));
  CHECK(part->license == "MIT");
  CHECK(part->path == "evidence/pull-bundles/demo/gh-12/review.diff:1");
  CHECK(part->content_digest.size() == 64);
  REQUIRE(part->sources.size() == 1);
  CHECK(part->sources[0].id == "pr-demo-12");
  const auto beyond = kb.base().page({.id = "diff-demo-12-1.9"});
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::not_found);
  CHECK_FALSE(kb.base().page({.id = "diff-demo-12-99"}));
}

TEST_CASE("grep finds code with its line in the file and the id of the part") {
  TestKnowledge kb;
  write_origin(kb.folder() / "c/evidence/pull-bundles/demo/gh-12", "repo: o/d\n");
  kb.add(kb.folder() / "c");
  const auto found = kb.base().grep({.pattern = "zebra cros+ing", .scopes = {{"diffs"}}});
  REQUIRE(found);
  REQUIRE(found->hits.size() == 1);
  CHECK(found->hits[0].id == "diff-demo-12-2.1");
  CHECK(found->hits[0].line == 11);  // five lines of the first section, then four of this one above
  CHECK(kb.base().grep({.pattern = "zebra", .scopes = {{"snapshots"}}})->total == 0);
}

TEST_CASE("code is filtered by repository, language and the architectures that it names") {
  TestKnowledge kb;
  const auto bundle = kb.folder() / "c/evidence/pull-bundles/demo/gh-12";
  write_origin(bundle, "repo: org/demo\narchitectures: [sm100]\n");
  write_text(bundle / "review.diff",
             "diff --git a/a.cu b/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n+okapi on sm_90a\n");
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "okapi", .languages = {{"cuda-cpp"}}}).size() == 1);
  const auto other = kb.base().query({.text = "okapi", .languages = {{"triton"}}});
  REQUIRE_FALSE(other);
  CHECK(other.error().message.find("language") == 0);
  CHECK(kb.ids({.text = "okapi", .architectures = {{"H100"}}}).size() == 1);
  CHECK(kb.ids({.text = "okapi", .architectures = {{"B200"}}}).empty());  // a generator's default
  CHECK(kb.ids({.text = "okapi", .repos = {{"other"}}}).empty());
}

TEST_CASE("pages are ranked before code, and code is found where no page matches") {
  TestKnowledge kb;
  const auto root = kb.folder() / "c";
  write_origin(root / "evidence/pull-bundles/demo/gh-12", "repo: o/d\n");
  write_text(root / "wiki/crossing.md", page_text("crossing", "Zebra crossing", "About zebras."));
  kb.add(root);
  CHECK(kb.ids({.text = "zebra crossing"}).front() == "crossing");
  CHECK(kb.ids({.text = "__shfl_xor_sync"}).front() == "diff-demo-12-1.1");
}

}  // namespace
}  // namespace ratchet

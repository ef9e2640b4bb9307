// Trees of other packages: what their files prove, and what is only claimed. Also checks a tree of
// ratchet against the rules of kernel-opt-agent's gate.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "server/runs/imports/import_tree.h"
#include "server/runs/imports/original_rules.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::put;
using samples::Workshop;

std::string in_order(const std::vector<std::string_view>& headings) {
  std::string text;
  for (const auto heading : headings) text += std::string(heading) + "\n\ntext\n\n";
  return text;
}

/// A tree of kernel-opt-agent with v0 and v1, complete.
void old_tree(const samples::fs::path& root) {
  put(root / "current_iteration.txt", "v1\n");
  put(root / "ref.py", "def reference(**kwargs): pass\n");
  for (const char* version : {"v0", "v1"}) {
    for (const char* file : {"correctness.md", "ncu_summary.md", "ncu_details.md"})
      put(root / version / file, "ALL PASS, 0.1 ms\n");
    put(root / version / "kbs_evidence.md", in_order(original::evidence_headings()));
    put(root / version / "hypothesis.txt", in_order(original::hypothesis_headings()));
    put(root / version / "kernel.cu", std::string("// ") + version + "\nint " + version + ";\n");
  }
}

const ImportedVersion& version_of(const ImportReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.versions, name, &ImportedVersion::version);
  REQUIRE(found != report.versions.end());
  return *found;
}

bool has(const std::vector<Reason>& reasons, const std::string& code) {
  return std::ranges::find(reasons, code, &Reason::code) != reasons.end();
}

TEST_CASE("a tree of versions is verified by its form; its figures are only claims", "[import]") {
  const samples::FastFolder folder;
  old_tree(folder.path());

  const auto report = import_tree(folder.path());
  REQUIRE(report);
  CHECK(report->layout == TreeLayout::kernel_opt_agent);
  CHECK(report->problems.empty());
  const auto v1 = version_of(*report, "v1");
  CHECK(v1.problems.empty());
  CHECK(v1.verified.size() == 2);  // another kernel; complete and in order
  CHECK(std::ranges::find(v1.claimed, "correctness (correctness.md)") != v1.claimed.end());
  CHECK(report->next.find("v1/kernel.cu") != std::string::npos);
  CHECK(report->next.find("ref.py") != std::string::npos);
}

TEST_CASE("a kernel that only gained a comment does not count as changed", "[import]") {
  const samples::FastFolder folder;
  old_tree(folder.path());
  put(folder.path() / "v1/kernel.cu", "// better\nint   v0 ;\n");

  const auto report = import_tree(folder.path());
  CHECK(version_of(*report, "v1").claimed.front().find("but for comments") != std::string::npos);
}

TEST_CASE("findings of the original gate are reported with their version", "[import]") {
  const samples::FastFolder folder;
  const auto root = folder.path();
  old_tree(root);
  put(root / "v0/hypothesis.txt", "Version: v1\n");
  put(root / "v1/ncu_details.md", "");
  put(root / "current_iteration.txt", "v7\n");
  samples::fs::copy(root / "v0/kernel.cu", root / "v1/kernel.cu",
                    samples::fs::copy_options::overwrite_existing);

  const auto report = import_tree(root);
  CHECK(has(version_of(*report, "v0").problems, "heading_missing"));
  CHECK(has(version_of(*report, "v1").problems, "file_empty"));
  CHECK(has(version_of(*report, "v1").problems, "kernel_unchanged"));
  CHECK(has(report->problems, "state_differs"));
}

TEST_CASE("headings count only on lines of their own and in order", "[import]") {
  const auto& headings = original::hypothesis_headings();
  CHECK_FALSE(original::missing_heading(in_order(headings), headings));
  CHECK_FALSE(original::missing_heading("  # KBS Evidence - v3\r\n", {"# KBS Evidence"}));
  CHECK(original::missing_heading("# KBS Evidence: v1\n", {"# KBS Evidence"}));
  CHECK(original::missing_heading("Version: v1\n", headings) == "Version:");
  CHECK(original::missing_heading("Version:\nRationale:\n", headings) == "Current evidence:");
}

TEST_CASE("a state.json yields kernels and claims", "[import]") {
  const samples::FastFolder folder;
  put(folder.path() / "iterv1/kernel.cu", "int a;\n");
  put(folder.path() / "state.json",
      R"({"ref_file": "ref.py", "best_file": "iterv1/kernel.cu", "effective_methods": ["a"],
          "history": [{"iter": 1, "kernel_file": "iterv1/kernel.cu", "ms": 0.5,
                       "validation_passed": true},
                      {"iter": 2, "kernel_file": "gone.cu", "ms": 0.4}]})");

  const auto report = import_tree(folder.path());
  REQUIRE(report);
  CHECK(report->layout == TreeLayout::cuda_kernel_optimizer);
  CHECK(report->best == "iterv1/kernel.cu");
  CHECK(version_of(*report, "iter 1").kernel == "iterv1/kernel.cu");
  CHECK(version_of(*report, "iter 1").claimed.front() == "ms = 0.5");
  CHECK(has(version_of(*report, "iter 2").problems, "kernel_missing"));
  CHECK(has(report->problems, "claimed_only"));
}

TEST_CASE("a state.json may name kernels of its folder by any path, and no others", "[import]") {
  const samples::FastFolder folder;
  const auto root = folder.path() / "run";
  put(folder.path() / "secret.cu", "int secret;\n");
  put(root / "iterv1/kernel.cu", "int a;\n");
  samples::fs::create_symlink(folder.path() / "secret.cu", root / "link.cu");
  const Json state{{"history",
                    {{{"iter", 1}, {"kernel_file", (root / "iterv1/kernel.cu").string()}},
                     {{"iter", 2}, {"kernel_file", "iterv1/../iterv1/kernel.cu"}},
                     {{"iter", 3}, {"kernel_file", "../secret.cu"}},
                     {{"iter", 4}, {"kernel_file", (folder.path() / "secret.cu").string()}},
                     {{"iter", 5}, {"kernel_file", "link.cu"}}}}};
  put(root / "state.json", state.dump());

  const auto report = import_tree(root);
  REQUIRE(report);
  for (const char* inside : {"iter 1", "iter 2"})
    CHECK(version_of(*report, inside).kernel == "iterv1/kernel.cu");
  for (const char* outside : {"iter 3", "iter 4", "iter 5"}) {
    CHECK(has(version_of(*report, outside).problems, "kernel_outside"));
    CHECK_FALSE(version_of(*report, outside).kernel_digest);
  }
}

TEST_CASE("what files claim is shown without control characters and as whole characters",
          "[import]") {
  const samples::FastFolder folder;
  put(folder.path() / "v0/kernel.cu", "int a;\n");
  put(folder.path() / "current_iteration.txt", "v3\x1b[31m\n");
  CHECK(import_tree(folder.path())->problems.at(0).message.find("says \"v3\",") !=
        std::string::npos);

  const auto claim = std::string(199, 'x') + "ü";
  put(folder.path() / "state.json",
      Json{{"best_file", "a\nb"}, {"history", {{{"iter", 1}, {"status", claim}}}}}.dump());
  const auto report = import_tree(folder.path());
  CHECK(report->best == "a b");
  CHECK(report->versions.at(0).claimed.at(0) == "status = " + std::string(199, 'x'));
}

TEST_CASE("memory records are checked against their form", "[import]") {
  const samples::FastFolder folder;
  put(folder.path() / "memory/v0.json",
      R"({"version": "v0", "performance": {"tflops": 900}, "optimization": {},
          "profile_evidence": {}, "correctness": {"status": "PASS"}, "quality_gate": {}})");
  put(folder.path() / "memory/v1.json", "{\"version\": \"v1\"}");
  put(folder.path() / "memory/v2.json", "not JSON");

  const auto report = import_tree(folder.path());
  REQUIRE(report);
  CHECK(report->layout == TreeLayout::gpu_kernel_optimizer);
  CHECK(version_of(*report, "v0").verified.size() == 1);
  CHECK(has(version_of(*report, "v1").problems, "fields_missing"));
  CHECK(has(version_of(*report, "v2").problems, "record_unreadable"));
}

TEST_CASE("a folder that claims two billion versions costs one finding", "[import]") {
  const samples::FastFolder folder;
  samples::fs::create_directories(folder.path() / "v0");
  samples::fs::create_directories(folder.path() / "v2000000000");

  const auto report = import_tree(folder.path());

  REQUIRE(report);
  CHECK(report->versions.size() == 2);
  std::size_t missing = 0;
  for (const auto& problem : report->problems)
    missing += problem.message.find("v1 to v1999999999") != std::string::npos ? 1 : 0;
  for (const auto& version : report->versions)
    for (const auto& problem : version.problems)
      missing += problem.message.find("v1 to v1999999999") != std::string::npos ? 1 : 0;
  CHECK(missing == 1);
}

TEST_CASE("state.json with nests or entries without end is not followed", "[import]") {
  const samples::FastFolder folder;
  std::ofstream(folder.path() / "state.json")
      << R"({"history": )" << std::string(1'000'000, '[') << std::string(1'000'000, ']') << "}";
  const auto deep = import_tree(folder.path());
  REQUIRE(deep);
  CHECK(has(deep->problems, "state_unreadable"));

  Json history = Json::array();
  for (int i = 0; i < 1500; ++i) history.push_back({{"iter", i}});
  std::ofstream(folder.path() / "state.json") << Json{{"history", history}};
  const auto many = import_tree(folder.path());
  REQUIRE(many);
  CHECK(many->versions.size() == 1000);
  CHECK(has(many->problems, "too_many"));
}

TEST_CASE("a folder of none of the three layouts is refused", "[import]") {
  const samples::FastFolder folder;

  CHECK(import_tree(folder.path()).error().code == ErrorCode::invalid_argument);
  CHECK(import_tree(folder.path() / "none").error().code == ErrorCode::not_found);
}

TEST_CASE("a tree that ratchet wrote passes the original gate's rules", "[import]") {
  const Workshop shop(2);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);
  shop.finish_version(2);
  REQUIRE(shop.gate(true).passed);

  const auto reasons = original::check_tree(shop.out(), 2);
  INFO((reasons.empty() ? "" : reasons.front().message));
  CHECK(reasons.empty());
  const auto report = import_tree(shop.out());  // it holds memory/ beside v0/
  REQUIRE(report);
  CHECK(report->layout == TreeLayout::kernel_opt_agent);
  CHECK(report->next.find("ratchet audit " + shop.run.text) != std::string::npos);
}

}  // namespace
}  // namespace ratchet

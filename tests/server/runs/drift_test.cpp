// What happens when files in the output directory are not what the server wrote.

#include <fcntl.h>
#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>

#include "server/core/fd.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::codes;
using samples::kernel_text;
using samples::put;
using samples::text_of;
using samples::Workshop;

using Codes = std::vector<std::string>;

/// The refusal of the next measuring step on the open version.
Error refusal(const Workshop& shop, Event event) {
  const auto granted = shop.runs().permit(shop.run, event);
  REQUIRE_FALSE(granted);
  return granted.error();
}

TEST_CASE("a changed reference stops every step and the gate names it", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  put(shop.out() / "ref.cpp", "extern \"C\" void reference() {}");

  const auto reasons = shop.gate().reasons;
  CHECK(codes(reasons) == Codes{"contract_changed"});
  CHECK(reasons.front().path == "ref.cpp");
  CHECK(shop.status().version.text() == "v0");
  put(shop.out() / "ref.cpp", samples::contract().reference.text);
  CHECK(shop.gate().passed);
}

TEST_CASE("a changed contract.json stops a measurement that is under way", "[runs][drift]") {
  const Workshop shop;
  const auto granted = shop.permit(Event::checked);
  put(shop.out() / "contract.json", "{}");

  const auto recorded =
      shop.runs().record_correctness(granted, samples::correctness(*granted.candidate));
  REQUIRE_FALSE(recorded);
  CHECK(recorded.error().code == ErrorCode::drift);
  CHECK(recorded.error().message.find("contract.json") != std::string::npos);
  CHECK(shop.status().stage == Stage::built);
}

TEST_CASE("an edited kernel file needs a new submission, which resolves it", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(kernel_text(1));
  put(shop.out() / "v1/kernel.cpp", kernel_text(2));

  const auto error = refusal(shop, Event::checked);
  CHECK(error.code == ErrorCode::drift);
  CHECK(error.hint.find("Call submit_kernel with path: " +
                        (shop.out() / "v1/kernel.cpp").string()) == 0);
  shop.submit(kernel_text(2));
  CHECK(shop.permit(Event::checked).candidate->source.text == kernel_text(2));
}

TEST_CASE("a changed artifact of a closed version stops the next step", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  put(shop.out() / "v0/correctness.md", "| Result | ALL PASS |");

  CHECK(
      refusal(shop, Event::submitted).message.find("earlier_version_changed: v0/correctness.md") ==
      0);
}

TEST_CASE("a changed artifact of a version that no step works on is found by gate and status",
          "[runs][drift]") {
  const Workshop shop(4);
  shop.finish_v0();
  for (int version = 1; version < 4; ++version) {
    REQUIRE(shop.gate().passed);
    shop.finish_version(version, 1.0 + 0.1 * version);
    shop.write_hypothesis("change " + std::to_string(version));
  }
  const auto path = shop.out() / "v1/correctness.md";  // v3 is open, and v2 its parent
  const auto before = text_of(path);
  put(path, "| Result | ALL PASS |");

  CHECK(codes(shop.status().integrity) == Codes{"earlier_version_changed"});
  CHECK(codes(shop.gate().reasons) == Codes{"earlier_version_changed"});
  CHECK(shop.status().version.text() == "v3");
  samples::fs::remove(path);
  CHECK(codes(shop.gate().reasons) == Codes{"artifact_missing"});
  CHECK(text_of(path) == before);
  CHECK(shop.gate().passed);
}

TEST_CASE("a changed artifact of the parent stops the next step", "[runs][drift]") {
  const Workshop shop(3);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  shop.write_hypothesis("another change");
  REQUIRE(shop.gate().passed);
  put(shop.out() / "v1/build.md", "better");

  CHECK(refusal(shop, Event::submitted).message.find("earlier_version_changed: v1/build.md") == 0);
}

TEST_CASE("a change that leaves no trace in a file's times is seen", "[runs][drift]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  const auto path = shop.out() / "v0/correctness.md";
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  auto* const mapped = static_cast<volatile char*>(
      ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  REQUIRE(mapped != MAP_FAILED);
  mapped[0] = '#';  // unchanged; from now on the page is written without the kernel
  REQUIRE(shop.status().integrity.empty());

  mapped[0] = '*';
  CHECK(codes(shop.status().integrity) == Codes{"earlier_version_changed"});
  CHECK(codes(shop.gate(true).reasons) == Codes{"earlier_version_changed"});
  ::munmap(const_cast<char*>(mapped), 1);
}

TEST_CASE("a changed artifact of the open version is left for the gate", "[runs][drift]") {
  const Workshop shop;
  shop.check();
  put(shop.out() / "v0/correctness.md", "better");
  shop.measure();
  shop.write_evidence();
  shop.write_hypothesis();

  const auto reasons = shop.gate().reasons;
  CHECK(codes(reasons) == Codes{"artifact_changed"});
  CHECK(reasons.front().path == "v0/correctness.md");
  CHECK(text_of(shop.out() / "v0/correctness.md") == "better");
}

TEST_CASE("files of a later version are drift; empty folders are not", "[runs][drift]") {
  const Workshop shop;
  samples::fs::create_directories(shop.out() / "v1");
  CHECK(shop.status().integrity.empty());
  put(shop.out() / "v1/kernel.cpp", kernel_text(1));

  CHECK(refusal(shop, Event::checked).code == ErrorCode::drift);
  CHECK(codes(shop.status().integrity) == Codes{"future_artifacts"});
}

TEST_CASE("v08 is not taken for v8", "[runs][drift]") {
  const Workshop shop;
  samples::fs::create_directories(shop.out() / "v08");

  const auto integrity = shop.status().integrity;
  CHECK(codes(integrity) == Codes{"bad_version_name"});
  CHECK(integrity.front().message.find("leading zeros") != std::string::npos);
}

TEST_CASE("a version number that overflows an integer counts as a later version", "[runs][drift]") {
  const Workshop shop;
  put(shop.out() / "v99999999999999999999/kernel.cpp", "x");

  CHECK(codes(shop.status().integrity) == Codes{"future_artifacts"});
}

TEST_CASE("a second kernel in the folder and a foreign suffix are reported", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  put(shop.out() / "v0/kernel.cu", "x");
  put(shop.out() / "v0/kernel.ptx", "x");
  put(shop.out() / "v0/helper.h", "x");

  auto found = codes(shop.gate().reasons);
  std::sort(found.begin(), found.end());
  CHECK(found == Codes{"foreign_suffix", "several_kernels"});
}

TEST_CASE("missing artifacts are reported by the gate and written again", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  const auto before = text_of(shop.out() / "v0/ncu_summary.md");
  samples::fs::remove(shop.out() / "v0/ncu_summary.md");

  CHECK(codes(shop.gate().reasons) == Codes{"artifact_missing"});
  CHECK(text_of(shop.out() / "v0/ncu_summary.md") == before);
  CHECK(shop.gate().passed);
}

TEST_CASE("deleting current_iteration.txt is reported and changes no stage", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  samples::fs::remove(shop.out() / "current_iteration.txt");

  CHECK(codes(shop.status().integrity) == Codes{"state_file_missing"});
  CHECK(shop.status().version.text() == "v1");
  shop.submit(kernel_text(1));  // only the gate depends on it
}

TEST_CASE("editing current_iteration.txt skips no version", "[runs][drift]") {
  const Workshop shop;
  shop.finish_v0();
  put(shop.out() / "current_iteration.txt", "v2\n");

  CHECK(codes(shop.gate().reasons) == Codes{"state_file_changed"});
  CHECK(text_of(shop.out() / "current_iteration.txt") == "v0\n");
  CHECK(shop.gate().version.text() == "v1");
}

TEST_CASE("a deleted output directory is written again", "[runs][drift]") {
  const Workshop shop;
  shop.check();
  samples::fs::remove_all(shop.out());
  CHECK(codes(shop.status().integrity) == Codes{"folder_missing"});

  shop.measure();
  CHECK(samples::fs::exists(shop.out() / "v0/correctness.md"));
}

TEST_CASE("a version folder swapped for a link leads no write outside", "[runs][drift]") {
  const Workshop shop;
  shop.check();
  const auto outside = shop.out().parent_path() / "outside";
  samples::fs::create_directories(outside);
  samples::fs::rename(shop.out() / "v0", shop.out() / "aside");
  samples::fs::create_directory_symlink(outside, shop.out() / "v0");

  CHECK(refusal(shop, Event::profiled).code == ErrorCode::drift);
  const auto gate = shop.runs().check_gate(shop.run, false, false);
  CHECK(samples::fs::is_empty(outside));

  // Without the link, the ledger's files are put back.
  samples::fs::remove(shop.out() / "v0");
  shop.measure();
  CHECK(samples::fs::exists(shop.out() / "v0/correctness.md"));
}

TEST_CASE("a run's folder swapped for a link is not written through", "[runs][drift]") {
  const Workshop shop;
  shop.check();
  const auto outside = shop.out().parent_path() / "outside";
  samples::fs::create_directories(outside);
  samples::fs::rename(shop.out(), shop.out().parent_path() / "aside");
  samples::fs::create_directory_symlink(outside, shop.out());

  const auto refused = refusal(shop, Event::profiled);
  CHECK(refused.code == ErrorCode::drift);
  CHECK(refused.message.find("symbolic link") != std::string::npos);
  CHECK_FALSE(shop.runs().check_gate(shop.run, false, false)->passed);
  CHECK(samples::fs::is_empty(outside));
}

TEST_CASE("with confirm, nothing is moved or replaced in a folder that is not a run's",
          "[runs][drift]") {
  const Workshop shop;
  auto second = shop.new_run(samples::contract());
  second.output_dir = shop.out().parent_path() / "project";
  second.overwrite = true;
  put(second.output_dir / "plans/mine.md", "mine");
  put(second.output_dir / "ref.py", "mine, too");

  const auto refused = shop.runs().create(second);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(refused.error().message.find("plans, ref.py") != std::string::npos);
  CHECK(text_of(second.output_dir / "plans/mine.md") == "mine");
  CHECK(text_of(second.output_dir / "ref.py") == "mine, too");

  // Other files are not in the way.
  second.output_dir = shop.out().parent_path() / "other";
  put(second.output_dir / "kernel.cu", "mine");
  CHECK(shop.runs().create(second));
  CHECK(text_of(second.output_dir / "kernel.cu") == "mine");
}

TEST_CASE("a folder that is not empty is refused; with confirm, its files are moved aside",
          "[runs][drift]") {
  const Workshop shop;
  put(shop.out() / "notes.txt", "mine");
  auto second = shop.new_run(samples::contract());
  const auto refused = shop.runs().create(second);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);

  second.overwrite = true;
  const auto created = shop.runs().create(second);
  REQUIRE(created);
  CHECK(text_of(shop.out() / "notes.txt") == "mine");
  const auto aside = shop.out() / ("previous-" + created->run.text.substr(6));
  CHECK(samples::fs::exists(aside / "v0/kernel.cpp"));
  CHECK(shop.runs().status(created->run)->integrity.empty());
  // The first run's files were moved away, and it does not write over the second run's files.
  CHECK(refusal(shop, Event::checked).code == ErrorCode::drift);
}

}  // namespace
}  // namespace ratchet

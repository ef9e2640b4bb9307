#include "server/offers/resources.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "tests/support/places.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

/// All providers over one run, the bundled knowledge base and the documentation.
struct Offers {
  samples::FastFolder folder;
  std::unique_ptr<Runs> runs = *Runs::open(folder.path() / "state", {.durable = false});
  std::unique_ptr<Knowledge> knowledge = *Knowledge::open(
      {.builtin_index = test::build_dir() / "share/ratchet/kbs/builtin.db", .user_index = {}});
  std::vector<mcp::ResourceProvider> all =
      all_resources(*runs, *knowledge, test::build_dir() / "share/ratchet/docs");

  mcp::ResourceProvider& provider(const std::string& scheme) {
    return *std::ranges::find(all, scheme, &mcp::ResourceProvider::scheme);
  }
};

TEST_CASE("every documentation page is offered under its title", "[offers]") {
  Offers offers;
  const auto pages = offers.provider("doc").list();
  REQUIRE(pages);

  std::size_t written = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() / "docs"))
    written += file.path().extension() == ".md" ? 1 : 0;
  CHECK(pages->size() == written);
  for (const auto& page : *pages) {
    INFO(page.uri);
    const auto read = offers.provider("doc").read(page.uri);
    REQUIRE(read);
    CHECK(read->at(0).bytes.starts_with("# " + page.title + "\n"));
    CHECK(read->at(0).mime_type == "text/markdown");
  }
}

TEST_CASE("a run's artifacts, and no other files, are listed and read", "[offers]") {
  Offers offers;
  auto view = offers.runs->create({.contract = samples::contract(),
                                   .environment = samples::environment(),
                                   .v0 = samples::candidate(samples::kernel_text(0)),
                                   .warnings = {},
                                   .output_dir = offers.folder.path() / "out",
                                   .overwrite = false,
                                   .secret = "s"});
  REQUIRE(view);
  const std::string root = "run://" + view->run.text + "/";
  auto& runs = offers.provider("run");

  CHECK(runs.read(root + "v0/build.md")->at(0).bytes.starts_with("# Build"));
  CHECK_FALSE(runs.read(root + "../state/ledger.db"));
  CHECK_FALSE(runs.read("run://none/contract.json"));
  const auto listed = runs.list();
  REQUIRE(listed);
  CHECK(std::ranges::count(*listed, root + "v0/build.md", &mcp::Resource::uri) == 1);
  CHECK(runs.read(root + "current_iteration.txt")->at(0).bytes == "v0\n");
}

TEST_CASE("of a run's folder, only what the run wrote is served, as it was written", "[offers]") {
  Offers offers;
  const auto out = offers.folder.path() / "out";
  auto view = offers.runs->create({.contract = samples::contract(),
                                   .environment = samples::environment(),
                                   .v0 = samples::candidate(samples::kernel_text(0)),
                                   .warnings = {},
                                   .output_dir = out,
                                   .overwrite = false,
                                   .secret = "s"});
  REQUIRE(view);
  const std::string root = "run://" + view->run.text + "/";
  auto& runs = offers.provider("run");
  const auto written = runs.read(root + "v0/build.md")->at(0).bytes;
  REQUIRE(write_file(out / "mine.txt", "private"));
  namespace fs = std::filesystem;
  fs::create_symlink(out / "mine.txt", out / "v0/link.md");
  fs::remove(out / "v0/build.md");
  fs::create_symlink(out / "mine.txt", out / "v0/build.md");

  CHECK_FALSE(runs.read(root + "mine.txt"));
  CHECK_FALSE(runs.read(root + "v0/link.md"));
  CHECK(runs.read(root + "v0/build.md")->at(0).bytes == written);
  const auto listed = runs.list();
  REQUIRE(listed);
  CHECK(std::ranges::count(*listed, root + "mine.txt", &mcp::Resource::uri) == 0);
  CHECK(std::ranges::count(*listed, root + "v0/link.md", &mcp::Resource::uri) == 0);
}

TEST_CASE("a complete knowledge page is read by its id", "[offers]") {
  Offers offers;
  auto& pages = offers.provider("kbs");
  const auto ids = pages.templates.at(0).complete.at("id")("pattern-", {});
  REQUIRE_FALSE(ids.empty());

  const auto read = pages.read("kbs://page/" + ids.at(0));

  REQUIRE(read);
  CHECK(read->at(0).bytes.size() > 100);
  CHECK_FALSE(pages.read("kbs://page/none-such"));
  CHECK_FALSE(pages.read("kbs://attic/x"));
}

}  // namespace
}  // namespace ratchet

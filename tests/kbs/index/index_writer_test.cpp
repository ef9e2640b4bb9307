#include "kbs/index/index_writer.h"

#include "kbs/index/index_database.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::TestKnowledge;
using test::write_text;

TEST_CASE("adding an unchanged folder again does not touch the index file") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/a.md", page_text("a", "First", "alpha"));
  kb.add(kb.folder() / "c");
  const auto before = std::filesystem::last_write_time(kb.index());
  CHECK(kb.add(kb.folder() / "c").unchanged == 1);
  CHECK(std::filesystem::last_write_time(kb.index()) == before);
}

TEST_CASE("the pages of an index with other terms are indexed again by the next writer") {
  TestKnowledge kb;
  write_text(kb.folder() / "a/wiki/a.md", page_text("a", "Okapi", "alpha"));
  kb.add(kb.folder() / "a");
  {
    auto database = kbs::open_index(kb.index(), kbs::OpenMode::scratch);
    REQUIRE(database);
    REQUIRE(
        database->execute("DELETE FROM meta WHERE name='terms';"
                          "INSERT INTO fts(fts) VALUES('delete-all')"));
  }
  write_text(kb.folder() / "b/wiki/b.md", page_text("b", "Zebra", "beta"));
  kb.add(kb.folder() / "b", "other");
  CHECK(kb.ids({.text = "alpha"}) == std::vector<std::string>{"a"});
}

TEST_CASE("an item with an unchanged stamp is kept, with everything that it produced") {
  TestKnowledge kb;
  kbs::Document page;
  page.id = "a";
  page.title = "Okapi";
  {
    auto writer = kbs::IndexWriter::open(kb.index());
    REQUIRE(writer);
    REQUIRE(writer->begin_corpus("c", "/"));
    CHECK_FALSE(writer->keep({"a.md", "1"}));
    REQUIRE(writer->put(page));
    REQUIRE(writer->remember({"a.md", "1"}, "a", ""));
    REQUIRE(writer->end_corpus());
    REQUIRE(writer->finish());
  }
  auto writer = kbs::IndexWriter::open(kb.index());
  REQUIRE(writer);
  REQUIRE(writer->begin_corpus("c", "/"));
  CHECK(writer->made_of("a.md").document == "a");
  CHECK_FALSE(writer->keep({"a.md", "2"}));
  CHECK_FALSE(writer->keep({"a.md", ""}));
  CHECK(writer->keep({"a.md", "1"}));
  CHECK(writer->end_corpus()->removed == 0);
}

}  // namespace
}  // namespace ratchet

#include "server/offers/skills.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "server/core/files.h"
#include "server/core/hash.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

fs::path shipped() {
  return test::build_dir() / "share" / "ratchet" / "skills";
}

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST_CASE("every skill of the repository is offered with its files' digests", "[offers]") {
  const auto skills = all_skills(shipped());
  REQUIRE(skills);

  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "skill" / "skills"))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  REQUIRE(skills->size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const mcp::Skill& skill = skills->at(i);
    CHECK(skill.uri == "skill://" + names[i] + "/SKILL.md");
    CHECK(skill.front_matter.at("name") == names[i]);
    const auto text = read_file(test::source_dir() / "skill" / "skills" / names[i] / "SKILL.md");
    CHECK(skill.files.at(0).sha256_hex == sha256_hex(*text));
  }
}

TEST_CASE("a skill is a resource with its description", "[offers]") {
  const auto skills = all_skills(shipped());
  REQUIRE(skills);
  const auto provider = skill_files(shipped(), *skills);

  const auto listed = provider.list();
  REQUIRE(listed);
  CHECK(listed->at(0).name == skills->at(0).front_matter.at("name"));
  CHECK(listed->at(0).description == skills->at(0).front_matter.at("description"));
  const auto read = provider.read(listed->at(0).uri);
  REQUIRE(read);
  CHECK(read->at(0).mime_type == "text/markdown");
  CHECK(read->at(0).bytes.starts_with("---\nname: "));
  CHECK_FALSE(provider.read("skill://../kbs/builtin.db"));
}

TEST_CASE("files beside SKILL.md belong to the skill", "[offers]") {
  const test::TempFolder folder;
  put(folder / "one" / "SKILL.md", "---\nname: one\ndescription: Does it.\n---\n# One\n");
  put(folder / "one" / "notes" / "more.md", "more");

  const auto skills = all_skills(folder.path());

  REQUIRE(skills);
  REQUIRE(skills->size() == 1);
  CHECK(skills->at(0).files.size() == 2);
  CHECK(skills->at(0).files.at(1).uri == "skill://one/notes/more.md");
}

TEST_CASE("a skill whose name is not its folder's is rejected", "[offers]") {
  const test::TempFolder folder;
  put(folder / "one" / "SKILL.md", "---\nname: two\ndescription: Does it.\n---\n");

  const auto skills = all_skills(folder.path());

  REQUIRE_FALSE(skills);
  CHECK(skills.error().message.find("the name one") != std::string::npos);
}

TEST_CASE("without a folder there are no skills", "[offers]") {
  const test::TempFolder folder;
  const auto skills = all_skills(folder / "none");
  REQUIRE(skills);
  CHECK(skills->empty());
}

}  // namespace
}  // namespace ratchet

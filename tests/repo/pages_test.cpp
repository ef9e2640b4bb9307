// README, CONTRIBUTING and docs/: their size, the picture of the rooms, and the files they name.

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/repo/layers.h"
#include "tests/repo/tree.h"

namespace ratchet::repo {
namespace {

namespace fs = std::filesystem;

/// The lines of the first fenced block of a page that opens with ```<language>.
std::vector<std::string> block_of(const std::string& page, const std::string& language) {
  std::vector<std::string> block;
  std::optional<std::string> open;  // the language of the block that a line is in
  for (const auto& line : lines_of(page)) {
    if (open && line == "```") {
      if (*open == language) return block;
      open.reset();
    } else if (open == language) {
      block.push_back(line);
    } else if (!open && line.starts_with("```")) {
      open = line.substr(3);
    }
  }
  FAIL(page << " has no block ```" << language);
  return block;
}

std::string without_slash(std::string text) {
  if (text.ends_with('/') || text.ends_with('.')) text.pop_back();
  return text;
}

/// How a room writes the name of what it includes: without its own folder, that of its siblings, or
/// "server/", whichever comes first.
std::string short_name(const std::string& room, const std::string& included) {
  const auto parent = fs::path(without_slash(room)).parent_path().string() + "/";
  for (const std::string& prefix : {room, parent, std::string("server/")})
    if (included.starts_with(prefix) && included.size() > prefix.size())
      return without_slash(included.substr(prefix.size()));
  return without_slash(included);
}

/// The layer table as CONTRIBUTING.md writes it: a line per room, "room → what it may include".
std::vector<std::string> drawn_layers() {
  std::vector<std::string> lines;
  for (const auto& layer : layers()) {
    const std::string room(layer.folder);
    std::string line = without_slash(room);
    if (!layer.ours.empty()) line = fmt::format("{:<21}→", line);
    for (const auto& included : layer.ours) line += " " + short_name(room, std::string(included));
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> without(std::vector<std::string> lines,
                                 const std::vector<std::string>& others) {
  std::erase_if(lines,
                [&](const auto& line) { return std::ranges::find(others, line) != others.end(); });
  return lines;
}

/// Pages for people, our own text.
std::vector<std::string> pages() {
  std::vector<std::string> found{"README.md", "CONTRIBUTING.md"};
  for (const auto* folder : {"docs/", "skill/", "examples/"})
    for (const auto& page : files(folder, {".md"}))
      if (page.find("/run/") == std::string::npos) found.push_back(page);  // written by the server
  return found;
}

TEST_CASE("README fits in nine kilobytes", "[repo]") {
  CHECK(text_of("README.md").size() <= 9 * 1024);
}

TEST_CASE("the transcript in README is what the demo printed on a GPU", "[repo]") {
  const auto printed = lines_of("tests/gpu/results/demo.md");
  const auto shown = block_of("README.md", "");
  auto invented = without(shown, printed);
  std::erase(invented, "...");
  INFO(listed(invented));
  CHECK(shown.size() > 5);
  CHECK(invented.empty());
}

TEST_CASE("CONTRIBUTING.md draws the arrows of the layer table and no others", "[repo]") {
  const auto drawn = block_of("CONTRIBUTING.md", "rooms");
  const auto wanted = drawn_layers();

  const auto missing = without(wanted, drawn);
  const auto surplus = without(drawn, wanted);

  INFO("to add to its block ```rooms:" << listed(missing) << "\nto remove:" << listed(surplus));
  CHECK(missing.empty());
  CHECK(surplus.empty());
}

TEST_CASE("the overview in CONTRIBUTING.md shows every room", "[repo]") {
  std::string picture;
  for (const auto& line : block_of("CONTRIBUTING.md", "text")) picture += line + "\n";
  std::vector<std::string> absent;
  for (const auto& layer : layers()) {
    const auto name = fs::path(without_slash(std::string(layer.folder))).filename().string();
    if (!std::regex_search(picture, std::regex("\\b" + name + "\\b"))) absent.push_back(name);
  }
  INFO(listed(absent));
  CHECK(absent.empty());
}

TEST_CASE("links of the pages lead to files", "[repo]") {
  static const std::regex link(R"re((\]\(|src=")([^)"#\s]+)(#[^)]*)?[)"])re");
  std::vector<std::string> broken;
  for (const auto& page : pages()) {
    const auto text = text_of(page);
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const auto target = (*match)[2].str();
      if (target.find("://") != std::string::npos) continue;
      if (!fs::exists(root() / fs::path(page).parent_path() / target))
        broken.push_back(page + ": " + target);
    }
  }
  INFO(listed(broken));
  CHECK(broken.empty());
}

/// What a heading is called in an address: small letters, digits and hyphens.
std::string slug(std::string_view heading) {
  std::string out;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') out += '-';
    if (c == '-' || c == '_' || byte >= 0x80U || std::isalnum(byte) != 0)
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::set<std::string> headings_of(const std::string& page) {
  std::set<std::string> slugs;
  bool code = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("```")) code = !code;
    const auto text = line.find_first_not_of('#');
    if (!code && line.starts_with('#') && text != std::string::npos && line[text] == ' ')
      slugs.insert(slug(std::string_view(line).substr(text + 1)));
  }
  return slugs;
}

TEST_CASE("links of the pages to headings lead to headings", "[repo]") {
  static const std::regex link(R"re(\]\(([^)#\s]*)#([^)\s]+)\))re");
  std::vector<std::string> broken;
  int seen = 0;
  for (const auto& page : pages()) {
    const auto text = text_of(page);
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const auto target = (*match)[1].str();
      if (target.find("://") != std::string::npos) continue;
      const auto file = target.empty() ? fs::path(page) : fs::path(page).parent_path() / target;
      ++seen;
      if (!fs::exists(root() / file) ||
          !headings_of(file.lexically_normal().string()).contains((*match)[2].str()))
        broken.push_back(page + ": " + target + "#" + (*match)[2].str());
    }
  }
  INFO(listed(broken));
  CHECK(broken.empty());
  CHECK(seen > 3);
}

TEST_CASE("every page for users is linked from README", "[repo]") {
  const auto readme = text_of("README.md");
  std::vector<std::string> orphans;
  for (const auto& page : files("docs/", {".md"}))
    if (readme.find("(" + page + ")") == std::string::npos) orphans.push_back(page);
  INFO(listed(orphans));
  CHECK(orphans.empty());
}

TEST_CASE("paths that the pages name exist", "[repo]") {
  static const std::regex path(
      R"re((^|[\s`(|])((server|tools|kbs|kernels|schemas|skill|tests|bench|docs|examples|cmake|\.ci)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]))re");
  const std::set<std::string> methods{"tools/call", "tools/list"};  // of the protocol
  const auto exists = [](const std::string& name) {
    // A header and its source may be a room of their own: server/options.
    return fs::exists(root() / name) || fs::exists(root() / (name + ".h"));
  };
  std::vector<std::string> absent;
  for (const auto& page : pages())
    for (const auto& line : lines_of(page))
      for (std::sregex_iterator match(line.begin(), line.end(), path), end; match != end; ++match)
        if (const auto name = (*match)[2].str(); !methods.contains(name) && !exists(name))
          absent.push_back(page + ": " + name);
  INFO(listed(absent));
  CHECK(absent.empty());
}

}  // namespace
}  // namespace ratchet::repo

#include "tests/repo/tree.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <regex>
#include <sstream>

#include "server/core/files.h"
#include "tests/support/places.h"

namespace ratchet::repo {
namespace {

namespace fs = std::filesystem;

bool outside_the_tree(const std::string& name) {
  return name == ".git" || name == ".cache" || name == "dist" || name == "node_modules" ||
         name == "__pycache__" || name.starts_with("build");
}

// Kernels are data here: runs compile them, against other headers.
bool is_data(const std::string& path) {
  constexpr std::string_view folders[] = {"kernels/problems/", "kernels/cuda/", "kernels/python/",
                                          "tests/attacks/",    "examples/",     "kbs/content/",
                                          "tests/kbs/code/"};
  return std::ranges::any_of(folders, [&](auto folder) { return path.starts_with(folder); });
}

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

fs::path root() {
  return test::source_dir();
}

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator entry(root()), end; entry != end; ++entry) {
    if (entry->is_directory() && outside_the_tree(entry->path().filename().string()))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file() && entry->path().filename() != ".git")  // of a worktree
      found.push_back(fs::relative(entry->path(), root()).generic_string());
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> files(std::string_view folder,
                               const std::vector<std::string_view>& suffixes) {
  std::vector<std::string> found = files();
  std::erase_if(found, [&](const std::string& path) {
    return !path.starts_with(folder) ||
           std::ranges::none_of(suffixes, [&](auto suffix) { return path.ends_with(suffix); });
  });
  return found;
}

std::string text_of(const std::string& path) {
  auto text = read_file(root() / path);
  if (!text) FAIL(path << ": " << text.error().message);
  return *text;
}

std::vector<std::string> lines_of(const std::string& path) {
  return split(text_of(path));
}

std::vector<std::string> code_lines_of(const std::string& path) {
  static const std::regex opening("R\"([^ ()\\\\\"]{0,16})\\(");
  std::string text = text_of(path);
  std::string code;
  for (std::smatch match; std::regex_search(text, match, opening);) {
    const std::string rest = match.suffix();
    const auto end = rest.find(")" + match[1].str() + "\"");
    code += match.prefix().str() + match.str();
    text = end == std::string::npos ? rest : rest.substr(end);
  }
  return split(code + text);
}

std::vector<std::string> sources(const std::vector<std::string_view>& suffixes) {
  std::vector<std::string> found = files("", suffixes);
  std::erase_if(found, is_data);
  return found;
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += "\n  " + item;
  return text;
}

}  // namespace ratchet::repo

#include "tests/kernels/lab/attack.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "server/core/files.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text) FAIL(text.error().message);
  return *std::move(text);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

/// The value of "// Key: " in the head, or of "# Key: " in a Python file; empty if absent.
std::string optional_head(const Attack& attack, const std::string& key) {
  const std::string start = (attack.name.ends_with(".py") ? "# " : "// ") + key + ": ";
  const auto at = attack.text.find(start);
  if (at == std::string::npos) return "";
  const auto from = at + start.size();
  return attack.text.substr(from, attack.text.find('\n', from) - from);
}

std::string head_of(const Attack& attack, const std::string& key) {
  auto head = optional_head(attack, key);
  if (head.empty()) FAIL(attack.name << " has no line \"" << key << ": …\" in its head");
  return head;
}

void read_expectation(Attack& attack) {
  const auto words = split(head_of(attack, "Expect"), ' ');
  REQUIRE_FALSE(words.empty());
  attack.stage = words[0];
  if (attack.stage == "pass") return;
  if (words.size() != 2) FAIL(attack.name << ": \"Expect: STAGE WHAT\" is needed");
  if (attack.stage == "time")
    attack.least_ns = std::stod(words[1]);
  else
    attack.reasons = split(words[1], '|');
}

}  // namespace

std::filesystem::path attacks_folder() {
  return source_dir() / "tests" / "attacks";
}

std::vector<Attack> attacks_of(const std::string& folder) {
  std::vector<Attack> attacks;
  for (const auto& entry : std::filesystem::directory_iterator(attacks_folder() / folder)) {
    Attack attack;
    attack.name = folder + "/" + entry.path().filename().string();
    attack.text = text_of(entry.path());
    attack.catalog = split(head_of(attack, "Catalog"), ' ');
    attack.task = head_of(attack, "Task");
    attack.needs_gpu = folder == "cuda" || optional_head(attack, "Device") == "cuda";
    if (const auto search = optional_head(attack, "Search"); !search.empty())
      attack.search = std::stod(search);
    read_expectation(attack);
    attacks.push_back(std::move(attack));
  }
  std::ranges::sort(attacks, {}, &Attack::name);
  return attacks;
}

AttackTask host_task(const std::string& name, const std::string& suffix) {
  const auto tasks = Json::parse(text_of(attacks_folder() / "tasks" / "tasks.json"));
  Json task = tasks.at(name);
  std::string reference = name;
  if (task.contains("like")) {
    reference = task["like"].get<std::string>();
    Json base = tasks.at(reference);
    base.update(task);
    task = std::move(base);
  }
  task["dims"] = task.at("host");
  for (const char* key : {"about", "like", "host", "cuda"}) task.erase(key);
  if (task.contains("work") && task["work"].is_null()) task.erase("work");  // not the other task's
  if (suffix == ".py") task["implementation"] = "host-python";
  auto request = decode_stored<TaskRequest>(task);
  if (!request) FAIL(name << ": " << request.error().message);
  return {*std::move(request),
          {"ref" + suffix, text_of(attacks_folder() / "tasks" / (reference + suffix)), ""}};
}

}  // namespace ratchet::test

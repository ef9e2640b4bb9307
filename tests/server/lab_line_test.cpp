// What crosses the line to a lab, who decides what is measured there, and what is left of it when
// its server is killed.

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "kernels/labs/lab_messages.h"
#include "kernels/process/descendants.h"
#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/schema_check.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A server and a lab on one machine, with a line between them that a test chooses.
class Line {
 public:
  static std::string program() { return (build_dir() / "bin/ratchet").string(); }
  [[nodiscard]] std::string lab() const {
    return fmt::format("{} --state-dir {} lab", program(), (folder_ / "far").string());
  }

  [[nodiscard]] ProcessSpec spec(const std::string& tool, const Json& arguments,
                                 const std::string& command) const {
    return {.argv = {program(), "--json", "--state-dir", (folder_ / "near").string(), "--root",
                     folder_.path().string(), "--no-builtin-kbs", "--lab", "far=" + command, "call",
                     tool, arguments.dump()},
            .environment = inherited_environment({"PATH", "HOME", "LD_LIBRARY_PATH"}),
            .folder = folder_.path()};
  }
  [[nodiscard]] Captured call(const std::string& tool, const Json& arguments,
                              const std::string& command) const {
    auto done = run_program(spec(tool, arguments, command), 240s);
    REQUIRE(done);
    return *std::move(done);
  }
  Json must(const std::string& tool, const Json& arguments, const std::string& command) const {
    const auto done = call(tool, arguments, command);
    INFO(done.err);
    REQUIRE(done.status.clean());
    return Json::parse(done.out);
  }

  /// A task whose kernel has a mark in a comment of some kilobytes.
  [[nodiscard]] Json marked_task() const {
    const std::string kernel = "// the-mark " + std::string(4000, '-') +
                               "\nextern \"C\" void solve(const float* x, float* y, int n) {\n"
                               "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
    return {{"kernel", {{"text", kernel}}},
            {"reference",
             {{"text",
               "extern \"C\" void reference(const float* x, float* y, int n) {\n"
               "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"}}},
            {"dims", {{"n", 20000}}},
            {"implementation", "host-cpp"},
            {"lab", "far"},
            {"output_dir", (folder_ / "run").string()},
            {"wait_s", 200}};
  }
  [[nodiscard]] fs::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  TempFolder folder_;
};

Json next_step(const Json& created) {
  return {{"run", created["run"]}, {"wait_s", 200}};
}

int times_in(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The first line of a file of /proc; empty once the process is gone, be it while it is read.
std::string about(pid_t pid, const char* name) {
  std::ifstream file(fmt::format("/proc/{}/{}", pid, name));
  std::string line;
  std::getline(file, line);
  return line;
}

bool alive(pid_t pid) {
  const auto stat = about(pid, "stat");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

/// The messages of a recorded line.
std::vector<Json> messages_in(const std::string& text) {
  std::vector<Json> all;
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    const auto head = text.rfind("ratchet-lab ", at) + 12;
    const auto size = std::stoul(text.substr(head, at - head));
    all.push_back(Json::parse(text.substr(at + 1, size)));
    at += 1 + size;
  }
  return all;
}

/// What of a session does not follow schemas/labs; and how often which methods were answered.
struct Session {
  explicit Session(const fs::path& folder) : folder_(folder) {}

  void follow(const Json& message) {
    note(violation(schema("message")["message"], message));
    const std::string id = message.value("id", "");
    if (message["kind"] == "request") {
      methods_[id] = message["method"];
      note(violation(schema(methods_[id])["request"], message["body"]));
    }
    if (message["kind"] != "answer") return;
    note(violation(schema(methods_[id])["answer"], message["body"]["value"]));
    ++answered[methods_[id]];
  }

  std::vector<std::string> violations;
  std::map<std::string, int> answered;

 private:
  Json schema(const std::string& name) const {
    const auto text = read_file(folder_ / (name + ".json"));
    REQUIRE(text);
    return Json::parse(*text);
  }
  void note(const std::string& violation) {
    if (!violation.empty()) violations.push_back(violation);
  }

  fs::path folder_;
  std::map<std::string, std::string> methods_;  ///< by the request's number
};

bool is_worker(pid_t pid) {
  return about(pid, "cmdline").find("ratchet-worker") != std::string::npos;
}

/// The processes below one, once a worker is among them.
std::vector<pid_t> processes_below(pid_t root) {
  for (int i = 0; i < 1200; ++i) {
    auto found = descendants_of(root);
    if (std::ranges::any_of(found, is_worker)) return found;
    std::this_thread::sleep_for(50ms);
  }
  return {};
}

/// Kills a server in the middle of a profile and returns what is left of its lab ten seconds later.
std::size_t left_after_kill(const Line& line, const Json& created, const std::string& command) {
  auto server = Process::spawn(line.spec("profile_kernel", next_step(created), command));
  REQUIRE(server);
  const auto below = processes_below(server->pid());
  REQUIRE_FALSE(below.empty());
  // The server alone: what it started must notice by itself.
  ::kill(server->pid(), SIGKILL);
  for (int i = 0; i < 200 && std::ranges::any_of(below, alive); ++i)
    std::this_thread::sleep_for(50ms);
  return static_cast<std::size_t>(std::ranges::count_if(below, alive));
}

}  // namespace

TEST_CASE("a source crosses the line to a lab once, in messages that follow schemas/labs",
          "[labs][slow]") {
  const Line line;
  const auto command = fmt::format("tee -a {} | {} | tee -a {}", (line / "sent").string(),
                                   line.lab(), (line / "received").string());

  const auto run = line.must("create_run", line.marked_task(), command);
  line.must("check_correctness", next_step(run), command);
  const auto profiled = line.must("profile_kernel", next_step(run), command);
  const auto sent = read_file(line / "sent");

  const auto received = read_file(line / "received");

  REQUIRE((sent && received));
  // Three servers and three labs, which have only the lab's state folder in common.
  CHECK(times_in(*sent, "the-mark") == 1);
  CHECK(profiled["timing"]["median_ns"].get<double>() > 0);

  Session session(source_dir() / "schemas/labs");
  for (const auto& message : messages_in(*sent)) session.follow(message);
  for (const auto& message : messages_in(*received)) session.follow(message);
  CHECK(session.violations == std::vector<std::string>{});
  for (const auto* method : {"environment", "plan", "prepare", "validate_task", "check", "profile"})
    CHECK(session.answered[method] > 0);
  const auto page = read_file(source_dir() / "docs/scale.md");
  REQUIRE(page);
  CHECK(page->find(fmt::format("This is version {} of", lab_wire::kProtocol)) != std::string::npos);
  auto wrong = messages_in(*received).front();
  wrong["hello"]["protocol"] = "four";
  session.follow(wrong);
  CHECK(session.violations ==
        std::vector<std::string>{"/hello/protocol: \"four\" is no \"integer\""});
}

TEST_CASE("a text that was damaged at the lab is sent again", "[labs][slow]") {
  const Line line;
  const auto run = line.must("create_run", line.marked_task(), line.lab());
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(line / "far/texts")) {
    REQUIRE(write_file(entry.path(), "int main() {}"));
    ++damaged;
  }

  const auto checked = line.must("check_correctness", next_step(run), line.lab());

  CHECK(damaged > 0);
  CHECK(checked["passed"] == true);
}

TEST_CASE("a lab refuses a text that has another digest than the one it asked for", "[labs]") {
  const Line line;
  // Between the two, every text becomes another one of the same length.
  REQUIRE(write_file(line / "relay.py",
                     "import os\n"
                     "while block := os.read(0, 1 << 20):\n"
                     "    os.write(1, block.replace(b'the-mark', b'the-lark'))\n"));
  const auto command = fmt::format("python3 {} | {}", (line / "relay.py").string(), line.lab());

  const auto done = line.call("create_run", line.marked_task(), command);

  CHECK_FALSE(done.status.clean());
  INFO(done.err);
  CHECK(done.err.find("one with the digest") != std::string::npos);
}

TEST_CASE("the devices of the lab decide what a shipped problem is written in", "[labs]") {
  const Line line;
  auto there = line.must("check_env", Json::object(), "exit 1");
  there.erase("storage");
  const bool here = there["devices"].size() > 1;
  // A lab with a GPU, or without one, that says what it was asked to plan.
  const auto planned_on = [&](bool gpu) {
    auto environment = there;
    Json device = environment["devices"][0];
    device["kind"] = gpu ? "cuda" : "host";
    environment["devices"] = Json::array({device});
    for (auto& one : environment["implementations"])
      one["ready"] = gpu || one["name"] == "host-cpp";
    const auto version =
        run_program({.argv = {Line::program(), "--version"},
                     .environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"})},
                    20s);
    REQUIRE(version);
    const auto number = version->out.substr(8, version->out.find('\n') - 8);
    REQUIRE(write_file(line / "lab.py", fmt::format(R"py(
import json, sys
def say(message):
    body = json.dumps(message)
    sys.stdout.write(f"ratchet-lab {{len(body)}}\n{{body}}")
    sys.stdout.flush()
say({{"kind": "hello", "hello": {{"protocol": 5, "version": "{}", "program": "", "host": "far"}}}})
while head := sys.stdin.readline():
    asked = json.loads(sys.stdin.read(int(head.split()[1])))
    if asked["kind"] == "alive":
        continue
    if asked["method"] == "environment":
        value = json.loads({})
        say({{"kind": "answer", "id": asked["id"], "body": {{"value": value}}}})
    else:
        plan = asked["body"]
        say({{"kind": "error", "id": asked["id"], "code": "unavailable",
             "text": "asked for " + plan["task"]["implementation"]}})
)py",
                                                    number, Json(environment.dump()).dump())));
    return line
        .call("create_run",
              {{"problem", "vector_add"},
               {"lab", "far"},
               {"output_dir", (line / "run").string()},
               {"wait_s", 60}},
              "exec python3 " + (line / "lab.py").string())
        .err;
  };

  INFO("this machine has a GPU: " << here);
  const auto with = planned_on(true);
  const auto without = planned_on(false);
  INFO(with << without);
  CHECK(with.find("asked for cuda-cpp") != std::string::npos);
  CHECK(without.find("asked for host-cpp") != std::string::npos);
}

TEST_CASE("a server that is killed takes its lab with all that runs there along", "[labs][slow]") {
  const Line line;
  const auto run = line.must("create_run", line.marked_task(), line.lab());
  line.must("check_correctness", next_step(run), line.lab());

  // The lab with its workers; and as through ssh, where only the end of its input tells the lab.
  CHECK(left_after_kill(line, run, line.lab()) == 0);
  CHECK(left_after_kill(line, run, fmt::format("cat | {} | cat", line.lab())) == 0);

  const auto status = line.must("run_status", {{"run", run["run"]}}, line.lab());
  const auto listed = line.must("list_labs", Json::object(), line.lab());
  CHECK(status["stage"] == "correct");
  CHECK(listed["labs"][0]["state"] == "off");
  CHECK(line.must("profile_kernel", next_step(run), line.lab())["stage"] == "profiled");
}

}  // namespace ratchet::test

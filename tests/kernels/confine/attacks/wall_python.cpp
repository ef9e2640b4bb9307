#include "tests/kernels/confine/attacks/wall_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <utility>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/kernels/confine/attacks/wall_targets.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kAnswerTime(20'000);
constexpr std::string_view kSaid = "wall probe: ";

fs::path probes_file() {
  return source_dir() / "tests" / "attacks" / "walls" / "python" / "probes.py";
}

/// What the probe's exception says; else the whole message: it was ended from outside.
std::string outcome_in(const std::string& message) {
  const auto at = message.rfind(kSaid);
  if (at == std::string::npos) return message.substr(0, 120);
  const auto begin = at + kSaid.size();
  return message.substr(begin, message.find_first_of("\n\"", begin) - begin);
}

WallAttempt python_judged(const PythonProbe& probe, const std::string& said,
                          const std::string& seen) {
  WallAttempt attempt{probe.name, 0, false, said};
  if (!seen.empty() || (said == "done" && !probe.seen)) {
    attempt.done = true;
    if (!seen.empty()) attempt.how = seen;
  }
  return attempt;
}

}  // namespace

PythonWallProbes::PythonWallProbes(std::string python) : python_(std::move(python)) {
  auto text = read_file(probes_file());
  REQUIRE(text);
  text_ = *std::move(text);
  const std::string list =
      "import json,runpy,sys; m=runpy.run_path(sys.argv[1]); "
      "print(json.dumps([[n,*p[:4]] for n,p in m['PROBES'].items()]+"
      "[[n,h[0],'',h[1],False] for n,h in m['HONEST'].items()]))";
  const auto listed = run_program({.argv = {python_, "-B", "-c", list, probes_file().string()},
                                   .environment = inherited_environment({"PATH"})},
                                  kAnswerTime);
  REQUIRE(listed);
  for (const auto& one : Json::parse(listed->out))
    probes_.push_back({one[0], one[1], one[2], one[3], one[4]});
}

std::string PythonWallProbes::text_of(const walls::Prey& prey, const PythonProbe& probe) const {
  const auto& target = prey.targets[1];
  const Json told{{"secret", target.secret.data()},
                  {"folder", target.folder.data()},
                  {"door", target.door.data()},
                  {"name", target.name.data()},
                  {"process", target.process},
                  {"address", target.address},
                  {"port", prey.port},
                  {"mark", prey.mark.data()},
                  {"memory", prey.memory},
                  {"disk", prey.disk},
                  {"count", prey.count},
                  {"pause", prey.pause_ms / 1000.0}};
  return fmt::format("{}\n\nattempt(\"{}\", {})\n", text_, probe.name, told.dump());
}

WallAttempt PythonWallProbes::confined(const WallPlace& place, const PythonProbe& probe,
                                       const std::string& role) {
  if (!server_)
    server_.emplace(PythonForkServer::Options{python_, source_dir() / "kernels",
                                              build_dir() / "bin", DeviceKind::host});
  const WallTargets targets(place.neighbor);
  const auto text = text_of(targets.prey(probe.name, 0, true), probe);
  const bool serves = role == "reference" || role == "inputs";
  auto spec = serves ? server_->server_spec(role, text)
                     : server_->kernel_spec({build_dir() / "bin", DeviceKind::host, 0, kAnswerTime},
                                            role, 1 << 20, {"probe.py", text, ""});
  if (!serves) spec.address_space_bytes = kWallMemory;
  REQUIRE(spec.memory_bytes > 0);  // what it has outside of this test; here it is less
  spec.memory_bytes = kWallMemory;
  std::string said, seen;
  fs::path folder;
  if (serves) {
    auto worker = WorkerProcess::start(spec, {});
    if (!worker) FAIL(worker.error().message);
    const Json load{{"file_name", "probe.py"},
                    {"text", text},
                    {"folder", ""},
                    {"function", "inputs"},
                    {"cuda_device", nullptr}};
    auto answer = worker->ask({{"load", load}}, {}, kAnswerTime, {});
    if (!answer) FAIL(answer.error().message);
    said = answer->fault ? answer->fault->kind : outcome_in(answer->body.dump());
    worker->end();
    folder = worker->folder();
    seen = left_in(folder);
  } else {
    auto candidate = CandidateProcess::launch(spec, kAnswerTime);
    if (!candidate) FAIL(candidate.error().message);
    if (auto loaded = candidate->load({text, {"probe.py", "solve", "reference"}}, {}); !loaded)
      FAIL(loaded.error().message);
    const auto& fault = candidate->fault();
    said = !fault                        ? "no answer"
           : fault->kind == "load_error" ? outcome_in(fault->message)
                                         : fault->kind;
    folder = candidate->left_behind();
    seen = left_in(folder);
  }
  if (seen.empty()) seen = left_behind();
  if (seen.empty()) seen = targets.changed();
  return python_judged(probe, said, seen);
}

WallAttempt PythonWallProbes::free(const WallPlace& place, const PythonProbe& probe) {
  const WallTargets targets(place.neighbor);
  const TempFolder folder;
  {
    std::ofstream file(folder / "probe.py");
    file << text_of(targets.prey(probe.name, 0, false), probe);
  }
  const auto ran = run_program({.argv = {python_, "-B", "probe.py"},
                                .environment = inherited_environment({"PATH"}),
                                .folder = folder.path()},
                               kAnswerTime, {}, std::size_t{128} << 20U);
  REQUIRE(ran);
  auto seen = left_in(folder.path());
  if (seen.empty()) seen = left_behind();
  if (seen.empty()) seen = targets.changed();
  return python_judged(probe, outcome_in(ran->err), seen);
}

}  // namespace ratchet::test

// The cost of the protocol layer, compared with a minimal server that only parses a request and
// builds its answer, and with a server on the TypeScript SDK. Client and servers share the machine,
// so the servers are measured in turn, round by round, and the medians of one run are compared.
//
// Usage: bench-mcp [--npm FOLDER] [--rivals FOLDER] [--server PROGRAM] [--rounds N]
//        bench-mcp ours|floor PORT    one server, for external load generators; port 0 means stdio

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/mcp/load.h"
#include "bench/mcp/servers.h"

namespace {

namespace fs = std::filesystem;
using ratchet::bench::Contender;
using ratchet::bench::Cost;
using ratchet::bench::Load;

constexpr int kInFlight = 16;
constexpr int kWarmUp = 3000;
constexpr int kStarts = 20;
constexpr int kMemoryCalls = 200'000;

struct Settings {
  std::string npm;
  std::string rivals;
  std::string server;
  int rounds = 5;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

/// The median of each quantity over the rounds.
Cost middle(const std::vector<Cost>& rounds) {
  const auto of = [&](double Cost::* quantity) {
    std::vector<double> values;
    for (const auto& round : rounds) values.push_back(round.*quantity);
    return median(std::move(values));
  };
  return {of(&Cost::calls_per_second), of(&Cost::cpu_us), of(&Cost::p50_us), of(&Cost::p99_us)};
}

std::map<std::string, Cost> print_costs(const std::vector<Contender>& all, int rounds) {
  std::map<std::string, std::vector<Cost>> seen;
  for (int round = 0; round < rounds; ++round)
    for (const auto& contender : all) {
      Load load(contender, kInFlight);
      load.run(kWarmUp);
      seen[contender.name].push_back(load.run(contender.calls));
    }
  fmt::print("{:<28} {:>10} {:>16} {:>10} {:>10}\n", fmt::format("{} in flight", kInFlight),
             "calls/s", "server µs/call", "p50 µs", "p99 µs");
  std::map<std::string, Cost> costs;
  for (const auto& contender : all) {
    const Cost cost = costs[contender.name] = middle(seen[contender.name]);
    fmt::print("{:<28} {:>10.0f} {:>16.1f} {:>10.0f} {:>10.0f}\n", contender.name,
               cost.calls_per_second, cost.cpu_us, cost.p50_us, cost.p99_us);
  }
  return costs;
}

void print_ratio(const std::string& what, double value, double goal, bool at_least) {
  const bool met = at_least ? value >= goal : value <= goal;
  fmt::print("{:<58} {:>6.2f}  {} {:<5} {}\n", what, value, at_least ? "≥" : "≤", goal,
             met ? "met" : "MISSED");
}

void print_goals(const std::map<std::string, Cost>& costs) {
  for (const auto& [transport, of_floor, of_rival] :
       {std::tuple{"stdio", 0.6, 5.0}, std::tuple{"HTTP", 0.75, 6.0}}) {
    const auto named = [&](const char* name) { return fmt::format("{}, {}", transport, name); };
    const Cost& floor = costs.at(named("bare C++"));
    const auto rival = costs.find(named("TypeScript SDK v1"));
    for (const char* name : {"ratchet 2025-11-25", "ratchet 2026-07-28"}) {
      const Cost& ours = costs.at(named(name));
      const double speed = ours.calls_per_second;
      print_ratio(named(name) + ": speed ÷ bare", speed / floor.calls_per_second, of_floor, true);
      print_ratio(named(name) + ": server µs ÷ bare", ours.cpu_us / floor.cpu_us, 2, false);
      // The rival supports only the older revision, whose messages are shorter.
      if (rival != costs.end() && std::string_view(name).ends_with("2025-11-25"))
        print_ratio(named(name) + ": speed ÷ TypeScript", speed / rival->second.calls_per_second,
                    of_rival, true);
    }
  }
}

void print_starts(const std::vector<Contender>& all, const Settings& settings) {
  const fs::path state = fs::temp_directory_path() / fmt::format("bench-mcp-{}", ::getpid());
  const std::vector<std::string> whole = {settings.server, "--state-dir", state, "serve"};
  std::map<std::string, std::vector<double>> seen;
  for (int i = 0; i < kStarts; ++i) {
    seen["stdio, ratchet serve"].push_back(ratchet::bench::start_ms(whole, {}));
    for (const auto& contender : all)
      if (contender.port == 0 && !contender.stateless)
        seen[contender.name].push_back(
            ratchet::bench::start_ms(contender.argv, contender.environment));
  }
  std::error_code ignored;
  fs::remove_all(state, ignored);
  fmt::print("\nstart to first answer, median of {}\n", kStarts);
  for (const auto& [name, samples] : seen)
    fmt::print("{:<28} {:>10.1f} ms\n", name, median(samples));
  print_ratio("stdio, ratchet serve: ms", median(seen["stdio, ratchet serve"]), 10, false);
}

void print_memory(const std::vector<Contender>& all) {
  fmt::print("\nmemory of the server, KiB, before and after {} calls\n", kMemoryCalls);
  for (const auto& contender : all) {
    if (contender.name.find("ratchet") == std::string::npos) continue;
    Load load(contender, kInFlight);
    load.run(kMemoryCalls / 10);
    const std::size_t before = load.server_kib();
    load.run(kMemoryCalls);
    fmt::print("{:<28} {:>10} {:>10}\n", contender.name, before, load.server_kib());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3)
    if (const auto status = ratchet::bench::serve_as(argv[1], std::atoi(argv[2]))) return *status;
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  Settings settings{
      .npm = build / "npm", .rivals = "bench/rivals", .server = build / "bin/ratchet"};
  CLI::App app("Cost of the protocol layer");
  app.add_option("--npm", settings.npm, "Where npm installed the TypeScript SDK");
  app.add_option("--rivals", settings.rivals, "Folder of the rival's script");
  app.add_option("--server", settings.server, "Program whose startup is measured");
  app.add_option("--rounds", settings.rounds, "Number of rounds")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const auto all = ratchet::bench::contenders(settings.npm, settings.rivals);
  const auto costs = print_costs(all, settings.rounds);
  fmt::print("\n");
  print_goals(costs);
  print_starts(all, settings);
  print_memory(all);
  return EXIT_SUCCESS;
}

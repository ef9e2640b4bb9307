// Latency of the server over stdio as a client sees it: from start to first answer, and of
// sequential calls. Every number includes the client's own share (JSON, two pipe crossings).

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "server/demo/client.h"

namespace {

using ratchet::Json;
using ratchet::demo::Client;
using Clock = std::chrono::steady_clock;

constexpr int kStarts = 20;
constexpr int kCalls = 500;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void print_row(const std::string& what, std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double part) {
    return samples[static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1))];
  };
  fmt::print("{:<28} {:>6} {:>12.1f} {:>12.1f} {:>12.1f}\n", what, samples.size(), at(0.5),
             at(0.95), at(1));
}

int fail(const ratchet::Error& error) {
  fmt::print(stderr, "bench-stdio: {}\n", error.message);
  return EXIT_FAILURE;
}

int measure(const std::filesystem::path& server, const std::filesystem::path& state) {
  const std::vector<std::string> command = {server, "--state-dir", state, "serve"};
  const auto silent = [](auto&&...) {};
  std::vector<double> starts;
  for (int i = 0; i < kStarts; ++i) {
    const auto begin = Clock::now();
    auto client = Client::start(command, silent);
    if (!client) return fail(client.error());
    starts.push_back(microseconds_since(begin));
  }
  auto client = Client::start(command, silent);
  if (!client) return fail(client.error());
  fmt::print("{:<28} {:>6} {:>12} {:>12} {:>12}\n", "stdio, one at a time, µs", "n", "median",
             "p95", "max");
  print_row("start to first answer", starts);
  const std::vector<std::pair<std::string, Json>> calls = {
      {"list_runs", Json::object()},
      {"query_kbs", {{"query", "shared memory bank conflicts"}}},
      {"lookup_spec", {{"product", "H200"}}}};
  for (const auto& [tool, arguments] : calls) {
    std::vector<double> samples;
    for (int i = 0; i < kCalls; ++i) {
      const auto begin = Clock::now();
      auto reply = client->call(tool, arguments);
      if (!reply) return fail(reply.error());
      if (reply->is_error) return fail({ratchet::ErrorCode::internal, reply->text, ""});
      samples.push_back(microseconds_since(begin));
    }
    print_row(tool, samples);
  }
  return EXIT_SUCCESS;
}

}  // namespace

/// bench-stdio [SERVER]; default: the server next to this program.
int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  namespace fs = std::filesystem;
  const fs::path server = argc > 1 ? fs::path(arguments[1])
                                   : fs::read_symlink("/proc/self/exe").parent_path() / "ratchet";
  const fs::path state = fs::temp_directory_path() / fmt::format("ratchet-bench-{}", ::getpid());
  const int status = measure(server, state);
  std::error_code ignored;
  fs::remove_all(state, ignored);
  return status;
}

// bench-kbs INDEX QUERIES [ROUNDS]: opening and query times inside the process over an index that
// `ratchet kbs add` made. QUERIES holds one query a line, as text or as JSON with `query` and
// `scope`.

#include <sys/resource.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "kbs/knowledge.h"

namespace {

using namespace ratchet;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double percentile(std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

std::vector<KnowledgeQuery> read_queries(const char* path) {
  std::vector<KnowledgeQuery> queries;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    KnowledgeQuery query;
    const auto json = Json::parse(line, nullptr, false);
    query.text = json.is_object() ? json.value("query", "") : line;
    if (json.is_object() && json.contains("scope"))
      query.scopes = {json["scope"].get<std::string>()};
    queries.push_back(std::move(query));
  }
  return queries;
}

long peak_memory_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: bench-kbs INDEX QUERIES [ROUNDS]\n");
    return 2;
  }
  const auto queries = read_queries(arguments[2]);
  const int rounds = count > 3 ? std::max(std::atoi(arguments[3]), 1) : 3;
  const auto opening = Clock::now();
  auto base = Knowledge::open({.builtin_index = {}, .user_index = arguments[1]});
  if (!base || queries.empty()) {
    fmt::print(stderr, "bench-kbs: {}\n", base ? "no queries" : base.error().message);
    return 1;
  }
  fmt::print("open: {:.1f} ms\n", microseconds_since(opening) / 1000);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round)
    for (const auto& query : queries) {
      const auto start = Clock::now();
      if (auto answer = (*base)->query(query); !answer) {
        fmt::print(stderr, "bench-kbs: {}\n", answer.error().message);
        return 1;
      }
      times.push_back(microseconds_since(start));
    }
  std::ranges::sort(times);
  fmt::print("queries: {}, p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms; peak memory {} kB\n",
             times.size(), percentile(times, 0.5) / 1000, percentile(times, 0.99) / 1000,
             times.back() / 1000, peak_memory_kb());
  return 0;
}

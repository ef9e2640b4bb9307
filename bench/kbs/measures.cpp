#include "bench/kbs/measures.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "kbs/index/index_database.h"
#include "server/sqlite/compression.h"

namespace ratchet::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void fail(std::string_view what) {
  fmt::print(stderr, "bench-kbs: {}\n", what);
  std::_Exit(1);
}

/// Inserts every text that a query of the index returns: column 0, and column 1 if there is one.
void insert_all(kbs::Database& from, std::string_view sql, kbs::Statement& insert, Cost& cost) {
  auto rows = from.prepare(sql);
  if (!rows) fail(rows.error().message);
  for (;;) {
    auto row = rows->step();
    if (!row) fail(row.error().message);
    if (!*row) return;
    auto text = decompress(rows->blob(1));
    auto more = decompress(rows->blob(2));
    if (!text || !more) fail("a text is damaged");
    const std::string name(rows->text(0));
    const auto one = cost_of([&] {
      insert.bind(1, std::string_view(name)).bind(2, std::string_view(*text + *more));
      if (auto done = insert.run(); !done) fail(done.error().message);
    });
    cost.wall_s += one.wall_s;
    cost.cpu_s += one.cpu_s;
  }
}

}  // namespace

std::vector<Cost> in_child(const std::function<std::vector<Cost>()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const auto child = ::fork();
  if (child == 0) {
    const auto costs = work();
    const auto size = costs.size() * sizeof(Cost);
    std::_Exit(::write(ends[1], costs.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  ::close(ends[1]);
  std::vector<Cost> costs;
  for (Cost cost; ::read(ends[0], &cost, sizeof cost) == static_cast<ssize_t>(sizeof cost);)
    costs.push_back(cost);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? costs : std::vector<Cost>{};
}

Cost cost_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  work();
  return {seconds_since(start), cpu_seconds() - cpu};
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double anonymous_mb() {
  std::ifstream in("/proc/self/smaps_rollup");
  for (std::string word; in >> word;)
    if (word == "Anonymous:") {
      double kilobytes = 0;
      in >> kilobytes;
      return kilobytes / 1024;
    }
  return 0;
}

double shell_s(const std::string& command) {
  const auto start = Clock::now();
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? seconds_since(start) : -1;
}

Cost plain_fts5(const std::filesystem::path& index, const std::filesystem::path& target) {
  auto from = kbs::open_index(index, kbs::OpenMode::immutable);
  if (!from) fail(from.error().message);
  auto to = kbs::Database::open(target, kbs::OpenMode::scratch, {.name = "plain", .hint = ""});
  if (!to) fail(to.error().message);
  Cost cost = cost_of([&] {
    if (auto made = to->execute("BEGIN; CREATE VIRTUAL TABLE plain USING fts5(name, body)"); !made)
      fail(made.error().message);
  });
  auto insert = to->prepare("INSERT INTO plain VALUES(?,?)");
  if (!insert) fail(insert.error().message);
  insert_all(*from, "SELECT title, text, extra FROM doc", *insert, cost);
  insert_all(*from, "SELECT source_path, text, NULL FROM file", *insert, cost);
  const auto end = cost_of([&] {
    if (auto done = to->execute("COMMIT"); !done) fail(done.error().message);
  });
  return {cost.wall_s + end.wall_s, cost.cpu_s + end.cpu_s};
}

}  // namespace ratchet::bench

// bench-kbs [CORPUS [QUERIES [COUNT]]]: the cost of building, opening, searching and grepping a
// knowledge base inside the process, each compared with an alternative.
//
// CORPUS is a folder as for `ratchet kbs add` (default: the shipped pages). QUERIES holds one query
// per line, as text or as JSON with `query` and `scope`; if it is missing or empty, titles of the
// corpus are the queries. Memory is measured after COUNT queries (default 20,000). Alternatives run
// interleaved with ratchet.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "bench/kbs/measures.h"
#include "kbs/commands.h"
#include "kbs/index/index_database.h"
#include "kbs/knowledge.h"

namespace {

using namespace ratchet;
using namespace ratchet::bench;
namespace fs = std::filesystem;

constexpr int kRounds = 5;

int fail(std::string_view what) {
  fmt::print(stderr, "bench-kbs: {}\n", what);
  return 1;
}

void row(std::string_view what, const std::string& ours, const std::string& rival) {
  fmt::print("| {} | {} | {} |\n", what, ours, rival);
}

std::vector<KnowledgeQuery> read_queries(const fs::path& path) {
  std::vector<KnowledgeQuery> queries;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    KnowledgeQuery query;
    const auto json = Json::parse(line, nullptr, false);
    query.text = json.is_object() ? json.value("query", "") : line;
    if (json.is_object() && json.contains("scope"))
      query.scopes.values = {json["scope"].get<std::string>()};
    queries.push_back(std::move(query));
  }
  return queries;
}

/// Titles spread over the whole index.
std::vector<KnowledgeQuery> titles_of(const fs::path& index) {
  std::vector<KnowledgeQuery> queries;
  auto database = kbs::open_index(index, kbs::OpenMode::immutable);
  if (!database) return queries;
  auto rows = database->prepare("SELECT title FROM doc ORDER BY (rowid * 7919) % 10007 LIMIT 600");
  while (rows && rows->step().value_or(false))
    queries.push_back({.text = std::string(rows->text(0))});
  return queries;
}

/// Builds the index and plain FTS5 in separate processes, one after the other.
void bench_build(const fs::path& corpus, const fs::path& folder) {
  const auto index = folder / "index.db";
  const auto add = [&] {
    return cost_of([&] {
      if (auto done = kbs_add({.folder = corpus,
                               .name = "bench",
                               .license = "",
                               .user_index = index,
                               .progress = {},
                               .stop = {}});
          !done)
        fail(done.error().message);
    });
  };
  const auto ours = in_child([&] { return std::vector{add(), add()}; });
  const auto plain = in_child([&] { return std::vector{plain_fts5(index, folder / "plain.db")}; });
  if (ours.size() != 2 || plain.empty()) return;
  const auto stats = kbs_stats(index);
  if (!stats) return;
  const auto mb = [](double bytes) { return bytes / 1e6; };
  const auto text = static_cast<double>(stats->text_bytes);
  row(fmt::format("build, {} documents, {} parts, {:.1f} MB", stats->documents, stats->parts,
                  mb(text)),
      fmt::format("{:.2f} s, processor {:.2f} s", ours[0].wall_s, ours[0].cpu_s),
      fmt::format("plain FTS5 {:.2f} s, processor {:.2f} s: ours {:.2f} and {:.2f} times",
                  plain[0].wall_s, plain[0].cpu_s, ours[0].wall_s / plain[0].wall_s,
                  ours[0].cpu_s / plain[0].cpu_s));
  row("add again, nothing changed", fmt::format("{:.2f} s", ours[1].wall_s), "");
  const auto prefilter = static_cast<double>(stats->prefilter_bytes);
  const auto rest = static_cast<double>(stats->bytes) - prefilter;
  std::error_code ignored;
  row("index and text on disk", fmt::format("{:.1f} MB, {:.2f} of the text", mb(rest), rest / text),
      fmt::format("plain FTS5 {:.1f} MB",
                  mb(static_cast<double>(fs::file_size(folder / "plain.db", ignored)))));
  row("prefilter of grep",
      fmt::format("{:.1f} MB, {:.3f} of the text", mb(prefilter), prefilter / text), "");
  fs::remove(folder / "plain.db", ignored);
}

std::vector<double> time_queries(Knowledge& base, const std::vector<KnowledgeQuery>& queries,
                                 std::size_t count) {
  std::vector<double> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto cost = cost_of([&] { (void)base.query(queries[i % queries.size()]); });
    times.push_back(cost.wall_s * 1000);
  }
  return times;
}

void bench_queries(const fs::path& index, const std::vector<KnowledgeQuery>& queries,
                   std::size_t count) {
  std::vector<double> opening;
  std::unique_ptr<Knowledge> base;
  for (int i = 0; i < kRounds; ++i)
    opening.push_back(cost_of([&] {
                        auto opened = Knowledge::open({.builtin_index = {}, .user_index = index});
                        if (opened) base = *std::move(opened);
                      }).wall_s *
                      1000);
  if (!base) return;
  row("open", fmt::format("{:.1f} ms", percentile(opening, 0.5)), "");
  (void)time_queries(*base, queries, queries.size());
  const auto times = time_queries(*base, queries, queries.size() * 3);
  row(fmt::format("query_kbs, {} queries", times.size()),
      fmt::format("p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms", percentile(times, 0.5),
                  percentile(times, 0.99), percentile(times, 1)),
      "a warm Python server 7 to 70 ms, kernel-pilot's scripts 4 to 6 s (read, not measured here)");
  const double before = anonymous_mb();
  (void)time_queries(*base, queries, count);
  row(fmt::format("anonymous memory after {} more queries", count),
      fmt::format("{:.1f} MB (before: {:.1f} MB)", anonymous_mb(), before), "");
}

void bench_clients(const fs::path& index, const std::vector<KnowledgeQuery>& queries) {
  auto base = Knowledge::open({.builtin_index = {}, .user_index = index});
  if (!base) return;
  std::string out;
  for (const unsigned clients : {1U, 2U, 4U, 16U}) {
    std::atomic<std::size_t> next{0};
    const auto total = queries.size() * 4;
    const auto cost = cost_of([&] {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < clients; ++i)
        threads.emplace_back([&] {
          for (std::size_t at = next++; at < total; at = next++)
            (void)(*base)->query(queries[at % queries.size()]);
        });
    });
    out += fmt::format("{}{}: {:.0f}/s", out.empty() ? "" : ", ", clients,
                       static_cast<double>(total) / cost.wall_s);
  }
  row("queries by clients at once", out,
      fmt::format("{} processors", std::thread::hardware_concurrency()));
}

void bench_grep(const fs::path& index, const fs::path& corpus) {
  auto base = Knowledge::open({.builtin_index = {}, .user_index = index});
  if (!base) return;
  for (const std::string pattern :
       {"setmaxnreg", "cp_async", "mbarrier", "num_stages", "absent_from_everything"}) {
    std::vector<double> ours;
    std::vector<double> theirs;
    int total = 0;
    for (int i = 0; i < kRounds; ++i) {
      ours.push_back(
          cost_of([&] {
            auto found = (*base)->grep(
                {.pattern = pattern, .scopes = {{"diffs"}}, .files_only = true, .limit = 200});
            total = found ? found->total : -1;
          }).wall_s *
          1000);
      theirs.push_back(
          shell_s(fmt::format("grep -rlF --include=review.diff --include=diff.patch {} '{}'",
                              pattern, corpus.string())) *
          1000);
    }
    const double us = percentile(ours, 0.5);
    const double them = percentile(theirs, 0.5);
    row(fmt::format("grep_kbs `{}` over the diffs, {} files", pattern, total),
        fmt::format("{:.0f} ms", us),
        fmt::format("warm grep -rlF {:.0f} ms: ours {:.2f} times", them, us / them));
  }
}

void bench_scripts(const fs::path& corpus) {
  const auto script = corpus / "knowledge" / "scripts" / "query.py";
  std::error_code ignored;
  if (!fs::exists(script, ignored)) return;
  const auto took = shell_s(fmt::format("python3 '{}' tcgen05 --limit 10", script.string()));
  if (took > 0) row("kernel-pilot's query.py, one call", "", fmt::format("{:.2f} s", took));
}

/// The same pages ten times under different ids. A corpus with bundles is represented by its pages.
void bench_tenfold(const fs::path& corpus, const fs::path& folder,
                   const std::vector<KnowledgeQuery>& queries) {
  auto root = fs::exists(corpus / "knowledge") ? corpus / "knowledge" : corpus;
  const auto pages = folder / "pages";
  std::error_code ignored;
  for (const char* part : {"wiki", "sources", "docs", "data"})
    if (fs::exists(root / part, ignored))
      fs::copy(root / part, pages / part, fs::copy_options::recursive, ignored);
    else
      fs::create_directories(pages, ignored);
  std::vector<double> medians;
  for (const int copies : {1, 10}) {
    const auto index = folder / fmt::format("{}.db", copies);
    const auto built = in_child([&] {
      for (int i = 0; i < copies; ++i)
        if (!kbs_add({.folder = pages,
                      .name = fmt::format("copy{}", i),
                      .license = "",
                      .user_index = index,
                      .progress = {},
                      .stop = {}}))
          std::_Exit(1);
      return std::vector<Cost>(1);
    });
    auto base = Knowledge::open({.builtin_index = {}, .user_index = index});
    if (built.empty() || !base) return;
    (void)time_queries(**base, queries, queries.size());
    medians.push_back(percentile(time_queries(**base, queries, queries.size() * 2), 0.5));
  }
  row("query_kbs over the pages, and over ten copies of them",
      fmt::format("p50 {:.2f} ms, {:.2f} ms: {:.2f} times", medians[0], medians[1],
                  medians[1] / medians[0]),
      "");
}

}  // namespace

int main(int count, char** arguments) {
  const fs::path corpus = count > 1 ? arguments[1] : "kbs/content";
  std::error_code failure;
  if (!fs::is_directory(corpus, failure))
    return fail(fmt::format("{} is not a folder; usage: bench-kbs [CORPUS [QUERIES [COUNT]]]",
                            corpus.string()));
  std::string pattern = (fs::temp_directory_path() / "bench-kbs-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail("cannot create a temporary folder");
  const fs::path folder = pattern;
  const auto index = folder / "index.db";
  fmt::print("| what | ratchet | beside it |\n|---|---|---|\n");
  bench_build(corpus, folder);
  const auto queries =
      count > 2 && *arguments[2] != '\0' ? read_queries(arguments[2]) : titles_of(index);
  if (!queries.empty()) {
    bench_queries(index, queries, count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 20'000);
    bench_clients(index, queries);
    bench_grep(index, corpus);
    bench_scripts(corpus);
    bench_tenfold(corpus, folder, queries);
  }
  fs::remove_all(folder, failure);
  return queries.empty() ? fail("nothing was indexed, or there are no queries") : 0;
}

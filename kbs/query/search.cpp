#include "kbs/query/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "kbs/documents/labels.h"
#include "kbs/query/citations.h"
#include "kbs/query/code_search.h"
#include "kbs/query/context_boost.h"
#include "kbs/query/cursor.h"
#include "kbs/query/filters.h"
#include "kbs/query/hits.h"
#include "kbs/query/matches.h"
#include "kbs/query/ranking.h"
#include "kbs/text/tokenizer.h"
#include "server/core/hash.h"

namespace ratchet::kbs {
namespace {

constexpr int kMaxLimit = 50;
constexpr std::size_t kMaxText = 4096;        // bytes; the rest of a query is ignored
constexpr std::size_t kAnswerBytes = 12'000;  // limit on the size of an answer
constexpr std::size_t kHitOverhead = 220;     // keys, quotes and numbers of one encoded hit
// Shares of the query's information content.
constexpr double kMostCoverage = 0.6;   // "most" words matched
constexpr double kWeakCoverage = 0.45;  // below it the best result misses the subject
// Places on the first page for other scopes.
constexpr std::size_t kQuotaWindow = 200;  // number of results after the first page to consider
constexpr double kQuotaScore = 0.5;        // required share of the top score
constexpr double kCodeShare = 0.9;         // required share of the best page's coverage, for code
// Factor for documents against changes where `sources` is requested; the optimum is flat up to 2.
constexpr double kExplains = 1.5;
constexpr double kWritten = 1.1;  // factor for wiki pages, which were written to answer questions
// Factor for pages of the repository whose page the query names: what belongs to a change is mostly
// found beside it.
constexpr double kSameRepository = 1.3;

class Search {
 public:
  Search(const Indexes& indexes, const KnowledgeQuery& query)
      : indexes_(indexes), query_(query), text_(std::string_view(query.text).substr(0, kMaxText)) {}

  Result<QueryAnswer> run() {
    answer_.query_id = "q-" + sha256_hex(random_bytes(16)).substr(0, 12);
    answer_.relaxed = "none";
    auto offset = read_cursor(query_.cursor, fingerprint());
    if (!offset) return offset.error();
    offset_ = *offset;
    plan_ = plan_query(text_, indexes_.aliases);
    if (auto done = borrow(); !done) return done.error();
    if (auto done = make_filters(); !done) return done.error();
    if (auto done = gather(); !done) return done.error();
    if (auto done = rank(); !done) return done.error();
    if (auto done = add_code(); !done) return done.error();
    describe_step();
    if (auto done = fill(); !done) return done.error();
    write_notes();
    return std::move(answer_);
  }

 private:
  [[nodiscard]] std::size_t limit() const {
    return static_cast<std::size_t>(std::clamp(query_.limit, 1, kMaxLimit));
  }

  /// Identifies the query and the indexes, so that a cursor cannot be used with others.
  [[nodiscard]] std::string fingerprint() const {
    std::string all(text_);
    const auto add = [&](const OneOrMany<std::string>& filter) {
      for (const auto& value : filter.values) all += '\x1f' + value;
      all += '\x1e';
    };
    for (const auto* values :
         {&query_.scopes, &query_.kinds, &query_.repos, &query_.tags, &query_.architectures,
          &query_.languages, &query_.symptoms, &query_.confidences})
      add(*values);
    all += describe(query_.situation);
    all += query_.has_code ? (*query_.has_code ? "code" : "no code") : "";
    for (const auto& reader : indexes_.readers) all += reader->identity();
    return mark_of(all);
  }

  Status borrow() {
    for (const auto& reader : indexes_.readers) {
      auto loan = reader->connection();
      if (!loan) return loan.error();
      loans_.push_back(*std::move(loan));
      loans_.back()->postings->clear();
    }
    return check_filters(query_, indexes_, loans_);
  }

  Status make_filters() {
    for (std::size_t r = 0; r < loans_.size(); ++r) {
      const auto rows = indexes_.readers[r]->statistics().documents.size();
      auto filter = Filter::make(query_, *loans_[r], rows);
      if (!filter) return filter.error();
      filters_.push_back(*std::move(filter));
      auto boost = ContextBoost::make(query_.situation, *loans_[r], rows);
      if (!boost) return boost.error();
      boosts_.push_back(*std::move(boost));
    }
    return code_.make_filters(query_);
  }

  Status gather() {
    frequencies_.resize(loans_.size());
    for (std::size_t r = 0; r < loans_.size(); ++r) {
      const auto& reader = *indexes_.readers[r];
      sources_.push_back(
          {loans_[r]->postings.get(), &reader.statistics(), &reader.code(), &frequencies_[r]});
      frequencies_[r].assign(plan_.phrases.size(), -1);
      if (filters_[r].excludes_all()) continue;
      if (auto done = find_matches(plan_, *loans_[r], Area::pages, frequencies_[r]); !done)
        return done;
    }
    return {};
  }

  /// Searches code separately and merges its results after the pages.
  Status add_code() {
    if (plan_.terms.empty()) return {};
    int total = 0;
    auto found = code_.find(offset_ + limit() + kQuotaWindow, total);
    if (!found) return found.error();
    answer_.total += total;
    if (total > 0) merge(*std::move(found));
    return {};
  }

  /// Pages come first. The best diff and the best snapshot get the last places on the first page if
  /// they match as much of the query. Code comes first if it matches the subject of the query and
  /// no page does.
  void merge(std::vector<Scored> code) {
    const auto best = [&](const std::vector<Scored>& found) {
      double coverage = 0;
      for (std::size_t i = 0; i < std::min(found.size(), limit()); ++i)
        coverage = std::max(coverage, found[i].coverage);
      return coverage;
    };
    const double pages = best(ranked_);
    if (pages < kWeakCoverage && best(code) > pages) {
      code.insert(code.end(), ranked_.begin(), ranked_.end());
      ranked_ = std::move(code);
      return;
    }
    std::vector<Scored> placed;
    for (const auto scope : {Scope::diffs, Scope::snapshots}) {
      const auto found = std::ranges::find(code, scope, [&](const auto& s) { return scope_of(s); });
      if (found == code.end() || limit() < 5) continue;
      if (found->coverage < std::max(kMostCoverage, pages * kCodeShare)) continue;
      placed.push_back(*found);
      code.erase(found);
    }
    const auto at = std::min(ranked_.size(), limit() - placed.size());
    ranked_.insert(ranked_.begin() + static_cast<std::ptrdiff_t>(at), placed.begin(), placed.end());
    ranked_.insert(ranked_.end(), code.begin(), code.end());
  }

  [[nodiscard]] bool passes(const Scored& scored) const {
    return filters_[scored.source].passes(scored.row,
                                          sources_[scored.source].statistics->of(scored.row));
  }

  [[nodiscard]] Scope scope_of(const Scored& scored) const {
    if (scored.code) return code_.scope_of(scored);
    return sources_[scored.source].statistics->of(scored.row).scope();
  }

  /// A query for `sources` rather than `prs` looks for explanations, and there are few documents
  /// among many changes.
  [[nodiscard]] bool explains(const Scored& scored) const {
    const bool asked = std::ranges::count(query_.scopes.values, "sources") > 0;
    return asked && scope_of(scored) != Scope::prs;
  }

  [[nodiscard]] double standing_of(const Scored& scored) const {
    if (explains(scored)) return kExplains;
    return scope_of(scored) == Scope::wiki ? kWritten : 1.0;
  }

  /// Raises the pages of the repositories that the named pages belong to.
  Status raise_repositories() {
    beside_.resize(sources_.size());
    for (const auto& [key, by_id] : named_) {
      const auto source = source_of(key);
      auto& pages = beside_[source];
      pages.resize(sources_[source].statistics->documents.size());
      auto read = for_each_row(
          *loans_[source],
          "SELECT kin.doc FROM facet AS own JOIN facet AS kin ON kin.name='repo' AND "
          "kin.value=own.value WHERE own.name='repo' AND own.doc=?",
          [&](const Statement& row) { pages[static_cast<std::size_t>(row.integer(0))] = 1; },
          row_of(key));
      if (!read) return read;
    }
    for (auto& scored : ranked_)
      if (is_beside(scored)) scored.score *= kSameRepository;
    return {};
  }

  [[nodiscard]] bool is_beside(const Scored& scored) const {
    const auto& pages = beside_[scored.source];
    return !pages.empty() && pages[static_cast<std::size_t>(scored.row)] != 0;
  }

  Status rank() {
    if (plan_.terms.empty()) {
      list_filtered();
    } else {
      if (auto done = find_named(); !done) return done;
      ranked_ = score_matches(plan_, sources_);
      for (auto& scored : ranked_)
        scored.score *= boosts_[scored.source].factor(scored.row) * standing_of(scored);
      if (auto done = raise_repositories(); !done) return done;
      auto cited = raise_cited(indexes_, loans_, sources_, ranked_);
      if (!cited) return cited.error();
      cited_by_ = *std::move(cited);
      std::erase_if(ranked_, [&](const Scored& scored) { return !passes(scored); });
    }
    // Only the head can be shown, so the rest is left unsorted.
    const auto head = std::min(ranked_.size(), offset_ + limit() + kQuotaWindow);
    std::ranges::partial_sort(ranked_, ranked_.begin() + static_cast<std::ptrdiff_t>(head),
                              [&](const Scored& a, const Scored& b) {
                                if (a.score != b.score) return a.score > b.score;
                                const auto sa = scope_of(a);
                                const auto sb = scope_of(b);
                                if (sa != sb) return sa < sb;
                                return a.source != b.source ? a.source < b.source : a.row < b.row;
                              });
    if (auto done = exact_first(); !done) return done;
    give_quotas();
    answer_.total = static_cast<int>(ranked_.size());
    return {};
  }

  /// For a query with filters but without words: everything that passes, in the order of the index.
  void list_filtered() {
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      if (!filters_[s].restricts()) continue;
      const auto& statistics = sources_[s].statistics->documents;
      for (std::size_t row = 0; row < statistics.size(); ++row) {
        const auto id = static_cast<std::int64_t>(row);
        if (statistics[row].present != 0 && filters_[s].passes(id, statistics[row]))
          ranked_.push_back({.source = s, .row = id, .score = 0, .coverage = 1});
      }
    }
  }

  /// A page whose id, title, product, alias or symptom equals the query comes first.
  Status exact_first() {
    auto exact = named_;
    if (auto done = find_id(exact); !done) return done;
    if (exact.empty()) return {};
    const auto is_exact = [&](const Scored& scored) {
      return exact.contains(key_of(scored.source, scored.row));
    };
    const auto by_id = [&](const Scored& scored) {
      const auto found = exact.find(key_of(scored.source, scored.row));
      return found != exact.end() && found->second;
    };
    const auto rest = std::ranges::stable_partition(ranked_, is_exact);
    std::stable_partition(ranked_.begin(), rest.begin(), by_id);
    for (auto at = ranked_.begin(); at != rest.begin(); ++at) {
      at->coverage = 1;
      exact_.insert(key_of(at->source, at->row));
    }
    return {};
  }

  Status find_named() {
    const auto name = squeezed(text_.substr(0, 400));
    if (name.empty()) return {};
    for (std::uint32_t s = 0; s < loans_.size(); ++s) {
      auto rows = rows_named(*loans_[s], name);
      if (!rows) return rows.error();
      for (const auto row : *rows) named_[key_of(s, row)] = false;
    }
    return {};
  }

  Status find_id(std::unordered_map<std::int64_t, bool>& exact) {
    auto id = text_.substr(std::min(text_.find_first_not_of(" \t\n\"'`"), text_.size()));
    id = id.substr(0, id.find_last_not_of(" \t\n\"'`") + 1);
    if (id.empty() || id.size() > 300 || id.find(' ') != std::string_view::npos) return {};
    auto place = find_document(indexes_, id);
    if (!place) return place.error();
    if (!*place) return {};
    const Scored found{.source = static_cast<std::uint32_t>((*place)->reader),
                       .row = (*place)->row};
    const auto same = [&](const Scored& scored) {
      return scored.source == found.source && scored.row == found.row;
    };
    if (std::ranges::none_of(ranked_, same) && passes(found)) ranked_.push_back(found);
    exact[key_of(found.source, found.row)] = true;
    return {};
  }

  /// Gives places on the first page to scopes that match well but would be crowded out.
  void give_quotas() {
    if (!query_.scopes.values.empty() || ranked_.size() <= limit()) return;
    const auto group = [&](const Scored& scored) {
      const auto scope = scope_of(scored);
      return scope == Scope::blogs || scope == Scope::contests ? Scope::docs : scope;
    };
    std::array<bool, 7> shown{};
    for (std::size_t i = 0; i < limit(); ++i)
      shown[static_cast<std::size_t>(group(ranked_[i]))] = true;
    std::size_t last = limit();
    const auto end = std::min(ranked_.size(), limit() + kQuotaWindow);
    for (auto i = limit(); i < end && last > limit() / 2 + 1; ++i) {
      if (ranked_[i].score < kQuotaScore * ranked_.front().score) break;
      auto& seen = shown[static_cast<std::size_t>(group(ranked_[i]))];
      if (seen) continue;
      seen = true;
      --last;
      std::rotate(ranked_.begin() + static_cast<std::ptrdiff_t>(last),
                  ranked_.begin() + static_cast<std::ptrdiff_t>(i),
                  ranked_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  void describe_step() {
    if (ranked_.empty()) {
      answer_.weak = true;
      return;
    }
    double coverage = 0;
    bool all = false;
    const auto everything =
        plan_.terms.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << plan_.terms.size()) - 1;
    for (std::size_t i = 0; i < std::min(ranked_.size(), limit()); ++i) {
      coverage = std::max(coverage, ranked_[i].coverage);
      all = all || ranked_[i].matched == everything;
    }
    answer_.relaxed = all || !exact_.empty() || plan_.terms.empty() ? "all"
                      : coverage >= kMostCoverage                   ? "most"
                                                                    : "any";
    answer_.weak = coverage < kWeakCoverage;
  }

  Status fill() {
    words_ = snippet_words();
    std::size_t bytes = 0;
    auto i = offset_;
    for (; i < ranked_.size() && answer_.results.size() < limit(); ++i) {
      auto hit = make_hit(ranked_[i]);
      if (!hit) return hit.error();
      bytes += kHitOverhead + hit->id.size() + hit->title.size() + hit->why.size() +
               hit->snippet.size() + hit->path.size();
      if (bytes > kAnswerBytes && !answer_.results.empty()) break;
      answer_.results.push_back(*std::move(hit));
    }
    if (i < ranked_.size()) answer_.next_cursor = write_cursor(i, fingerprint());
    return {};
  }

  /// The user's words as stems.
  [[nodiscard]] std::vector<std::string> snippet_words() const {
    std::vector<std::string> words;
    for (const auto& term : plan_.terms) {
      // Snippets match the beginnings of words, and an underscore does not begin one.
      const auto begin = std::min(term.surface.find_first_not_of('_'), term.surface.size());
      words.push_back(stem(std::string_view(term.surface).substr(begin)));
    }
    return words;
  }

  Result<QueryHit> make_hit(const Scored& scored) {
    auto hit = scored.code ? code_.hit(scored, words_) : make_page_hit(scored);
    if (hit) hit->score = std::round(scored.score * 1000) / 1000;
    return hit;
  }

  Result<QueryHit> make_page_hit(const Scored& scored) {
    auto hit = read_hit(indexes_, *loans_[scored.source], {scored.source, scored.row}, words_);
    if (!hit) return hit;
    hit->why = explain(plan_, sources_[scored.source], scored);
    if (const auto fits = boosts_[scored.source].reasons(scored.row); !fits.empty())
      hit->why += fmt::format("{}fits {}", hit->why.empty() ? "" : "; ", fits);
    if (explains(scored))
      hit->why += fmt::format("{}documents rank above changes", hit->why.empty() ? "" : "; ");
    const auto key = key_of(scored.source, scored.row);
    if (!beside_.empty() && is_beside(scored) && !exact_.contains(key))
      hit->why += fmt::format("{}same repository as the named page", hit->why.empty() ? "" : "; ");
    if (exact_.contains(key)) hit->why = "named by the query; " + hit->why;
    if (const auto cited = cited_by_.find(key); cited != cited_by_.end())
      hit->why += fmt::format("{}cited by {}", hit->why.empty() ? "" : "; ", cited->second);
    return hit;
  }

  void write_notes() {
    std::vector<std::string> notes;
    if (const auto situation = describe(query_.situation); !situation.empty())
      notes.push_back("ranked for the run: " + situation);
    if (indexes_.note) notes.push_back(*indexes_.note);
    if (query_.text.size() > kMaxText || plan_.cut)
      notes.emplace_back("only the first words of the query were searched");
    if (plan_.terms.empty() && ranked_.empty())
      notes.emplace_back("the query contains no words; pass words or filters");
    if (text_.find_first_of("\"*^") != std::string_view::npos)
      notes.emplace_back("quotes and operators are searched as text");
    if (text_.find('\0') != std::string_view::npos) notes.emplace_back("NUL bytes separate words");
    int unverified = 0;
    for (const auto& filter : filters_) unverified += filter.unverified();
    if (unverified > 0)
      notes.push_back(fmt::format(
          "{} pages are left out because their architecture label is an unverified default",
          unverified));
    if (!notes.empty()) answer_.note = fmt::format("{}", fmt::join(notes, "; "));
  }

  const Indexes& indexes_;
  const KnowledgeQuery& query_;
  std::string_view text_;
  std::size_t offset_ = 0;
  QueryAnswer answer_;
  QueryPlan plan_;
  std::vector<IndexReader::Loan> loans_;
  std::vector<Filter> filters_;
  std::vector<ContextBoost> boosts_;
  std::vector<std::vector<double>> frequencies_;  // of pages, by index
  CodeSearch code_{indexes_, loans_, plan_};
  std::vector<RankingSource> sources_;
  std::vector<Scored> ranked_;
  CitedBy cited_by_;
  std::unordered_map<std::int64_t, bool> named_;  // page that the query names → by its id
  std::vector<std::vector<char>> beside_;         // pages of the same repository, by index
  std::vector<std::string> words_;
  std::unordered_set<std::int64_t> exact_;  // pages that the query names exactly
};

}  // namespace

Result<QueryAnswer> search(const Indexes& indexes, const KnowledgeQuery& query) {
  return Search(indexes, query).run();
}

}  // namespace ratchet::kbs

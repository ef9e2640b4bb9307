#include "kbs/query/filters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "kbs/documents/labels.h"
#include "server/core/fields.h"
#include "server/core/nearest.h"

namespace ratchet::kbs {
namespace {

constexpr std::uint32_t bit(Scope scope) {
  return 1U << static_cast<unsigned>(scope);
}

constexpr std::uint32_t kSources =
    bit(Scope::docs) | bit(Scope::blogs) | bit(Scope::contests) | bit(Scope::prs);

constexpr std::string_view kFacets = "SELECT doc FROM facet WHERE name=?1 AND value=?2";
constexpr std::string_view kBundleFacets =
    "SELECT bundle FROM bundle_facet WHERE name=?1 AND value=?2";

/// Computes which rows have one of the wanted values for each facet.
class Narrowing {
 public:
  /// `facets`: SQL literal that selects rows by facet (?1) and value (?2).
  Narrowing(Connection& connection, std::size_t rows, std::string_view facets)
      : connection_(connection), rows_(rows), facets_(facets) {}

  Status keep(std::string_view facet, const std::vector<std::string>& values) {
    if (values.empty()) return {};
    std::vector<char> found(rows_);
    for (const auto& value : values)
      if (auto done = mark(facets_, facet, value, found); !done) return done;
    narrow(found);
    return {};
  }

  Status keep_code(bool has_code) {
    std::vector<char> found(rows_);
    auto done =
        mark("SELECT rowid FROM doc WHERE has_code=?2 AND ?1=?1", "", has_code ? "1" : "0", found);
    narrow(found);
    return done;
  }

  [[nodiscard]] bool narrowed() const { return narrowed_; }
  [[nodiscard]] std::vector<char> take() { return std::move(allowed_); }

 private:
  Status mark(std::string_view sql, std::string_view facet, std::string_view value,
              std::vector<char>& found) {
    return for_each_row(
        connection_, sql,
        [&](const Statement& row) { found[static_cast<std::size_t>(row.integer(0))] = 1; }, facet,
        value);
  }

  void narrow(const std::vector<char>& found) {
    if (!narrowed_) allowed_.assign(rows_, 1);
    narrowed_ = true;
    for (std::size_t i = 0; i < rows_; ++i) allowed_[i] = static_cast<char>(allowed_[i] & found[i]);
  }

  Connection& connection_;
  std::size_t rows_;
  std::string_view facets_;
  std::vector<char> allowed_;
  bool narrowed_ = false;
};

std::vector<std::string> mapped(const OneOrMany<std::string>& filter,
                                std::string (*map)(std::string_view)) {
  std::vector<std::string> out;
  for (const auto& value : filter.values) out.push_back(map(value));
  return out;
}

Result<int> count_unverified(Connection& connection,
                             const std::vector<std::string>& architectures) {
  std::int64_t count = 0;
  for (const auto& name : architectures) {
    auto read = for_each_row(
        connection, "SELECT count(*) FROM facet WHERE name='unverified-architecture' AND value=?",
        [&](const Statement& row) { count += row.integer(0); }, name);
    if (!read) return read.error();
  }
  return static_cast<int>(count);
}

/// The values of a facet, such as `kind`, that some page of one index has.
Result<std::set<std::string>> facet_values(Connection& connection, std::string_view facet) {
  std::set<std::string> values;
  auto read = for_each_row(
      connection, "SELECT DISTINCT value FROM facet WHERE name=?",
      [&](const Statement& row) { values.emplace(row.text(0)); }, facet);
  if (!read) return read.error();
  return values;
}

/// `known` is empty where nothing is indexed.
Status check_values(std::string_view field, const OneOrMany<std::string>& filter,
                    const std::set<std::string>& known) {
  constexpr std::size_t kMostShown = 40;
  for (const auto& value : filter.values) {
    if (known.empty() || known.contains(facet_value(value))) continue;
    std::vector<std::string_view> names(known.begin(), known.end());
    const auto meant = nearest(facet_value(value), names);
    const bool cut = names.size() > kMostShown;
    if (cut) names.resize(kMostShown);
    return invalid_argument(
        fmt::format("{}: nothing in the knowledge base has the value \"{}\"", field,
                    value.substr(0, 80)),
        fmt::format("{}Values are {}{}.",
                    meant.empty() ? "" : fmt::format("Did you mean {}? ", meant),
                    fmt::join(names, ", "), cut ? ", …" : ""));
  }
  return {};
}

}  // namespace

Result<std::uint32_t> scope_mask(const std::vector<std::string>& names) {
  if (names.empty()) return ~0U;
  std::uint32_t mask = 0;
  for (const auto& name : names) {
    std::uint32_t bits = name == "sources" ? kSources : name == "all" ? ~0U : 0U;
    for (const auto& [scope, known] : enum_names(Scope{}))
      if (name == known) bits = bit(scope);
    if (bits == 0)
      return invalid_argument(fmt::format("scope: there is no scope '{}'", name),
                              "Use wiki, docs, blogs, contests, prs, diffs, snapshots or sources.");
    mask |= bits;
  }
  return mask;
}

Status check_filters(const KnowledgeQuery& query, const Indexes& indexes,
                     std::span<const IndexReader::Loan> loans) {
  const std::initializer_list<std::pair<std::string_view, const OneOrMany<std::string>*>> filters{
      {"kind", &query.kinds},
      {"language", &query.languages},
      {"symptom", &query.symptoms},
      {"confidence", &query.confidences}};
  for (const auto& [field, filter] : filters) {
    if (filter->values.empty()) continue;
    std::set<std::string> known;
    for (std::size_t r = 0; r < loans.size(); ++r) {
      auto values = facet_values(*loans[r], field);
      if (!values) return values.error();
      known.merge(*values);
      const auto& code = indexes.readers[r]->code();
      if (code.files.empty()) continue;
      if (field == "kind") known.insert({"diff", "snapshot"});
      if (field == "language") known.insert(code.languages.begin(), code.languages.end());
    }
    if (auto checked = check_values(field, *filter, known); !checked) return checked;
  }
  return {};
}

Result<Filter> Filter::make(const KnowledgeQuery& query, Connection& connection, std::size_t rows) {
  Filter filter;
  auto scopes = scope_mask(query.scopes.values);
  if (!scopes) return scopes.error();
  filter.scopes_ = *scopes;
  Narrowing narrowing(connection, rows, kFacets);

  const auto architectures = mapped(query.architectures, normal_architecture);
  const std::initializer_list<std::pair<std::string_view, std::vector<std::string>>> wanted{
      {"kind", mapped(query.kinds, facet_value)},
      {"repo", mapped(query.repos, facet_value)},
      {"tag", mapped(query.tags, facet_value)},
      {"architecture", architectures},
      {"language", mapped(query.languages, facet_value)},
      {"symptom", mapped(query.symptoms, facet_value)},
      {"confidence", mapped(query.confidences, facet_value)}};
  for (const auto& [facet, values] : wanted)
    if (auto done = narrowing.keep(facet, values); !done) return done.error();
  if (query.has_code)
    if (auto done = narrowing.keep_code(*query.has_code); !done) return done.error();
  filter.narrowed_ = narrowing.narrowed();
  filter.allowed_ = narrowing.take();
  filter.restricts_ = filter.narrowed_ || !query.scopes.values.empty();
  auto unverified = count_unverified(connection, architectures);
  if (!unverified) return unverified.error();
  filter.unverified_ = *unverified;
  return filter;
}

Result<CodeFilter> CodeFilter::make(const KnowledgeQuery& query, Connection& connection,
                                    const CodeIndexStatistics& statistics) {
  CodeFilter filter;
  auto scopes = scope_mask(query.scopes.values);
  if (!scopes) return scopes.error();
  filter.scopes_ = *scopes & kCodeScopes;
  const bool unknown = !query.symptoms.values.empty() || !query.confidences.values.empty();
  if (unknown || !query.has_code.value_or(true)) filter.scopes_ = 0;
  if (!query.kinds.values.empty()) {
    std::uint32_t kinds = 0;
    for (const auto& kind : mapped(query.kinds, facet_value)) {
      if (kind == "diff") kinds |= bit(Scope::diffs);
      if (kind == "snapshot") kinds |= bit(Scope::snapshots);
    }
    filter.scopes_ &= kinds;
  }
  if (filter.excludes_all() || statistics.files.empty()) return filter;
  if (!query.languages.values.empty()) {
    const auto wanted = mapped(query.languages, facet_value);
    filter.languages_.assign(256, false);
    for (std::size_t i = 0; i < statistics.languages.size(); ++i)
      filter.languages_[i] = std::ranges::find(wanted, statistics.languages[i]) != wanted.end();
  }
  Narrowing narrowing(connection, static_cast<std::size_t>(statistics.bundles), kBundleFacets);
  for (const auto& [facet, values] :
       {std::pair{"repo", mapped(query.repos, facet_value)},
        {"tag", mapped(query.tags, facet_value)},
        {"architecture", mapped(query.architectures, normal_architecture)}})
    if (auto done = narrowing.keep(facet, values); !done) return done.error();
  filter.narrowed_ = narrowing.narrowed();
  filter.allowed_ = narrowing.take();
  return filter;
}

}  // namespace ratchet::kbs

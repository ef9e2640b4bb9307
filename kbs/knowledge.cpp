#include "kbs/knowledge.h"

#include <algorithm>
#include <utility>

#include "kbs/query/cures.h"
#include "kbs/query/grep.h"
#include "kbs/query/indexes.h"
#include "kbs/query/page_view.h"
#include "kbs/query/search.h"
#include "kbs/query/specs.h"

namespace ratchet {
namespace {

using kbs::Indexes;
using kbs::IndexReader;

Result<std::unordered_set<std::string>> all_ids(IndexReader& reader) {
  auto connection = reader.connection();
  if (!connection) return connection.error();
  std::unordered_set<std::string> ids;
  auto read = for_each_row(**connection, "SELECT id FROM doc",
                           [&](const kbs::Statement& row) { ids.emplace(row.text(0)); });
  if (!read) return read.error();
  return ids;
}

Result<std::shared_ptr<const Indexes>> open_indexes(const KnowledgeOptions& options) {
  auto indexes = std::make_shared<Indexes>();
  indexes->follow_links = options.follow_links;
  if (!options.builtin_index.empty()) {
    auto reader = IndexReader::open(options.builtin_index);
    if (reader) {
      auto ids = all_ids(**reader);
      if (!ids) return ids.error();
      indexes->builtin_ids = *std::move(ids);
      indexes->has_builtin = true;
      indexes->aliases.add((*reader)->aliases());
      indexes->readers.push_back(*std::move(reader));
    } else {
      indexes->note = "the built-in wiki is missing: " + reader.error().message;
    }
  }
  if (options.user_index.empty() || IndexReader::identity_of(options.user_index).empty())
    return {std::move(indexes)};
  auto reader = IndexReader::open(options.user_index);
  if (!reader) return reader.error();
  indexes->aliases.add((*reader)->aliases());
  indexes->readers.push_back(*std::move(reader));
  return {std::move(indexes)};
}

}  // namespace

Result<std::unique_ptr<Knowledge>> Knowledge::open(const KnowledgeOptions& options) {
  auto identity = IndexReader::identity_of(options.user_index);
  auto indexes = open_indexes(options);
  if (!indexes) return indexes.error();
  return std::unique_ptr<Knowledge>(
      new Knowledge(options, *std::move(indexes), std::move(identity)));
}

Knowledge::Knowledge(KnowledgeOptions options, std::shared_ptr<const Indexes> indexes,
                     std::string identity)
    : options_(std::move(options)), indexes_(std::move(indexes)), identity_(std::move(identity)) {}

/// The current indexes, reopened if `kbs add` or `kbs remove` replaced the user's file.
Result<std::shared_ptr<const Indexes>> Knowledge::current() {
  const auto identity = IndexReader::identity_of(options_.user_index);
  const std::lock_guard lock(mutex_);
  if (identity == identity_) return indexes_;
  auto fresh = open_indexes(options_);
  if (!fresh) return fresh.error();
  indexes_ = *std::move(fresh);
  identity_ = identity;
  return indexes_;
}

Result<QueryAnswer> Knowledge::query(const KnowledgeQuery& query) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::search(**indexes, query);
}

Result<Page> Knowledge::page(const PageRequest& request) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::read_page_view(**indexes, request);
}

Result<SpecAnswer> Knowledge::lookup_spec(const std::string& product,
                                          const std::optional<std::string>& metric) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::look_up_spec(**indexes, product, metric);
}

Result<GrepAnswer> Knowledge::grep(const GrepRequest& request) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::grep(**indexes, request);
}

Result<std::vector<Cure>> Knowledge::cures(const QuerySituation& situation) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::find_cures(**indexes, situation);
}

Result<std::vector<std::string>> Knowledge::page_ids(const std::string& prefix, int limit) {
  auto indexes = current();
  if (!indexes) return indexes.error();
  return kbs::ids_with_prefix(**indexes, prefix,
                              static_cast<std::size_t>(std::clamp(limit, 0, 10'000)));
}

}  // namespace ratchet

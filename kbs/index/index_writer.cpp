#include "kbs/index/index_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kbs/index/bundle_writer.h"
#include "kbs/index/document_writer.h"
#include "kbs/index/for_each_row.h"
#include "kbs/index/index_database.h"
#include "kbs/index/index_schema.h"
#include "kbs/index/index_statistics.h"
#include "kbs/text/tokenizer.h"
#include "server/core/fd.h"

namespace ratchet::kbs {
namespace {

/// The full-text index of pages is optimized when at least one document in this many changed;
/// smaller changes are left to FTS5's incremental merging.
constexpr int kSmallChange = 10;
/// Bytes of postings that FTS5 buffers before writing; with its default of 1 MB it has to merge
/// hundreds of small segments.
constexpr int kGathered = 96 << 20;

Error file_error(std::string_view doing, const std::filesystem::path& path, std::string_view what) {
  return {ErrorCode::internal, fmt::format("{} {}: {}", doing, path.string(), what),
          "Check the free space and the permissions of the folder."};
}

/// Frees the space of removed documents when it is at least a quarter of the file.
Status shrink(Database& database) {
  auto free = database.integer("PRAGMA freelist_count");
  auto all = database.integer("PRAGMA page_count");
  if (!free || !all || *free * 4 < *all) return {};
  return database.execute("VACUUM");
}

Status sync_file(const std::filesystem::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return file_error("cannot sync", path, "fsync failed");
  return {};
}

Result<Fd> lock_beside(const std::filesystem::path& target) {
  const auto path = target.string() + ".lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return file_error("cannot create", path, "open failed");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorCode::conflict, "another process is changing the knowledge index",
                 "Wait for the other `ratchet kbs add` or `remove` to finish."};
  return lock;
}

/// The content of the corpus before this writer's changes, by its own ids.
struct Before {
  struct Item {
    std::int64_t row = 0;
    std::string digest;
  };
  struct Made {
    std::string stamp, document, bundle;
  };
  std::unordered_map<std::string, Item> documents, bundles;
  std::unordered_map<std::string, Made> import_items;
  std::set<std::pair<std::string, std::string>> aliases, problems;
  std::string root;
  bool known = false;
};

Status read_before(Database& database, std::string_view corpus, Before& before) {
  const auto each = [&](std::string_view sql, auto visit) {
    return for_each_row(database, sql, visit, corpus);
  };
  const auto items = [&](std::string_view sql, auto& into) {
    return each(sql, [&](const Statement& row) {
      into[std::string(row.text(0))] = {row.integer(1), std::string(row.text(2))};
    });
  };
  const auto pairs = [&](std::string_view sql, auto& into) {
    return each(sql, [&](const Statement& row) {
      into.emplace(std::string(row.text(0)), std::string(row.text(1)));
    });
  };
  auto done = items("SELECT own_id, rowid, digest FROM doc WHERE corpus=?", before.documents);
  if (done) done = items("SELECT own_id, rowid, digest FROM bundle WHERE corpus=?", before.bundles);
  if (done) done = pairs("SELECT word, replacement FROM alias WHERE corpus=?", before.aliases);
  if (done) done = pairs("SELECT path, reason FROM problem WHERE corpus=?", before.problems);
  if (done)
    done =
        each("SELECT key, stamp, doc, bundle FROM job WHERE corpus=?", [&](const Statement& row) {
          before.import_items[std::string(row.text(0))] = {
              std::string(row.text(1)), std::string(row.text(2)), std::string(row.text(3))};
        });
  if (done)
    done = each("SELECT root FROM corpus WHERE name=?", [&](const Statement& row) {
      before.root = row.text(0);
      before.known = true;
    });
  return done;
}

}  // namespace

struct IndexWriter::State {
  std::filesystem::path target, working;
  Fd lock;
  Database database;     ///< the private copy; until there is one, the old index
  bool old = false;      ///< an old index exists
  bool writing = false;  ///< `database` is the private copy
  std::optional<DocumentWriter> documents;
  std::optional<BundleWriter> bundles;
  Statement insert_item;

  std::string corpus;
  Before before;
  std::unordered_set<std::string> put_documents, put_bundles, put_items;
  std::set<std::pair<std::string, std::string>> aliases, problems;
  WriteCounts counts;
  int changed_documents = 0, changed_bundles = 0;

  Status open_old();
  Status start_writing();
  Status run(std::string_view sql, std::initializer_list<std::string_view> values);
  Status rewrite_pairs(std::string_view table,
                       const std::set<std::pair<std::string, std::string>>& pairs);
  template <class Writer>
  Status remove_rest(std::unordered_map<std::string, Before::Item>& all,
                     const std::unordered_set<std::string>& put, std::optional<Writer>& writer,
                     int& changed);
  Status tidy_pages();

  ~State() {
    insert_item = Statement();
    documents.reset();
    bundles.reset();
    database = Database();
    std::error_code ignored;
    if (!working.empty()) std::filesystem::remove(working, ignored);
  }
};

Status IndexWriter::State::open_old() {
  std::error_code failure;
  old = std::filesystem::exists(target, failure);
  if (!old) return {};
  auto opened = open_index(target, OpenMode::immutable);
  if (!opened) return opened.error();
  const auto version = opened->integer("SELECT value FROM meta WHERE name='schema'", 0);
  if (!version || *version != kSchemaVersion)
    return unavailable(fmt::format("{} is not a knowledge index of this version", target.string()),
                       "Move that file elsewhere and add the corpora again.");
  database = *std::move(opened);
  return {};
}

Status IndexWriter::State::start_writing() {
  if (writing) return {};
  const auto copy = std::filesystem::path(target.string() + ".new");
  std::error_code failure;
  std::filesystem::remove(copy, failure);  // left by a killed writer
  working = copy;
  if (old) std::filesystem::copy_file(target, copy, failure);
  if (failure) return file_error("cannot copy", target, failure.message());
  auto opened = open_index(copy, OpenMode::scratch);
  if (!opened) return opened.error();
  database = *std::move(opened);
  if (auto begun = database.execute("BEGIN"); !begun) return begun;
  if (!old)
    if (auto made =
            database.execute(std::string(kSchema) +
                             fmt::format("INSERT INTO meta VALUES('schema',{});", kSchemaVersion));
        !made)
      return made;
  const auto terms = database.integer("SELECT value FROM meta WHERE name='terms'", 1);
  if (!terms) return terms.error();
  if (old && *terms != kTermsVersion)
    if (auto rebuilt = database.execute("INSERT INTO fts(fts) VALUES('rebuild')"); !rebuilt)
      return rebuilt;
  if (auto noted = database.execute(
          fmt::format("INSERT OR REPLACE INTO meta VALUES('terms',{})", kTermsVersion));
      !noted)
    return noted;
  // Stored in the file, but only writers use it.
  for (const std::string_view index : {"fts", "code"})
    if (auto set = database.execute(
            fmt::format("INSERT INTO {0}({0}, rank) VALUES('hashsize', {1})", index, kGathered));
        !set)
      return set;
  auto pages = DocumentWriter::open(database);
  if (!pages) return pages.error();
  documents = *std::move(pages);
  auto code = BundleWriter::open(database);
  if (!code) return code.error();
  bundles.emplace(*std::move(code));
  if (auto prepared =
          prepare_all(database, {{&insert_item, "INSERT OR REPLACE INTO job VALUES(?,?,?,?,?)"}});
      !prepared)
    return prepared;
  writing = true;
  return run("INSERT OR REPLACE INTO corpus VALUES(?,?,datetime('now'))", {corpus, before.root});
}

Status IndexWriter::State::run(std::string_view sql,
                               std::initializer_list<std::string_view> values) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  int at = 0;
  for (const auto value : values) statement->bind(++at, value);
  return statement->run();
}

IndexWriter::IndexWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
IndexWriter::IndexWriter(IndexWriter&&) noexcept = default;
IndexWriter::~IndexWriter() = default;

Result<IndexWriter> IndexWriter::open(const std::filesystem::path& target) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::absolute(target).parent_path(), failure);
  if (failure) return file_error("cannot create the folder of", target, failure.message());
  auto state = std::make_unique<State>();
  auto lock = lock_beside(target);
  if (!lock) return lock.error();
  state->lock = *std::move(lock);
  state->target = target;
  if (auto opened = state->open_old(); !opened) return opened.error();
  return IndexWriter(std::move(state));
}

Status IndexWriter::begin_corpus(std::string_view name, std::string_view root) {
  auto& state = *state_;
  state.corpus = name;
  state.before = {};
  for (auto* put : {&state.put_documents, &state.put_bundles, &state.put_items}) put->clear();
  state.aliases.clear();
  state.problems.clear();
  state.counts = {};
  if (state.old || state.writing)
    if (auto read = read_before(state.database, name, state.before); !read) return read;
  if (state.before.known && state.before.root == root) return {};
  state.before.root = root;
  if (!state.writing) return state.start_writing();
  return state.run("INSERT OR REPLACE INTO corpus VALUES(?,?,datetime('now'))", {name, root});
}

IndexWriter::MadeOf IndexWriter::made_of(const std::string& key) const {
  const auto known = state_->before.import_items.find(key);
  if (known == state_->before.import_items.end()) return {};
  return {known->second.document, known->second.bundle};
}

bool IndexWriter::keep(const ImportItem& item) {
  auto& state = *state_;
  const auto& items = state.before.import_items;
  const auto known = items.find(item.key);
  if (item.stamp.empty() || known == items.end() || known->second.stamp != item.stamp) return false;
  state.put_items.insert(item.key);
  for (const auto& [id, put] : {std::pair{&known->second.document, &state.put_documents},
                                {&known->second.bundle, &state.put_bundles}}) {
    if (id->empty()) continue;
    put->insert(*id);
    ++state.counts.unchanged;
  }
  return true;
}

namespace {

/// How a document or bundle that is put differs from the old index.
enum class Change { none, add, replace };

Change change_of(const std::unordered_map<std::string, Before::Item>& before, const std::string& id,
                 std::string_view digest, WriteCounts& counts) {
  const auto old = before.find(id);
  if (old == before.end()) {
    ++counts.added;
    return Change::add;
  }
  const bool same = old->second.digest == digest;
  ++(same ? counts.unchanged : counts.changed);
  return same ? Change::none : Change::replace;
}

}  // namespace

Status IndexWriter::put(const Document& document) {
  auto& state = *state_;
  if (!state.put_documents.insert(document.id).second)
    return Error{ErrorCode::conflict, fmt::format("duplicate id '{}'", document.id)};
  const auto digest = DocumentWriter::digest_of(document);
  const auto change = change_of(state.before.documents, document.id, digest, state.counts);
  if (change == Change::none) return {};
  if (auto started = state.start_writing(); !started) return started;
  ++state.changed_documents;
  if (change == Change::replace)
    if (auto gone = state.documents->remove(state.before.documents.at(document.id).row); !gone)
      return gone;
  return state.documents->insert(document, state.corpus, digest);
}

Result<bool> IndexWriter::claim(Bundle& bundle) {
  auto& state = *state_;
  if (!state.put_bundles.insert(bundle.id).second)
    return Error{ErrorCode::conflict, fmt::format("duplicate bundle id '{}'", bundle.id)};
  const auto change = change_of(state.before.bundles, bundle.id, bundle.digest, state.counts);
  if (change == Change::none) return false;
  if (auto started = state.start_writing(); !started) return started.error();
  ++state.changed_bundles;
  if (change == Change::replace)
    if (auto gone = state.bundles->remove(state.before.bundles.at(bundle.id).row); !gone)
      return gone.error();
  state.bundles->claim(bundle);
  return true;
}

Status IndexWriter::insert(const Bundle& bundle) {
  return state_->bundles->insert(bundle, state_->corpus);
}

Status IndexWriter::remember(const ImportItem& item, std::string_view document,
                             std::string_view bundle) {
  auto& state = *state_;
  state.put_items.insert(item.key);
  // A new stamp alone does not justify writing a new index.
  if (!state.writing) return {};
  return bind_all(state.insert_item, state.corpus, item.key, item.stamp, document, bundle).run();
}

void IndexWriter::put_alias(Alias alias) {
  state_->aliases.emplace(std::move(alias.word), std::move(alias.replacement));
}

void IndexWriter::put_problem(Problem problem) {
  state_->problems.emplace(std::move(problem.path), std::move(problem.reason));
}

Status IndexWriter::State::rewrite_pairs(
    std::string_view table, const std::set<std::pair<std::string, std::string>>& pairs) {
  if (auto started = start_writing(); !started) return started;
  if (auto gone = run(fmt::format("DELETE FROM {} WHERE corpus=?", table), {corpus}); !gone)
    return gone;
  for (const auto& [first, second] : pairs)
    if (auto put = run(fmt::format("INSERT INTO {} VALUES(?,?,?)", table), {corpus, first, second});
        !put)
      return put;
  return {};
}

template <class Writer>
Status IndexWriter::State::remove_rest(std::unordered_map<std::string, Before::Item>& all,
                                       const std::unordered_set<std::string>& put,
                                       std::optional<Writer>& writer, int& changed) {
  for (const auto& [id, item] : all) {
    if (put.contains(id)) continue;
    if (auto started = start_writing(); !started) return started;
    if (auto gone = writer->remove(item.row); !gone) return gone;
    ++counts.removed;
    ++changed;
  }
  all.clear();
  return {};
}

Result<WriteCounts> IndexWriter::end_corpus() {
  auto& state = *state_;
  auto done = state.remove_rest(state.before.documents, state.put_documents, state.documents,
                                state.changed_documents);
  if (done)
    done = state.remove_rest(state.before.bundles, state.put_bundles, state.bundles,
                             state.changed_bundles);
  if (done && state.aliases != state.before.aliases)
    done = state.rewrite_pairs("alias", state.aliases);
  if (done && state.problems != state.before.problems)
    done = state.rewrite_pairs("problem", state.problems);
  if (state.writing)
    for (const auto& [key, made] : state.before.import_items)
      if (done && !state.put_items.contains(key))
        done = state.run("DELETE FROM job WHERE corpus=? AND key=?", {state.corpus, key});
  if (!done) return done.error();
  return state.counts;
}

Result<int> IndexWriter::remove_corpus(std::string_view name) {
  auto& state = *state_;
  Before known;
  if (state.old)
    if (auto read = read_before(state.database, name, known); !read) return read.error();
  if (!known.known)
    return not_found(fmt::format("no corpus named '{}'", name),
                     "`ratchet kbs stats` lists the corpora.");
  if (auto begun = begin_corpus(name, known.root); !begun) return begun.error();
  auto counts = end_corpus();
  if (!counts) return counts.error();
  if (auto started = state.start_writing(); !started) return started.error();
  if (auto done = state.run("DELETE FROM corpus WHERE name=?", {name}); !done) return done.error();
  return counts->removed;
}

Status IndexWriter::State::tidy_pages() {
  if (changed_documents == 0) return {};
  auto all = database.integer("SELECT count(*) FROM doc");
  if (!all) return all.error();
  if (*all > std::int64_t{changed_documents} * kSmallChange) return {};
  return database.execute("INSERT INTO fts(fts) VALUES('optimize')");
}

Status IndexWriter::finish() {
  auto& state = *state_;
  if (!state.writing) return {};
  auto done = state.bundles->finish();
  // The full-text index of code is not optimized: it already consists of a few large segments, and
  // another pass would cost a tenth of the build without a noticeable gain.
  if (done) done = state.tidy_pages();
  if (done)
    done = write_statistics(state.database, state.changed_documents > 0, state.changed_bundles > 0);
  if (done) done = state.database.execute("COMMIT");
  if (!done) return done;
  state.insert_item = Statement();
  state.documents.reset();
  state.bundles.reset();
  if (auto shrunk = shrink(state.database); !shrunk) return shrunk;
  state.database = Database();
  if (auto synced = sync_file(state.working); !synced) return synced;
  std::error_code failure;
  std::filesystem::rename(state.working, state.target, failure);
  if (failure) return file_error("cannot replace", state.target, failure.message());
  state.working.clear();
  return {};
}

}  // namespace ratchet::kbs

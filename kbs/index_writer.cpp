#include "kbs/index_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "kbs/compression.h"
#include "kbs/index_schema.h"
#include "kbs/index_statistics.h"
#include "kbs/labels.h"
#include "kbs/page_reader.h"
#include "kbs/trigrams.h"
#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/hash.h"

namespace ratchet::kbs {
namespace {

Error file_error(std::string_view doing, const std::filesystem::path& path, std::string_view what) {
  return {ErrorCode::internal, fmt::format("{} {}: {}", doing, path.string(), what),
          "Check the free space and the rights of the folder."};
}

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, "\n"));
}

std::string label_list(const std::vector<ArchitectureLabel>& labels) {
  std::vector<std::string> out;
  for (const auto& label : labels)
    out.push_back(fmt::format("{}:{}", label.name, name_of(label.origin)));
  return fmt::format("{}", fmt::join(out, ","));
}

/// The words of the field `tags`: everything the author filed the page under.
std::string tag_words(const Document& document) {
  auto words = document.tags;
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(document.aliases);
  add(document.languages);
  add(document.extra_terms);
  words.insert(words.end(), {document.repo, document.kind, document.product});
  for (const auto& label : document.architectures)
    if (label.origin != LabelOrigin::unverified) words.push_back(label.name);
  return joined(words);
}

/// Every name of a hardware page, one per line.
std::string product_names(const Document& document) {
  if (document.specs.empty()) return {};
  auto names = document.aliases;
  names.insert(names.begin(), {document.id, document.title, document.product});
  return joined(names);
}

std::string digest_of(const Document& document) {
  // Everything that reaches the index, so that a changed label re-indexes as a changed text does.
  return sha256_hex(fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", document.path,
                                document.title, document.text, document.description_path,
                                document.description, label_list(document.architectures),
                                document.license));
}

/// Gives back the space of removed documents when it is a quarter of the file.
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

}  // namespace

struct IndexWriter::State {
  std::filesystem::path target;
  std::filesystem::path working;
  Fd lock;
  Database database;
  std::string corpus;
  std::unordered_map<std::string, std::pair<std::int64_t, std::string>>
      before;  // own id → row, digest
  std::unordered_set<std::string> put;
  WriteCounts counts;
  Statement insert_doc, insert_fts, insert_facet, insert_source, insert_spec, find_id;

  Status prepare();

  ~State() {
    database = Database();
    std::error_code ignored;
    if (!working.empty()) std::filesystem::remove(working, ignored);
  }
};

Status IndexWriter::State::prepare() {
  const auto make = [&](Statement& statement, std::string_view sql) -> Status {
    auto prepared = database.prepare(sql);
    if (!prepared) return prepared.error();
    statement = *std::move(prepared);
    return {};
  };
  for (auto [statement, sql] : std::initializer_list<std::pair<Statement*, std::string_view>>{
           {&insert_doc,
            "INSERT INTO "
            "doc(id,own_id,corpus,scope,kind,repo,title,path,extra_path,date,confidence,"
            "license,architectures,has_code,digest,product,tags,symptoms,trigrams,text,extra) "
            "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
           {&insert_fts,
            "INSERT INTO fts(rowid,id,title,tags,symptoms,headings,body) VALUES(?,?,?,?,?,?,?)"},
           {&insert_facet, "INSERT OR IGNORE INTO facet VALUES(?,?,?)"},
           {&insert_source, "INSERT INTO source VALUES(?,?,?,?,?)"},
           {&insert_spec, "INSERT INTO spec VALUES(?,?,?,?,?,?,?,?,?)"},
           {&find_id, "SELECT 1 FROM doc WHERE id=?"}})
    if (auto done = make(*statement, sql); !done) return done;
  return {};
}

IndexWriter::IndexWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
IndexWriter::IndexWriter(IndexWriter&&) noexcept = default;
IndexWriter::~IndexWriter() = default;

namespace {

Result<Fd> lock_beside(const std::filesystem::path& target) {
  const auto path = target.string() + ".lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return file_error("cannot make", path, "open failed");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorCode::conflict, "another process is changing the knowledge index",
                 "Wait for the other `ratchet kbs add` or `remove` to end."};
  return lock;
}

/// True when `working` now holds a copy of the target, false when there is no target.
Result<bool> copy_existing(const std::filesystem::path& target,
                           const std::filesystem::path& working) {
  std::error_code failure;
  if (!std::filesystem::exists(target, failure)) return false;
  auto old = open_index(target, OpenMode::immutable);
  if (!old) return old.error();
  const auto version = old->integer("SELECT value FROM meta WHERE name='schema'", 0);
  if (!version || *version != kSchemaVersion)
    return Error{ErrorCode::unavailable,
                 fmt::format("{} is no knowledge index of this version", target.string()),
                 "Delete the file and add the corpora again."};
  std::filesystem::copy_file(target, working, failure);
  if (failure) return file_error("cannot copy", target, failure.message());
  return true;
}

}  // namespace

Result<IndexWriter> IndexWriter::open(const std::filesystem::path& target) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::absolute(target).parent_path(), failure);
  if (failure) return file_error("cannot make the folder of", target, failure.message());
  auto state = std::make_unique<State>();
  auto lock = lock_beside(target);
  if (!lock) return lock.error();
  state->lock = *std::move(lock);
  state->target = target;
  const auto working = std::filesystem::path(target.string() + ".new");
  std::filesystem::remove(working, failure);  // what a killed writer left
  auto copied = copy_existing(target, working);
  if (!copied) return copied.error();
  state->working = working;
  auto database = open_index(working, OpenMode::scratch);
  if (!database) return database.error();
  state->database = *std::move(database);
  auto& db = state->database;
  if (auto begun = db.execute("BEGIN"); !begun) return begun.error();
  if (!*copied)
    if (auto made =
            db.execute(std::string(kSchema) +
                       fmt::format("INSERT INTO meta VALUES('schema',{});", kSchemaVersion));
        !made)
      return made.error();

  if (auto done = state->prepare(); !done) return done.error();
  return IndexWriter(std::move(state));
}

Status IndexWriter::begin_corpus(std::string_view name, std::string_view root) {
  state_->corpus = name;
  state_->before.clear();
  state_->put.clear();
  state_->counts = {};
  auto known = state_->database.prepare("SELECT own_id, rowid, digest FROM doc WHERE corpus=?");
  if (!known) return known.error();
  known->bind(1, name);
  for (;;) {
    auto row = known->step();
    if (!row) return row.error();
    if (!*row) break;
    state_->before[std::string(known->text(0))] = {known->integer(1), std::string(known->text(2))};
  }
  for (const std::string_view sql :
       {"DELETE FROM alias WHERE corpus=?", "DELETE FROM problem WHERE corpus=?"}) {
    auto statement = state_->database.prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->bind(1, name).run(); !done) return done;
  }
  auto corpus =
      state_->database.prepare("INSERT OR REPLACE INTO corpus VALUES(?,?,datetime('now'))");
  if (!corpus) return corpus.error();
  return corpus->bind(1, name).bind(2, root).run();
}

Status IndexWriter::put(const Document& document) {
  if (!state_->put.insert(document.id).second)
    return Error{ErrorCode::conflict, fmt::format("id '{}' was given before", document.id), ""};
  const auto digest = digest_of(document);
  if (const auto old = state_->before.find(document.id); old != state_->before.end()) {
    if (old->second.second == digest) {
      ++state_->counts.unchanged;
      return {};
    }
    ++state_->counts.changed;
    if (auto gone = remove_row(old->second.first); !gone) return gone;
  } else {
    ++state_->counts.added;
  }
  return insert(document, digest);
}

Status IndexWriter::insert(const Document& document, std::string_view digest) {
  auto& state = *state_;
  // An id that another corpus holds already is qualified by the name of this one.
  state.find_id.reset();
  auto taken = state.find_id.bind(1, std::string_view(document.id)).step();
  if (!taken) return taken.error();
  const std::string id = *taken ? state.corpus + ":" + document.id : document.id;
  state.find_id.reset();

  const auto parts = split_page(document.text);
  const auto tags = tag_words(document);
  const auto symptoms = joined(document.symptoms);
  const auto names = product_names(document);
  const auto body = std::string(parts.body) + "\n" + document.description;
  auto& doc = state.insert_doc;
  int at = 0;
  for (const std::string_view text :
       {std::string_view(id), std::string_view(document.id), std::string_view(state.corpus)})
    doc.bind(++at, text);
  doc.bind(++at, static_cast<std::int64_t>(document.scope));
  const auto labels = label_list(document.architectures);
  for (const std::string_view text :
       {std::string_view(document.kind), std::string_view(document.repo),
        std::string_view(document.title), std::string_view(document.path),
        std::string_view(document.description_path), std::string_view(document.date),
        std::string_view(document.confidence), std::string_view(document.license),
        std::string_view(labels)})
    doc.bind(++at, text);
  doc.bind(++at, std::int64_t{document.has_code});
  for (const std::string_view text :
       {digest, std::string_view(names), std::string_view(tags), std::string_view(symptoms)})
    doc.bind(++at, text);
  doc.bind_blob(++at, trigram_filter(document.text, document.description));
  doc.bind_blob(++at, compress(document.text));
  doc.bind_blob(++at, compress(document.description));
  if (auto done = doc.run(); !done) return done;

  const auto row = sqlite3_last_insert_rowid(state.database.handle());
  auto& fts = state.insert_fts;
  fts.bind(1, static_cast<std::int64_t>(row))
      .bind(2, std::string_view(id))
      .bind(3, std::string_view(document.title));
  fts.bind(4, std::string_view(tags)).bind(5, std::string_view(symptoms));
  fts.bind(6, std::string_view(headings_of(parts.body))).bind(7, std::string_view(body));
  if (auto done = fts.run(); !done) return done;
  return insert_facets(row, document);
}

Status IndexWriter::insert_facets(std::int64_t row, const Document& document) {
  Status status;
  const auto facet = [&](std::string_view name, std::string_view value) {
    if (!status || value.empty()) return;
    std::string folded(value);
    std::ranges::transform(folded, folded.begin(), [](unsigned char c) {
      return c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(c));
    });
    status =
        state_->insert_facet.bind(1, name).bind(2, std::string_view(folded)).bind(3, row).run();
  };
  facet("kind", document.kind);
  facet("repo", document.repo);
  if (const auto slash = document.repo.rfind('/'); slash != std::string::npos)
    facet("repo", std::string_view(document.repo).substr(slash + 1));
  facet("confidence", document.confidence);
  for (const auto& tag : document.tags) facet("tag", tag);
  for (const auto& language : document.languages) facet("language", language);
  for (const auto& symptom : document.symptoms) facet("symptom", symptom);
  // What a query may say word for word to mean this page.
  facet("name", squeezed(document.title));
  facet("name", squeezed(document.product));
  for (const auto& alias : document.aliases) facet("name", squeezed(alias));
  for (const auto& symptom : document.symptoms) facet("name", squeezed(symptom));
  for (const auto& label : document.architectures)
    facet(label.origin == LabelOrigin::unverified ? "unverified-architecture" : "architecture",
          label.name);
  int ordinal = 0;
  for (const auto& source : document.sources) {
    if (!status) return status;
    status = state_->insert_source.bind(1, row)
                 .bind(2, std::int64_t{ordinal++})
                 .bind(3, std::string_view(source.id))
                 .bind(4, std::string_view(source.title))
                 .bind(5, std::string_view(source.publisher))
                 .run();
  }
  ordinal = 0;
  for (const auto& spec : document.specs) {
    if (!status) return status;
    status = state_->insert_spec.bind(1, row)
                 .bind(2, std::int64_t{ordinal++})
                 .bind(3, std::string_view(spec.metric))
                 .bind(4, spec.value)
                 .bind(5, std::string_view(spec.unit))
                 .bind(6, std::string_view(spec.qualifier))
                 .bind(7, std::string_view(spec.kind))
                 .bind(8, std::string_view(spec.source))
                 .bind(9, std::int64_t{spec.line})
                 .run();
  }
  return status;
}

Status IndexWriter::remove_row(std::int64_t row) {
  for (const std::string_view sql :
       {"INSERT INTO fts(fts,rowid,id,title,tags,symptoms,headings,body) "
        "SELECT 'delete',rowid,id,title,tags,symptoms,headings,body FROM doc_text WHERE rowid=?",
        "DELETE FROM doc WHERE rowid=?", "DELETE FROM facet WHERE doc=?",
        "DELETE FROM source WHERE doc=?", "DELETE FROM spec WHERE doc=?"}) {
    auto statement = state_->database.prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->bind(1, row).run(); !done) return done;
  }
  return {};
}

Status IndexWriter::put_alias(const Alias& alias) {
  auto statement = state_->database.prepare("INSERT OR IGNORE INTO alias VALUES(?,?,?)");
  if (!statement) return statement.error();
  return statement->bind(1, std::string_view(state_->corpus))
      .bind(2, std::string_view(alias.word))
      .bind(3, std::string_view(alias.replacement))
      .run();
}

Status IndexWriter::put_problem(const Problem& problem) {
  auto statement = state_->database.prepare("INSERT OR IGNORE INTO problem VALUES(?,?,?)");
  if (!statement) return statement.error();
  return statement->bind(1, std::string_view(state_->corpus))
      .bind(2, std::string_view(problem.path))
      .bind(3, std::string_view(problem.reason))
      .run();
}

Result<WriteCounts> IndexWriter::end_corpus() {
  for (const auto& [id, row] : state_->before) {
    if (state_->put.contains(id)) continue;
    if (auto gone = remove_row(row.first); !gone) return gone.error();
    ++state_->counts.removed;
  }
  state_->before.clear();
  return state_->counts;
}

Result<int> IndexWriter::remove_corpus(std::string_view name) {
  auto known = state_->database.prepare("SELECT 1 FROM corpus WHERE name=?");
  if (!known) return known.error();
  auto there = known->bind(1, name).step();
  if (!there) return there.error();
  known->reset();
  if (!*there)
    return Error{ErrorCode::not_found, fmt::format("no corpus named '{}'", name),
                 "`ratchet kbs stats` lists the corpora."};
  if (auto begun = begin_corpus(name, ""); !begun) return begun.error();
  auto counts = end_corpus();
  if (!counts) return counts.error();
  auto statement = state_->database.prepare("DELETE FROM corpus WHERE name=?");
  if (!statement) return statement.error();
  if (auto done = statement->bind(1, name).run(); !done) return done.error();
  return counts->removed;
}

Status IndexWriter::finish() {
  auto& state = *state_;
  if (auto done = state.database.execute("INSERT INTO fts(fts) VALUES('optimize')"); !done)
    return done;
  if (auto done = write_statistics(state.database); !done) return done;
  if (auto done = state.database.execute("COMMIT"); !done) return done;
  for (auto* statement : {&state.insert_doc, &state.insert_fts, &state.insert_facet,
                          &state.insert_source, &state.insert_spec, &state.find_id})
    *statement = Statement();
  if (auto done = shrink(state.database); !done) return done;
  state.database = Database();
  if (auto done = sync_file(state.working); !done) return done;
  std::error_code failure;
  std::filesystem::rename(state.working, state.target, failure);
  if (failure) return file_error("cannot replace", state.target, failure.message());
  state.working.clear();
  return {};
}

}  // namespace ratchet::kbs

#include "kbs/index/bundle_writer.h"

#include <fmt/format.h>

#include <bit>
#include <utility>
#include <vector>

#include "kbs/documents/labels.h"
#include "kbs/index/code_file.h"

namespace ratchet::kbs {
namespace {

constexpr std::int64_t kClaimed = -1;  // in the place of a row

/// Terms of a part's name column: what it defines, and where.
std::string name_text(const std::string& name, std::string_view source_path) {
  return fmt::format("{} {}", name, source_path);
}

std::string_view text_of(const StoredCode& code, std::size_t part) {
  const auto& place = code.parts[part];
  return std::string_view(code.text).substr(place.begin, place.end - place.begin);
}

}  // namespace

void find_terms(Bundle& bundle) {
  thread_local TermSet terms;  // what it remembers is worth keeping
  for (auto& file : bundle.files)
    for (auto& fresh : file.fresh) {
      const auto& part = file.parts[fresh.part];
      fresh.name = terms.terms_of(name_text(part.name, file.source_path));
      fresh.body =
          terms.terms_of(std::string_view(file.text).substr(part.begin, part.end - part.begin));
      fresh.count = terms.count();
    }
}

Result<BundleWriter> BundleWriter::open(Database& database) {
  BundleWriter writer(database);
  if (auto done = writer.prepare(); !done) return done.error();
  auto known = database.prepare("SELECT hash, code FROM part");
  if (!known) return known.error();
  for (;;) {
    auto row = known->step();
    if (!row) return row.error();
    if (!*row) return writer;
    writer.indexed_[std::bit_cast<std::uint64_t>(known->integer(0))] = known->integer(1);
  }
}

Status BundleWriter::prepare() {
  for (auto [statement, sql] : std::initializer_list<std::pair<Statement*, std::string_view>>{
           {&insert_bundle_,
            "INSERT INTO bundle(id,own_id,corpus,page,repo,title,url,date,license,architectures,"
            "digest) VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
           {&insert_file_,
            "INSERT INTO file(bundle,ordinal,scope,path,line,source_path,language,digest,bytes,"
            "trigrams,text) VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
           {&insert_part_, "INSERT INTO part VALUES(?,?)"},
           {&delete_part_, "DELETE FROM part WHERE hash=?"},
           {&insert_code_, "INSERT INTO code(rowid,name,body) VALUES(?,?,?)"},
           {&delete_code_, "INSERT INTO code(code,rowid,name,body) VALUES('delete',?,?,?)"},
           {&read_code_, kReadCode},
           {&insert_facet_, "INSERT OR IGNORE INTO bundle_facet VALUES(?,?,?)"}}) {
    auto prepared = database_->prepare(sql);
    if (!prepared) return prepared.error();
    *statement = *std::move(prepared);
  }
  return {};
}

Status BundleWriter::insert(const Bundle& bundle, std::string_view corpus) {
  auto taken = database_->prepare("SELECT 1 FROM bundle WHERE id=?");
  if (!taken) return taken.error();
  auto found = taken->bind(1, std::string_view(bundle.id)).step();
  if (!found) return found.error();
  const std::string id = *found ? fmt::format("{}:{}", corpus, bundle.id) : bundle.id;
  const auto labels = label_list(bundle.architectures);
  int at = 0;
  for (const std::string_view text :
       {std::string_view(id), std::string_view(bundle.id), corpus, std::string_view(bundle.page),
        std::string_view(bundle.repo), std::string_view(bundle.title), std::string_view(bundle.url),
        std::string_view(bundle.date), std::string_view(bundle.license), std::string_view(labels),
        std::string_view(bundle.digest)})
    insert_bundle_.bind(++at, text);
  if (auto done = insert_bundle_.run(); !done) return done.error();
  const auto row = std::int64_t{sqlite3_last_insert_rowid(database_->handle())};
  if (auto done = insert_facets(row, bundle); !done) return done.error();
  std::pair<int, int> ordinals{0, 0};  // diffs and snapshots are counted apart
  for (const auto& file : bundle.files) {
    const int ordinal = file.scope == Scope::diffs ? ++ordinals.first : ++ordinals.second;
    if (auto done = insert_file(row, ordinal, file); !done) return done;
  }
  return {};
}

Status BundleWriter::insert_facets(std::int64_t row, const Bundle& bundle) {
  Status status;
  const auto facet = [&](std::string_view name, const std::string& value) {
    if (status && !value.empty())
      status = insert_facet_.bind(1, name)
                   .bind(2, std::string_view(facet_value(value)))
                   .bind(3, row)
                   .run();
  };
  facet("repo", bundle.repo);
  if (const auto slash = bundle.repo.rfind('/'); slash != std::string::npos)
    facet("repo", bundle.repo.substr(slash + 1));
  for (const auto& tag : bundle.tags) facet("tag", tag);
  for (const auto& label : bundle.architectures)
    facet(label.origin == LabelOrigin::unverified ? "unverified-architecture" : "architecture",
          label.name);
  return status;
}

Status BundleWriter::insert_file(std::int64_t bundle, int ordinal, const CodeFile& file) {
  insert_file_.bind(1, bundle)
      .bind(2, std::int64_t{ordinal})
      .bind(3, static_cast<std::int64_t>(file.scope))
      .bind(4, std::string_view(file.path))
      .bind(5, std::int64_t{file.line})
      .bind(6, std::string_view(file.source_path))
      .bind(7, std::string_view(file.language))
      .bind(8, std::string_view(file.digest))
      .bind(9, static_cast<std::int64_t>(file.text.size()))
      .bind_blob(10, file.trigrams)
      .bind_blob(11, file.frame);
  if (auto done = insert_file_.run(); !done) return done;
  return insert_parts(sqlite3_last_insert_rowid(database_->handle()), file);
}

void BundleWriter::claim(Bundle& bundle) {
  for (auto& file : bundle.files) {
    file.fresh.clear();
    for (std::size_t i = 0; i < file.parts.size(); ++i)
      if (indexed_.emplace(file.hashes[i], kClaimed).second) file.fresh.push_back({i, "", "", 0});
  }
}

Status BundleWriter::insert_parts(std::int64_t file, const CodeFile& content) {
  for (const auto& fresh : content.fresh)
    if (auto done = insert_part({file, fresh.part, 0}, content.hashes[fresh.part], fresh); !done)
      return done;
  return {};
}

Status BundleWriter::insert_part(CodeRow row, std::uint64_t hash, const CodeFile::Terms& terms) {
  row.magnitude = CodeRow::magnitude_of(terms.count);
  insert_code_.bind(1, row.number())
      .bind(2, std::string_view(terms.name))
      .bind(3, std::string_view(terms.body));
  if (auto done = insert_code_.run(); !done) return done;
  indexed_[hash] = row.number();
  return insert_part_.bind(1, std::bit_cast<std::int64_t>(hash)).bind(2, row.number()).run();
}

Status BundleWriter::remove(std::int64_t bundle) {
  auto files = database_->prepare("SELECT rowid FROM file WHERE bundle=?");
  if (!files) return files.error();
  files->bind(1, bundle);
  std::vector<std::int64_t> rows;
  for (;;) {
    auto row = files->step();
    if (!row) return row.error();
    if (!*row) break;
    rows.push_back(files->integer(0));
  }
  files->reset();
  for (const auto file : rows)
    if (auto done = remove_file(file); !done) return done;
  for (const std::string_view sql :
       {"DELETE FROM file WHERE bundle=?", "DELETE FROM bundle_facet WHERE bundle=?",
        "DELETE FROM bundle WHERE rowid=?"}) {
    auto statement = database_->prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->bind(1, bundle).run(); !done) return done;
  }
  return {};
}

Status BundleWriter::remove_file(std::int64_t file) {
  auto stored = read_code(read_code_, file);
  if (!stored) return stored.error();
  for (std::size_t i = 0; i < stored->parts.size(); ++i) {
    const auto hash = hash_of_part(text_of(*stored, i));
    const auto known = indexed_.find(hash);
    if (known == indexed_.end() || CodeRow::of(known->second).file != file ||
        CodeRow::of(known->second).part != i)
      continue;
    const auto& part = stored->parts[i];
    delete_code_.bind(1, known->second)
        .bind(2, terms_.terms_of(name_text(part.name, stored->source_path)));
    delete_code_.bind(3, terms_.terms_of(text_of(*stored, i)));
    if (auto done = delete_code_.run(); !done) return done;
    if (auto done = delete_part_.bind(1, std::bit_cast<std::int64_t>(hash)).run(); !done)
      return done;
    indexed_.erase(known);
    orphans_.insert(hash);
  }
  return {};
}

Status BundleWriter::finish() {
  std::erase_if(orphans_, [&](std::uint64_t hash) { return indexed_.contains(hash); });
  if (orphans_.empty()) return {};
  auto files = database_->prepare("SELECT rowid FROM file ORDER BY rowid");
  if (!files) return files.error();
  for (;;) {
    auto row = files->step();
    if (!row) return row.error();
    if (!*row || orphans_.empty()) break;
    auto stored = read_code(read_code_, files->integer(0));
    if (!stored) return stored.error();
    for (std::size_t i = 0; i < stored->parts.size(); ++i) {
      const auto text = text_of(*stored, i);
      const auto hash = hash_of_part(text);
      if (orphans_.erase(hash) == 0) continue;
      CodeFile::Terms terms{
          i, std::string(terms_.terms_of(name_text(stored->parts[i].name, stored->source_path))),
          std::string(terms_.terms_of(text)), 0};
      terms.count = terms_.count();
      if (auto done = insert_part({files->integer(0), i, 0}, hash, terms); !done) return done;
    }
  }
  orphans_.clear();
  return {};
}

}  // namespace ratchet::kbs

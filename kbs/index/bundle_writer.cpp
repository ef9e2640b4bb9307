#include "kbs/index/bundle_writer.h"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "kbs/documents/labels.h"
#include "kbs/index/code_file.h"
#include "kbs/index/for_each_row.h"
#include "kbs/text/fast_hash.h"

namespace ratchet::kbs {
namespace {

constexpr std::int64_t kClaimed = -1;  // instead of a row

/// Text of a part's name column: what it defines, and its path.
std::string name_text(const std::string& name, std::string_view source_path) {
  return fmt::format("{} {}", name, source_path);
}

std::string_view text_of(std::string_view text, const CodePart& part) {
  return text.substr(part.begin, part.end - part.begin);
}

}  // namespace

void find_terms(Bundle& bundle) {
  thread_local TermSet terms;  // keeps its cache across bundles
  for (auto& file : bundle.files)
    for (auto& fresh : file.fresh) {
      const auto& part = file.parts[fresh.part];
      fresh.name = terms.terms_of(name_text(part.name, file.source_path));
      fresh.body = terms.terms_of(text_of(file.text, part));
      fresh.count = terms.count();
    }
}

Result<BundleWriter> BundleWriter::open(Database& database) {
  BundleWriter writer(database);
  auto done = prepare_all(
      database,
      {{&writer.insert_bundle_,
        "INSERT INTO bundle(id,own_id,corpus,page,repo,title,url,date,license,architectures,"
        "digest) VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
       {&writer.insert_file_,
        "INSERT INTO file(bundle,ordinal,scope,path,line,source_path,language,digest,bytes,"
        "trigrams,text) VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
       {&writer.insert_part_, "INSERT INTO part VALUES(?,?)"},
       {&writer.delete_part_, "DELETE FROM part WHERE hash=?"},
       {&writer.insert_code_, "INSERT INTO code(rowid,name,body) VALUES(?,?,?)"},
       {&writer.delete_code_, "INSERT INTO code(code,rowid,name,body) VALUES('delete',?,?,?)"},
       {&writer.read_code_, kReadCode},
       {&writer.insert_facet_, "INSERT OR IGNORE INTO bundle_facet VALUES(?,?,?)"}});
  if (done)
    done = for_each_row(database, "SELECT hash, code FROM part", [&](const Statement& row) {
      writer.indexed_[std::bit_cast<std::uint64_t>(row.integer(0))] = row.integer(1);
    });
  if (!done) return done.error();
  return writer;
}

Status BundleWriter::insert(const Bundle& bundle, std::string_view corpus) {
  auto taken = database_->prepare("SELECT 1 FROM bundle WHERE id=?");
  if (!taken) return taken.error();
  auto found = bind_all(*taken, bundle.id).step();
  if (!found) return found.error();
  // An id that another corpus uses already is qualified by the name of this one.
  const std::string id = *found ? fmt::format("{}:{}", corpus, bundle.id) : bundle.id;
  if (auto done = bind_all(insert_bundle_, id, bundle.id, corpus, bundle.page, bundle.repo,
                           bundle.title, bundle.url, bundle.date, bundle.license,
                           label_list(bundle.architectures), bundle.digest)
                      .run();
      !done)
    return done.error();
  const auto row = std::int64_t{sqlite3_last_insert_rowid(database_->handle())};
  if (auto done = insert_facets(row, bundle); !done) return done.error();
  std::pair<int, int> ordinals{0, 0};  // diffs and snapshots are numbered separately
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
      status = bind_all(insert_facet_, name, facet_value(value), row).run();
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
  if (auto done = bind_all(insert_file_, bundle, ordinal, file.scope, file.path, file.line,
                           file.source_path, file.language, file.digest, file.text.size(),
                           Blob{file.trigrams}, Blob{file.frame})
                      .run();
      !done)
    return done;
  const auto row = std::int64_t{sqlite3_last_insert_rowid(database_->handle())};
  for (const auto& fresh : file.fresh)
    if (auto done = insert_part({row, fresh.part, 0}, file.hashes[fresh.part], fresh); !done)
      return done;
  return {};
}

void BundleWriter::claim(Bundle& bundle) {
  for (auto& file : bundle.files) {
    file.fresh.clear();
    for (std::size_t i = 0; i < file.parts.size(); ++i)
      if (indexed_.emplace(file.hashes[i], kClaimed).second) file.fresh.push_back({i, "", "", 0});
  }
}

Status BundleWriter::insert_part(CodeRow row, std::uint64_t hash, const CodeFile::Terms& terms) {
  row.magnitude = CodeRow::magnitude_of(terms.count);
  if (auto done = bind_all(insert_code_, row.number(), terms.name, terms.body).run(); !done)
    return done;
  indexed_[hash] = row.number();
  return bind_all(insert_part_, std::bit_cast<std::int64_t>(hash), row.number()).run();
}

Status BundleWriter::remove(std::int64_t bundle) {
  std::vector<std::int64_t> files;
  auto done = for_each_row(
      *database_, "SELECT rowid FROM file WHERE bundle=?",
      [&](const Statement& row) { files.push_back(row.integer(0)); }, bundle);
  for (const auto file : files)
    if (done) done = remove_file(file);
  for (const std::string_view sql :
       {"DELETE FROM file WHERE bundle=?", "DELETE FROM bundle_facet WHERE bundle=?",
        "DELETE FROM bundle WHERE rowid=?"}) {
    if (!done) return done;
    auto statement = database_->prepare(sql);
    if (!statement) return statement.error();
    done = bind_all(*statement, bundle).run();
  }
  return done;
}

Status BundleWriter::remove_file(std::int64_t file) {
  auto stored = read_code(read_code_, file);
  if (!stored) return stored.error();
  for (std::size_t i = 0; i < stored->parts.size(); ++i) {
    const auto& part = stored->parts[i];
    const auto hash = fast_hash(text_of(stored->text, part));
    const auto known = indexed_.find(hash);
    if (known == indexed_.end() || CodeRow::of(known->second).file != file ||
        CodeRow::of(known->second).part != i)
      continue;
    bind_all(delete_code_, known->second,
             terms_.terms_of(name_text(part.name, stored->source_path)));
    // Separate, because the view that `terms_of` returns is valid until its next call only.
    delete_code_.bind(3, terms_.terms_of(text_of(stored->text, part)));
    if (auto done = delete_code_.run(); !done) return done;
    if (auto done = bind_all(delete_part_, std::bit_cast<std::int64_t>(hash)).run(); !done)
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
      const auto text = text_of(stored->text, stored->parts[i]);
      const auto hash = fast_hash(text);
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

#include "kbs/index/document_writer.h"

#include <fmt/format.h>

#include <vector>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "kbs/text/trigrams.h"
#include "server/core/fields.h"
#include "server/core/hash.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, "\n"));
}

/// The words of the field `tags`: everything that the page is filed under.
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

/// All names of a hardware page, one per line.
std::string product_names(const Document& document) {
  if (document.specs.empty()) return {};
  auto names = document.aliases;
  names.insert(names.begin(), {document.id, document.title, document.product});
  return joined(names);
}

}  // namespace

std::string DocumentWriter::digest_of(const Document& document) {
  return sha256_hex(fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", document.path,
                                document.title, document.text, document.description_path,
                                document.description, label_list(document.architectures),
                                document.license, tag_words(document)));
}

Result<DocumentWriter> DocumentWriter::open(Database& database) {
  DocumentWriter writer;
  writer.database_ = &database;
  auto done = prepare_all(
      database,
      {{&writer.insert_doc_,
        "INSERT INTO doc(id,own_id,corpus,scope,kind,repo,title,path,extra_path,date,confidence,"
        "license,architectures,has_code,digest,product,tags,symptoms,trigrams,text,extra) "
        "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
       {&writer.insert_fts_,
        "INSERT INTO fts(rowid,id,title,tags,symptoms,headings,body) VALUES(?,?,?,?,?,?,?)"},
       {&writer.insert_facet_, "INSERT OR IGNORE INTO facet VALUES(?,?,?)"},
       {&writer.insert_source_, "INSERT INTO source VALUES(?,?,?,?,?)"},
       {&writer.insert_spec_, "INSERT INTO spec VALUES(?,?,?,?,?,?,?,?,?)"},
       {&writer.find_id_, "SELECT 1 FROM doc WHERE id=?"}});
  if (!done) return done.error();
  return writer;
}

Status DocumentWriter::insert(const Document& document, std::string_view corpus,
                              std::string_view digest) {
  // An id that another corpus uses already is qualified by the name of this one.
  find_id_.reset();
  auto taken = bind_all(find_id_, document.id).step();
  if (!taken) return taken.error();
  const std::string id = *taken ? fmt::format("{}:{}", corpus, document.id) : document.id;
  find_id_.reset();

  const auto trigrams = trigram_filter(document.text, document.description);
  const auto text = compress(document.text);
  const auto extra = compress(document.description);
  if (auto done = bind_all(insert_doc_, id, document.id, corpus, document.scope, document.kind,
                           document.repo, document.title, document.path, document.description_path,
                           document.date, document.confidence, document.license,
                           label_list(document.architectures), document.has_code, digest,
                           product_names(document), tag_words(document), joined(document.symptoms),
                           Blob{trigrams}, Blob{text}, Blob{extra})
                      .run();
      !done)
    return done;
  const auto row = std::int64_t{sqlite3_last_insert_rowid(database_->handle())};
  if (auto done = insert_text(row, id, document); !done) return done;
  if (auto done = insert_facets(row, document); !done) return done;
  return insert_notes(row, document);
}

Status DocumentWriter::insert_text(std::int64_t row, std::string_view id,
                                   const Document& document) {
  const auto parts = split_page(document.text);
  const auto body = std::string(parts.body) + "\n" + document.description;
  return bind_all(insert_fts_, row, id, document.title, tag_words(document),
                  joined(document.symptoms), headings_of(parts.body), body)
      .run();
}

Status DocumentWriter::insert_facets(std::int64_t row, const Document& document) {
  Status status;
  const auto facet = [&](std::string_view name, std::string_view value) {
    if (status && !value.empty())
      status = bind_all(insert_facet_, name, facet_value(value), row).run();
  };
  facet("kind", document.kind);
  facet("repo", document.repo);
  if (const auto slash = document.repo.rfind('/'); slash != std::string::npos)
    facet("repo", std::string_view(document.repo).substr(slash + 1));
  facet("confidence", document.confidence);
  facet("code", document.code_evidence);
  if (!document.measured_on.empty() && status)  // shown, so spelled as written
    status = bind_all(insert_facet_, "measured_on", document.measured_on, row).run();
  for (const auto& tag : document.tags) facet("tag", tag);
  for (const auto& language : document.languages) facet("language", language);
  for (const auto& symptom : document.symptoms) facet("symptom", symptom);
  for (const auto& technique : document.proposes) facet("proposes", technique);
  for (const auto& cure : document.cures)  // the region is a heading: as written
    if (status) status = bind_all(insert_facet_, "cures", cure.id + "#" + cure.region, row).run();
  // A query that equals one of these names refers to this page.
  facet("name", squeezed(document.title));
  facet("name", squeezed(document.product));
  for (const auto& alias : document.aliases) facet("name", squeezed(alias));
  for (const auto& symptom : document.symptoms) facet("name", squeezed(symptom));
  for (const auto& label : document.architectures)
    facet(label.origin == LabelOrigin::unverified ? "unverified-architecture" : "architecture",
          label.name);
  return status;
}

Status DocumentWriter::insert_notes(std::int64_t row, const Document& document) {
  Status done;
  std::int64_t ordinal = 0;
  for (const auto& source : document.sources)
    if (done)
      done =
          bind_all(insert_source_, row, ordinal++, source.id, source.title, source.publisher).run();
  ordinal = 0;
  for (const auto& spec : document.specs)
    if (done)
      done = bind_all(insert_spec_, row, ordinal++, spec.metric, spec.value, spec.unit,
                      spec.qualifier, spec.kind, spec.source, spec.line)
                 .run();
  return done;
}

Status DocumentWriter::remove(std::int64_t row) {
  for (const std::string_view sql :
       {"INSERT INTO fts(fts,rowid,id,title,tags,symptoms,headings,body) "
        "SELECT 'delete',rowid,id,title,tags,symptoms,headings,body FROM doc_text WHERE rowid=?",
        "DELETE FROM doc WHERE rowid=?", "DELETE FROM facet WHERE doc=?",
        "DELETE FROM source WHERE doc=?", "DELETE FROM spec WHERE doc=?"}) {
    auto statement = database_->prepare(sql);
    if (!statement) return statement.error();
    if (auto done = bind_all(*statement, row).run(); !done) return done;
  }
  return {};
}

}  // namespace ratchet::kbs

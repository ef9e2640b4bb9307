#include "kbs/index/document_writer.h"

#include <fmt/format.h>

#include <initializer_list>
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
  for (auto [statement, sql] : std::initializer_list<std::pair<Statement*, std::string_view>>{
           {&writer.insert_doc_,
            "INSERT INTO "
            "doc(id,own_id,corpus,scope,kind,repo,title,path,extra_path,date,confidence,"
            "license,architectures,has_code,digest,product,tags,symptoms,trigrams,text,extra) "
            "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
           {&writer.insert_fts_,
            "INSERT INTO fts(rowid,id,title,tags,symptoms,headings,body) VALUES(?,?,?,?,?,?,?)"},
           {&writer.insert_facet_, "INSERT OR IGNORE INTO facet VALUES(?,?,?)"},
           {&writer.insert_source_, "INSERT INTO source VALUES(?,?,?,?,?)"},
           {&writer.insert_spec_, "INSERT INTO spec VALUES(?,?,?,?,?,?,?,?,?)"},
           {&writer.find_id_, "SELECT 1 FROM doc WHERE id=?"}}) {
    auto prepared = database.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = *std::move(prepared);
  }
  return writer;
}

Status DocumentWriter::insert(const Document& document, std::string_view corpus,
                              std::string_view digest) {
  // An id that another corpus holds already is qualified by the name of this one.
  find_id_.reset();
  auto taken = find_id_.bind(1, std::string_view(document.id)).step();
  if (!taken) return taken.error();
  const std::string id = *taken ? fmt::format("{}:{}", corpus, document.id) : document.id;
  find_id_.reset();

  const auto tags = tag_words(document);
  const auto symptoms = joined(document.symptoms);
  const auto names = product_names(document);
  const auto labels = label_list(document.architectures);
  int at = 0;
  const auto bind = [&](std::initializer_list<std::string_view> texts) {
    for (const auto text : texts) insert_doc_.bind(++at, text);
  };
  bind({id, document.id, corpus});
  insert_doc_.bind(++at, static_cast<std::int64_t>(document.scope));
  bind({document.kind, document.repo, document.title, document.path, document.description_path,
        document.date, document.confidence, document.license, labels});
  insert_doc_.bind(++at, std::int64_t{document.has_code});
  bind({digest, names, tags, symptoms});
  insert_doc_.bind_blob(++at, trigram_filter(document.text, document.description));
  insert_doc_.bind_blob(++at, compress(document.text));
  insert_doc_.bind_blob(++at, compress(document.description));
  if (auto done = insert_doc_.run(); !done) return done;
  const auto row = std::int64_t{sqlite3_last_insert_rowid(database_->handle())};
  if (auto done = insert_text(row, id, document); !done) return done;
  if (auto done = insert_facets(row, document); !done) return done;
  return insert_notes(row, document);
}

Status DocumentWriter::insert_text(std::int64_t row, std::string_view id,
                                   const Document& document) {
  const auto parts = split_page(document.text);
  const auto body = std::string(parts.body) + "\n" + document.description;
  return insert_fts_.bind(1, row)
      .bind(2, id)
      .bind(3, std::string_view(document.title))
      .bind(4, std::string_view(tag_words(document)))
      .bind(5, std::string_view(joined(document.symptoms)))
      .bind(6, std::string_view(headings_of(parts.body)))
      .bind(7, std::string_view(body))
      .run();
}

Status DocumentWriter::insert_facets(std::int64_t row, const Document& document) {
  Status status;
  const auto facet = [&](std::string_view name, std::string_view value) {
    if (!status || value.empty()) return;
    const auto folded = facet_value(value);
    status = insert_facet_.bind(1, name).bind(2, std::string_view(folded)).bind(3, row).run();
  };
  facet("kind", document.kind);
  facet("repo", document.repo);
  if (const auto slash = document.repo.rfind('/'); slash != std::string::npos)
    facet("repo", std::string_view(document.repo).substr(slash + 1));
  facet("confidence", document.confidence);
  for (const auto& tag : document.tags) facet("tag", tag);
  for (const auto& language : document.languages) facet("language", language);
  for (const auto& symptom : document.symptoms) facet("symptom", symptom);
  for (const auto& technique : document.proposes) facet("proposes", technique);
  // What a query may say word for word to mean this page.
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
  std::int64_t ordinal = 0;
  for (const auto& source : document.sources) {
    auto done = insert_source_.bind(1, row)
                    .bind(2, ordinal++)
                    .bind(3, std::string_view(source.id))
                    .bind(4, std::string_view(source.title))
                    .bind(5, std::string_view(source.publisher))
                    .run();
    if (!done) return done;
  }
  ordinal = 0;
  for (const auto& spec : document.specs) {
    auto done = insert_spec_.bind(1, row)
                    .bind(2, ordinal++)
                    .bind(3, std::string_view(spec.metric))
                    .bind(4, spec.value)
                    .bind(5, std::string_view(spec.unit))
                    .bind(6, std::string_view(spec.qualifier))
                    .bind(7, std::string_view(spec.kind))
                    .bind(8, std::string_view(spec.source))
                    .bind(9, std::int64_t{spec.line})
                    .run();
    if (!done) return done;
  }
  return {};
}

Status DocumentWriter::remove(std::int64_t row) {
  for (const std::string_view sql :
       {"INSERT INTO fts(fts,rowid,id,title,tags,symptoms,headings,body) "
        "SELECT 'delete',rowid,id,title,tags,symptoms,headings,body FROM doc_text WHERE rowid=?",
        "DELETE FROM doc WHERE rowid=?", "DELETE FROM facet WHERE doc=?",
        "DELETE FROM source WHERE doc=?", "DELETE FROM spec WHERE doc=?"}) {
    auto statement = database_->prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->bind(1, row).run(); !done) return done;
  }
  return {};
}

}  // namespace ratchet::kbs

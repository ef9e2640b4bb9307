#pragma once

#include <string_view>

namespace ratchet::kbs {

/// Raised whenever tables or the meaning of their columns change; indexes of another number are
/// built anew.
inline constexpr int kSchemaVersion = 1;

/// `text` and `extra` are zstd frames; the full-text index reads them through the view, so that
/// text is stored once.
inline constexpr std::string_view kSchema = R"sql(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE corpus(name TEXT PRIMARY KEY, root TEXT, added_at TEXT) WITHOUT ROWID;
CREATE TABLE doc(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, own_id TEXT NOT NULL,
  corpus TEXT NOT NULL, scope INTEGER NOT NULL, kind TEXT, repo TEXT, title TEXT, path TEXT,
  extra_path TEXT, date TEXT, confidence TEXT, license TEXT, architectures TEXT, has_code INTEGER,
  digest TEXT, product TEXT, tags TEXT, symptoms TEXT, trigrams BLOB, text BLOB, extra BLOB);
CREATE INDEX doc_corpus ON doc(corpus, own_id);
CREATE TABLE facet(name TEXT, value TEXT, doc INTEGER, PRIMARY KEY(name, value, doc)) WITHOUT ROWID;
CREATE INDEX facet_doc ON facet(doc);
CREATE TABLE source(doc INTEGER, ordinal INTEGER, id TEXT, title TEXT, publisher TEXT,
  PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE spec(doc INTEGER, ordinal INTEGER, metric TEXT, value REAL, unit TEXT, qualifier TEXT,
  kind TEXT, source TEXT, line INTEGER, PRIMARY KEY(doc, ordinal)) WITHOUT ROWID;
CREATE TABLE alias(corpus TEXT, word TEXT, replacement TEXT,
  PRIMARY KEY(corpus, word, replacement)) WITHOUT ROWID;
CREATE TABLE problem(corpus TEXT, path TEXT, reason TEXT, PRIMARY KEY(corpus, path, reason)) WITHOUT ROWID;
CREATE VIEW doc_text AS SELECT rowid, id, title, tags, symptoms, kb_headings(text) AS headings,
  kb_body(text, extra) AS body FROM doc;
CREATE VIRTUAL TABLE fts USING fts5(id, title, tags, symptoms, headings, body,
  content='doc_text', content_rowid='rowid', tokenize='code');
)sql";

}  // namespace ratchet::kbs

#pragma once

#include <string_view>

namespace ratchet::kbs {

/// Incremented whenever the tables or the meaning of their columns change. An index with another
/// number must be rebuilt.
inline constexpr int kSchemaVersion = 4;

/// Pages and records (`doc`) and code (`bundle`, `file`), each with its own full-text index.
///
/// `text` and `extra` are zstd frames; `fts` reads them through the view, so text is stored once.
/// `code` stores no text: each of its rows is one part of a file, numbered as described in
/// code_row.h, and contains each of the part's terms once. Of several parts with the same text only
/// one is indexed; `part` says which.
/// `frequent` counts the terms that occur in many documents or parts; older files have a further
/// column, which is not used.
/// `job` records what each document was made from, so that unchanged input is not read again.
inline constexpr std::string_view kSchema = R"sql(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE corpus(name TEXT PRIMARY KEY, root TEXT, added_at TEXT) WITHOUT ROWID;
CREATE TABLE job(corpus TEXT, key TEXT, stamp TEXT, doc TEXT, bundle TEXT,
  PRIMARY KEY(corpus, key)) WITHOUT ROWID;
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
CREATE TABLE bundle(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, own_id TEXT NOT NULL,
  corpus TEXT NOT NULL, page TEXT, repo TEXT, title TEXT, url TEXT, date TEXT, license TEXT,
  architectures TEXT, digest TEXT);
CREATE INDEX bundle_corpus ON bundle(corpus, own_id);
CREATE TABLE bundle_facet(name TEXT, value TEXT, bundle INTEGER,
  PRIMARY KEY(name, value, bundle)) WITHOUT ROWID;
CREATE INDEX bundle_facet_bundle ON bundle_facet(bundle);
CREATE TABLE file(rowid INTEGER PRIMARY KEY, bundle INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  scope INTEGER NOT NULL, path TEXT, line INTEGER, source_path TEXT, language TEXT, digest TEXT,
  bytes INTEGER, trigrams BLOB, text BLOB);
CREATE UNIQUE INDEX file_place ON file(bundle, scope, ordinal);
CREATE TABLE part(hash INTEGER PRIMARY KEY, code INTEGER);
CREATE VIRTUAL TABLE code USING fts5(name, body, content='', columnsize=0, detail=column,
  tokenize='terms');
CREATE TABLE frequent(term TEXT, area INTEGER, count INTEGER, PRIMARY KEY(term, area));
)sql";

}  // namespace ratchet::kbs

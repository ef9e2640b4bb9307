#include "kbs/query/hits.h"

#include <fmt/format.h>

#include <algorithm>

#include "kbs/documents/page_reader.h"
#include "kbs/index/code_file.h"
#include "kbs/index/code_row.h"
#include "kbs/text/snippet.h"
#include "server/core/fields.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

/// Converts "sm90:declared,sm100:unverified" to labels; origins other than `declared` are shown in
/// parentheses.
std::vector<std::string> shown_labels(std::string_view stored) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin < stored.size();) {
    const auto end = std::min(stored.find(',', begin), stored.size());
    auto label = std::string(stored.substr(begin, end - begin));
    begin = end + 1;
    const auto colon = label.find(':');
    const auto origin = label.substr(colon + 1);
    label.resize(colon);
    labels.push_back(origin == "declared" ? label : fmt::format("{} ({})", label, origin));
  }
  return labels;
}

Status add_snippet(QueryHit& hit, std::string_view path, std::string_view extra_path,
                   std::string_view text_frame, std::string_view extra_frame,
                   const std::vector<std::string>& words) {
  auto text = decompress(text_frame);
  auto extra = decompress(extra_frame);
  if (!text) return text.error();
  if (!extra) return extra.error();
  const auto parts = split_page(*text);
  auto best = best_snippet(parts.body, parts.body_line, words);
  hit.path = text->empty() ? std::string(path) : fmt::format("{}:{}", path, best.line);
  if (!extra->empty()) {
    auto other = best_snippet(*extra, 1, words);
    if (other.hits > best.hits || best.text.empty()) {
      best = std::move(other);
      hit.path = extra_path;  // includes the record's line
    }
  }
  hit.snippet = std::move(best.text);
  return {};
}

}  // namespace

Result<QueryHit> read_hit(const Indexes& indexes, Connection& connection,
                          const DocumentPlace& place, const std::vector<std::string>& words) {
  auto prepared = connection.prepared(
      "SELECT id, corpus, scope, title, confidence, architectures, license, digest, path, "
      "extra_path, text, extra, "
      "(SELECT value FROM facet WHERE facet.doc=doc.rowid AND name='code') || "
      "coalesce((SELECT ' on '||value FROM facet WHERE facet.doc=doc.rowid AND "
      "name='measured_on'),'') "
      "FROM doc WHERE rowid=?");
  if (!prepared) return prepared.error();
  auto& row = **prepared;
  auto found = row.bind(1, place.row).step();
  if (!found) return found.error();
  QueryHit hit;
  hit.id = indexes.shown_id(place.reader, row.text(0), row.text(1));
  hit.origin = indexes.origin(place.reader, row.text(1));
  hit.scope = name_of(static_cast<Scope>(row.integer(2)));
  hit.title = row.text(3);
  hit.confidence = row.text(4);
  hit.architectures = shown_labels(row.text(5));
  hit.license = row.text(6);
  hit.content_digest = row.text(7);
  if (auto done = add_snippet(hit, row.text(8), row.text(9), row.blob(10), row.blob(11), words);
      !done)
    return done.error();
  if (const auto tried = row.text(12); !tried.empty()) hit.code = tried;
  return hit;
}

Result<QueryHit> read_code_hit(const Indexes& indexes, std::size_t reader, Connection& connection,
                               std::int64_t number, const std::vector<std::string>& words) {
  const auto place = CodeRow::of(number);
  auto prepared = connection.prepared(kReadCode);
  if (!prepared) return prepared.error();
  auto code = read_code(**prepared, place.file);
  if (!code) return code.error();
  if (place.part >= code->parts.size())
    return Error{ErrorCode::internal, "knowledge index: a part is missing",
                 "Run `ratchet kbs doctor`."};
  const auto& part = code->parts[place.part];
  const auto text = std::string_view(code->text).substr(part.begin, part.end - part.begin);
  auto snippet = best_snippet(text, code->line + part.line - 1, words);
  QueryHit hit;
  hit.id = fmt::format("{}.{}", code->id, place.part + 1);
  hit.origin = indexes.origin(reader, code->corpus);
  hit.scope = name_of(code->scope);
  hit.title =
      part.name.empty() ? code->source_path : fmt::format("{}: {}", code->source_path, part.name);
  hit.architectures = shown_labels(code->architectures);
  hit.license = std::move(code->license);
  hit.content_digest = std::move(code->digest);
  hit.path = fmt::format("{}:{}", code->path, snippet.line);
  hit.snippet = std::move(snippet.text);
  return hit;
}

}  // namespace ratchet::kbs

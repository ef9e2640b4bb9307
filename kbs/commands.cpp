#include "kbs/commands.h"

#include <fmt/format.h>

#include <cstdint>

#include "kbs/corpus/importer.h"
#include "kbs/documents/labels.h"
#include "kbs/index/for_each_row.h"
#include "kbs/index/index_reader.h"
#include "server/sqlite/compression.h"

namespace ratchet {
namespace {

using kbs::Database;
using kbs::for_each_row;
using kbs::Statement;

Result<Database> open_readable(const std::filesystem::path& index) {
  // Opened as a reader first, which reports an index with another schema.
  auto reader = kbs::IndexReader::open(index);
  if (!reader) return reader.error();
  return kbs::open_index(index, kbs::OpenMode::immutable);
}

std::string name_of_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  const auto real = std::filesystem::canonical(folder, failure);
  std::string name = failure ? std::string{} : real.filename().string();
  for (auto& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') c = '-';
  return name;
}

}  // namespace

Result<KbsAddReport> kbs_add(const KbsAddOptions& options) {
  std::error_code unreadable;
  if (!std::filesystem::is_directory(options.folder, unreadable))
    return not_found(fmt::format("folder: {} is not a folder", options.folder.string()),
                     "Pass a folder of pages, or one that contains `knowledge/`.");
  const auto name = options.name.empty() ? name_of_folder(options.folder) : options.name;
  if (!kbs::is_document_id(name) || name.size() > 60)
    return invalid_argument(
        fmt::format("name: '{}' must match [A-Za-z0-9._-]+, at most 60 characters", name),
        "Pass another name for the corpus.");
  auto writer = kbs::IndexWriter::open(options.user_index);
  if (!writer) return writer.error();
  auto report = kbs::import_folder({.root = options.folder,
                                    .corpus = name,
                                    .license = options.license,
                                    .progress = options.progress,
                                    .stop = options.stop},
                                   *writer);
  if (!report) return report.error();
  if (auto done = writer->finish(); !done) return done.error();
  KbsAddReport out{name,
                   report->documents,
                   report->bundles,
                   report->counts.added,
                   report->counts.changed,
                   report->counts.unchanged,
                   report->counts.removed,
                   {}};
  for (auto& problem : report->problems)
    out.problems.push_back({std::move(problem.path), std::move(problem.reason)});
  return out;
}

Result<KbsRemoveReport> kbs_remove(const std::filesystem::path& user_index,
                                   const std::string& corpus) {
  if (auto there = kbs::IndexReader::open(user_index); !there) return there.error();
  auto writer = kbs::IndexWriter::open(user_index);
  if (!writer) return writer.error();
  auto removed = writer->remove_corpus(corpus);
  if (!removed) return removed.error();
  if (auto done = writer->finish(); !done) return done.error();
  return KbsRemoveReport{corpus, *removed};
}

Result<KbsIndexStats> kbs_stats(const std::filesystem::path& index) {
  auto database = open_readable(index);
  if (!database) return database.error();
  KbsIndexStats stats;
  stats.path = index.string();
  std::error_code ignored;
  stats.bytes = static_cast<std::int64_t>(std::filesystem::file_size(index, ignored));
  auto scopes = for_each_row(
      *database,
      "SELECT scope, count(*) FROM (SELECT scope FROM doc UNION ALL SELECT scope FROM file) "
      "GROUP BY scope",
      [&](const Statement& row) {
        const auto count = static_cast<int>(row.integer(1));
        stats.scopes[std::string(name_of(static_cast<kbs::Scope>(row.integer(0))))] = count;
        stats.documents += count;
      });
  if (!scopes) return scopes.error();
  auto corpora =
      for_each_row(*database,
                   "SELECT name, root, added_at, (SELECT count(*) FROM doc WHERE corpus=name), "
                   "(SELECT count(*) FROM bundle WHERE corpus=name), "
                   "(SELECT count(*) FROM problem WHERE corpus=name) FROM corpus ORDER BY name",
                   [&](const Statement& row) {
                     stats.corpora.push_back(
                         {std::string(row.text(0)), std::string(row.text(1)),
                          std::string(row.text(2)), static_cast<int>(row.integer(3)),
                          static_cast<int>(row.integer(4)), static_cast<int>(row.integer(5))});
                   });
  if (!corpora) return corpora.error();
  auto sizes =
      for_each_row(*database,
                   "SELECT (SELECT coalesce(sum(kb_size(text) + kb_size(extra)), 0) FROM doc) + "
                   "(SELECT coalesce(sum(bytes), 0) FROM file), "
                   "(SELECT coalesce(sum(length(trigrams)), 0) FROM doc) + "
                   "(SELECT coalesce(sum(length(trigrams)), 0) FROM file), "
                   "(SELECT count(*) FROM bundle), (SELECT count(*) FROM part)",
                   [&](const Statement& row) {
                     stats.text_bytes = row.integer(0);
                     stats.prefilter_bytes = row.integer(1);
                     stats.bundles = static_cast<int>(row.integer(2));
                     stats.parts = static_cast<int>(row.integer(3));
                   });
  if (!sizes) return sizes.error();
  return stats;
}

Result<KbsDoctorReport> kbs_doctor(const std::filesystem::path& index) {
  auto database = open_readable(index);
  if (!database) return database.error();
  KbsDoctorReport report;
  const auto find = [&](std::string what) {
    report.healthy = false;
    report.findings.push_back(std::move(what));
  };
  auto checked = for_each_row(*database, "PRAGMA integrity_check(5)", [&](const Statement& row) {
    if (row.text(0) != "ok")
      find(fmt::format("the file is damaged: {}. Add the corpora again.", row.text(0)));
  });
  if (!checked) return checked.error();
  auto texts =
      for_each_row(*database, "SELECT id, text, extra FROM doc", [&](const Statement& row) {
        if (!decompress(row.blob(1)) || !decompress(row.blob(2)))
          find(fmt::format("the text of {} is damaged. Add its corpus again.", row.text(0)));
      });
  if (!texts) return texts.error();
  auto files = for_each_row(*database, "SELECT path, text FROM file", [&](const Statement& row) {
    if (!decompress(row.blob(1)))
      find(fmt::format("the text of {} is damaged. Add its corpus again.", row.text(0)));
  });
  if (!files) return files.error();
  auto rows =
      database->integer("SELECT (SELECT count(*) FROM doc) - (SELECT count(*) FROM fts_docsize)");
  if (!rows) return rows.error();
  if (*rows != 0)
    find(fmt::format("{} documents are not searchable. Add the corpora again.", *rows));
  auto dangling = for_each_row(
      *database,
      "SELECT page.id, count(*) FROM source JOIN doc AS page ON page.rowid=source.doc "
      "WHERE source.title='' AND "
      "NOT EXISTS (SELECT 1 FROM doc WHERE corpus=page.corpus AND own_id=source.id) GROUP "
      "BY page.id",
      [&](const Statement& row) {
        report.findings.push_back(
            fmt::format("{} cites {} sources that its corpus lacks", row.text(0), row.integer(1)));
      });
  if (!dangling) return dangling.error();
  auto problems = for_each_row(
      *database, "SELECT corpus || '/' || path, reason FROM problem ORDER BY 1",
      [&](const Statement& row) {
        report.problems.push_back({std::string(row.text(0)), std::string(row.text(1))});
      });
  if (!problems) return problems.error();
  return report;
}

}  // namespace ratchet

#include "kbs/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "kbs/labels.h"
#include "kbs/page_reader.h"
#include "kbs/records.h"
#include "server/core/files.h"

namespace ratchet::kbs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPage = 8UL << 20U;
constexpr std::size_t kMaxRecords = 1UL << 30U;
constexpr int kProgressEvery = 200;

struct Files {
  std::vector<fs::path> pages;    // relative to the root
  std::vector<fs::path> records;  // absolute
  std::vector<fs::path> vocabularies;
  bool plain = false;  // neither wiki/ nor sources/: Markdown needs no header
};

bool is_inside(const fs::path& path, const fs::path& root) {
  std::error_code failure;
  const auto real = fs::canonical(path, failure);
  if (failure) return false;
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  return end == root.end();
}

bool is_vocabulary(const fs::path& path) {
  return path.filename() == "aliases.yaml" || path.filename() == "vocabulary.yaml";
}

void sort_file(const fs::path& path, const fs::path& root, Files& files) {
  const auto extension = path.extension();
  const auto relative = path.lexically_relative(root);
  if (extension == ".jsonl") files.records.push_back(path);
  if (is_vocabulary(path)) files.vocabularies.push_back(relative);
  if (extension != ".md") return;
  const auto top = relative.begin()->string();
  if (files.plain || top == "wiki" || top == "sources" || top == "docs")
    files.pages.push_back(relative);
}

Files list_files(const fs::path& root, const fs::path& given, std::vector<Problem>& problems) {
  Files files;
  std::error_code failure;
  files.plain =
      !fs::is_directory(root / "wiki", failure) && !fs::is_directory(root / "sources", failure);
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(root, options, failure);
       !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    std::error_code unreadable;
    if (at->is_symlink(unreadable) && !is_inside(at->path(), root)) {
      problems.push_back(
          {at->path().lexically_relative(root).string(), "symbolic link leads out of the folder"});
      continue;
    }
    if (at->is_regular_file(unreadable)) sort_file(at->path(), root, files);
  }
  // Records may lie beside the knowledge folder.
  if (given != root)
    for (const auto& entry : fs::directory_iterator(given, options, failure))
      if (entry.path().extension() == ".jsonl" && is_inside(entry.path(), given))
        files.records.push_back(entry.path());
  std::ranges::sort(files.pages);
  std::ranges::sort(files.records);
  std::ranges::sort(files.vocabularies);
  return files;
}

/// A Markdown file without a header: its path names it, its first heading is the title.
Document plain_page(const fs::path& path, std::string text) {
  Document page;
  page.path = path.generic_string();
  page.id = path.generic_string();
  page.id.resize(page.id.size() - path.extension().string().size());
  std::ranges::transform(page.id, page.id.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' ? static_cast<char>(c) : '-';
  });
  const auto headings = headings_of(text);
  page.title = headings.empty() ? page.id : headings.substr(0, headings.find('\n'));
  page.kind = "markdown";
  page.has_code = text.find("```") != std::string::npos;
  page.text = std::move(text);
  return page;
}

Result<Document> load_page(const fs::path& root, const fs::path& relative, bool plain) {
  auto text = read_file(root / relative, kMaxPage);
  if (!text) return text.error();
  const bool headless = split_page(*text).header.empty();
  if (!plain || !headless) return read_page(relative.generic_string(), *std::move(text));
  if (!is_utf8(*text) || text->find('\0') != std::string::npos)
    return Error{ErrorCode::invalid_argument, "not UTF-8 text", ""};
  return plain_page(relative, *std::move(text));
}

/// What one import carries along.
struct Import {
  const ImportOptions& options;
  IndexWriter& writer;
  ImportReport report;

  void skip(std::string path, std::string reason) {
    report.problems.push_back({std::move(path), std::move(reason)});
  }

  Status put(Document document) {
    if (document.license.empty())
      document.license = options.license.empty() ? "unknown" : options.license;
    auto done = writer.put(document);
    if (!done && done.error().code == ErrorCode::conflict) {
      skip(document.path, done.error().message);
      return {};
    }
    if (done) ++report.documents;
    return done;
  }
};

using Records = std::unordered_map<std::string, Record>;

Records load_records(const Files& files, const fs::path& given, Import& import) {
  Records records;
  for (const auto& path : files.records) {
    const auto name = path.lexically_relative(given).generic_string();
    auto text = read_file(path, kMaxRecords);
    if (!text) {
      import.skip(name, text.error().message);
      continue;
    }
    read_records(
        *text, name,
        [&](Record record) {
          const auto place = record.place;
          auto id = record.id;
          if (!records.emplace(std::move(id), std::move(record)).second)
            import.skip(place, "a record of this id was given before");
        },
        [&](Problem problem) { import.report.problems.push_back(std::move(problem)); });
  }
  return records;
}

Status put_pages(const Files& files, const fs::path& root, Records& records, Import& import) {
  const auto total = static_cast<int>(files.pages.size() + records.size());
  int done = 0;
  for (const auto& path : files.pages) {
    if (import.options.stop.stop_requested())
      return Error{ErrorCode::timed_out, "import stopped", "The index is as it was before."};
    if (++done % kProgressEvery == 0 && import.options.progress)
      import.options.progress(done, total);
    auto page = load_page(root, path, files.plain);
    if (!page) {
      import.skip(path.generic_string(), page.error().message);
      continue;
    }
    if (const auto record = records.find(page->id); record != records.end()) {
      join_record(*page, std::move(record->second));
      records.erase(record);
    }
    if (auto put = import.put(*std::move(page)); !put) return put;
  }
  std::vector<std::string> alone;
  for (const auto& [id, record] : records) alone.push_back(id);
  std::ranges::sort(alone);  // the same input gives the same index
  for (const auto& id : alone)
    if (auto put = import.put(document_of(std::move(records.at(id)))); !put) return put;
  return {};
}

Status put_vocabularies(const Files& files, const fs::path& root, Import& import) {
  for (const auto& path : files.vocabularies) {
    auto text = read_file(root / path, kMaxPage);
    if (!text) {
      import.skip(path.generic_string(), text.error().message);
      continue;
    }
    auto aliases = read_vocabulary(*text);
    if (!aliases) {
      import.skip(path.generic_string(), aliases.error().message);
      continue;
    }
    for (const auto& alias : *aliases)
      if (auto put = import.writer.put_alias(alias); !put) return put;
  }
  return {};
}

}  // namespace

Result<ImportReport> import_folder(const ImportOptions& options, IndexWriter& writer) {
  std::error_code failure;
  const auto given = fs::canonical(options.root, failure);
  if (failure || !fs::is_directory(given))
    return Error{ErrorCode::not_found, fmt::format("{} is no folder", options.root.string()),
                 "Give a folder of pages, or one that holds `knowledge/`."};
  const bool holds = fs::is_directory(given / "knowledge", failure);
  const auto root = holds ? given / "knowledge" : given;

  Import import{options, writer, {}};
  if (auto begun = writer.begin_corpus(options.corpus, given.string()); !begun)
    return begun.error();
  const auto files = list_files(root, given, import.report.problems);
  auto records = load_records(files, given, import);
  if (auto done = put_pages(files, root, records, import); !done) return done.error();
  if (auto done = put_vocabularies(files, root, import); !done) return done.error();
  for (const auto& problem : import.report.problems)
    if (auto done = writer.put_problem(problem); !done) return done.error();
  auto counts = writer.end_corpus();
  if (!counts) return counts.error();
  import.report.counts = *counts;
  return std::move(import.report);
}

}  // namespace ratchet::kbs

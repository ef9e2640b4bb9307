#include "kbs/corpus/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <unordered_map>

#include "kbs/corpus/bundle_reader.h"
#include "kbs/corpus/corpus_listing.h"
#include "kbs/corpus/ordered_pipeline.h"
#include "kbs/documents/json_record.h"
#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "kbs/documents/records.h"
#include "kbs/index/bundle_writer.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPage = 8UL << 20U;
constexpr std::size_t kMaxRecords = 1UL << 30U;
constexpr std::size_t kMaxHeading = 300;
constexpr int kProgressEvery = 200;
constexpr std::size_t kReadAhead = 384;  // items that are read while FTS5 writes a segment

/// A Markdown file without a header: its path becomes the id, its first heading the title.
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
  if (page.title.size() > kMaxHeading) page.title = page.id;
  page.kind = "markdown";
  page.has_code = text.find("```") != std::string::npos;
  page.text = std::move(text);
  return page;
}

/// Why a document's labels are too much: a title is in every answer that names the document, the
/// others in some.
std::optional<std::string> excess_of(const Document& document) {
  constexpr std::size_t kMaxTitle = 1000;
  constexpr std::size_t kMaxLabels = 256UL << 10U;
  if (document.title.size() > kMaxTitle)
    return fmt::format("its title has {} bytes; at most {}", document.title.size(), kMaxTitle);
  std::size_t bytes = document.kind.size() + document.repo.size() + document.date.size() +
                      document.confidence.size() + document.license.size() +
                      document.product.size();
  for (const auto* list : {&document.tags, &document.aliases, &document.symptoms,
                           &document.languages, &document.extra_terms, &document.proposes})
    for (const auto& label : *list) bytes += label.size();
  for (const auto& label : document.architectures) bytes += label.name.size();
  for (const auto& source : document.sources)
    bytes += source.id.size() + source.title.size() + source.publisher.size();
  for (const auto& cure : document.cures) bytes += cure.id.size() + cure.region.size();
  if (bytes <= kMaxLabels) return std::nullopt;
  return fmt::format("its labels (tags, aliases, sources, …) have {} bytes; at most {}", bytes,
                     kMaxLabels);
}

/// A page, a JSON record or a bundle, or a page with its bundle.
struct Work {
  ImportItem item;
  const ListedFile* page = nullptr;
  bool json = false;
  const ListedBundle* bundle = nullptr;
};

/// The result of reading a unit of work.
struct Made {
  std::optional<Document> document;
  std::optional<Bundle> bundle;
  std::vector<Problem> problems;
};

struct Reading {
  const Work* work = nullptr;
  Made made;
};

class Reader {
 public:
  explicit Reader(const CorpusListing& listing) : listing_(listing) {}

  Made operator()(const Work& work) const {
    Made made;
    if (work.page != nullptr) {
      auto page = work.json ? read_json(work.page->path) : read_markdown(work.page->path);
      if (page)
        made.document = *std::move(page);
      else
        made.problems.push_back({work.page->path.generic_string(), page.error().message});
    }
    if (work.bundle != nullptr)
      made.bundle = read_bundle(listing_.root, work.bundle->folder, made.problems);
    return made;
  }

 private:
  [[nodiscard]] Result<Document> read_json(const fs::path& path) const {
    auto text = read_file(listing_.root / path, kMaxPage);
    if (!text) return text.error();
    return read_json_record(*text, path.generic_string());
  }

  [[nodiscard]] Result<Document> read_markdown(const fs::path& path) const {
    auto text = read_file(listing_.root / path, kMaxPage);
    if (!text) return text.error();
    if (path.extension() != ".md") {
      auto page = page_of_code(path.generic_string(), *text);
      if (!page) return page.error();
      return read_page(path.generic_string(), *std::move(page));
    }
    const auto header = split_page(*text).header;
    // Headers for other tools (a skill's, a blog's) have no `id`.
    const bool named = header.starts_with("id:") || header.find("\nid:") != std::string_view::npos;
    if (!listing_.plain || named) return read_page(path.generic_string(), *std::move(text));
    if (!is_utf8(*text) || text->find('\0') != std::string::npos)
      return invalid_argument("not UTF-8 text");
    return plain_page(path, *std::move(text));
  }

  const CorpusListing& listing_;
};

class Import {
 public:
  Import(const ImportOptions& options, IndexWriter& writer, CorpusListing listing,
         std::vector<Problem> problems)
      : options_(options), writer_(writer), listing_(std::move(listing)) {
    report_.problems = std::move(problems);
  }

  Result<ImportReport> run() {
    load_records();
    plan();
    if (auto done = put_work(); !done) return done.error();
    if (auto done = put_lone_records(); !done) return done.error();
    put_vocabularies();
    for (const auto& problem : report_.problems) writer_.put_problem(problem);
    auto counts = writer_.end_corpus();
    if (!counts) return counts.error();
    report_.counts = *counts;
    return std::move(report_);
  }

 private:
  void skip(std::string path, std::string reason) {
    report_.problems.push_back({std::move(path), std::move(reason)});
  }

  void load_records() {
    for (const auto& path : listing_.records) {
      const auto name = path.lexically_relative(listing_.given).generic_string();
      auto text = read_file(path, kMaxRecords);
      if (text && path.extension() == ".zst") text = decompress_file(*text, kMaxRecords);
      if (!text) {
        skip(name, text.error().message);
        continue;
      }
      read_records(
          *text, name,
          [&](Record record) {
            const auto place = record.place;
            auto id = record.id;
            if (!records_.emplace(std::move(id), std::move(record)).second)
              skip(place, "duplicate record id");
          },
          [&](Problem problem) { report_.problems.push_back(std::move(problem)); });
    }
  }

  /// Collects the work: pages with their bundles, bundles without a page, and JSON records, without
  /// what is unchanged.
  void plan() {
    std::unordered_map<std::string, const ListedBundle*> bundles;
    for (const auto& bundle : listing_.bundles)
      if (auto key = pull_request_key(bundle.folder.path); !key.empty()) bundles[key] = &bundle;
    std::vector<const ListedBundle*> joined;
    for (const auto& page : listing_.pages) {
      Work work{{page.path.generic_string(), page.stamp}, &page, false, nullptr};
      if (const auto found = bundles.find(pull_request_key(page.path)); found != bundles.end()) {
        work.bundle = found->second;
        joined.push_back(found->second);
        bundles.erase(found);
      }
      add(std::move(work));
    }
    std::ranges::sort(joined);
    for (const auto& bundle : listing_.bundles)
      if (!std::ranges::binary_search(joined, &bundle))
        add({{bundle.folder.path.generic_string(), bundle.stamp}, nullptr, false, &bundle});
    for (const auto& record : listing_.json_records)
      add({{record.path.generic_string(), record.stamp}, &record, true, nullptr});
  }

  void add(Work work) {
    if (work.page != nullptr && work.bundle != nullptr)
      work.item.stamp = work.page->stamp.empty() || work.bundle->stamp.empty()
                            ? std::string{}
                            : sha256_hex(work.page->stamp + work.bundle->stamp);
    ++total_;
    // The document also depends on the record that was joined to it last time.
    const auto before = writer_.made_of(work.item.key);
    auto stamped = work.item;
    if (!stamped.stamp.empty()) stamped.stamp += record_digest(before.document);
    if (!writer_.keep(stamped)) return work_.push_back(std::move(work));
    records_.erase(before.document);
    report_.documents += before.document.empty() ? 0 : 1;
    report_.bundles += before.bundle.empty() ? 0 : 1;
  }

  [[nodiscard]] std::string record_digest(const std::string& id) const {
    const auto record = records_.find(id);
    return record != records_.end() ? record->second.digest : std::string{};
  }

  Status put_work() {
    const auto threads = std::clamp(std::thread::hardware_concurrency(), 2U, 5U) - 1;
    const Reader reader(listing_);
    OrderedPipeline<Reading> readings(threads, [&](Reading& one) { one.made = reader(*one.work); });
    OrderedPipeline<Bundle> terms(1, find_terms);
    auto next = work_.begin();
    int done = total_ - static_cast<int>(work_.size());
    for (auto& work : work_) {
      if (options_.stop.stop_requested())
        return Error{ErrorCode::timed_out, "import stopped", "The index was not changed."};
      if (++done % kProgressEvery == 0 && options_.progress) options_.progress(done, total_);
      for (; next != work_.end() && readings.size() < kReadAhead; ++next)
        readings.push({&*next, {}});
      if (auto put = put_made(work, readings.pop().made, terms); !put) return put;
      if (terms.size() > kReadAhead / 2)
        if (auto put = writer_.insert(terms.pop()); !put) return put;
    }
    while (terms.size() > 0)
      if (auto put = writer_.insert(terms.pop()); !put) return put;
    return {};
  }

  Status put_made(const Work& work, Made made, OrderedPipeline<Bundle>& terms) {
    auto stamped = work.item;
    if (!made.problems.empty()) stamped.stamp.clear();  // to be read and reported again next time
    std::ranges::move(made.problems, std::back_inserter(report_.problems));
    if (made.bundle) take_description(*made.bundle, made.document, work.page == nullptr);
    std::string document;
    std::string bundle;
    if (made.document) {
      document = made.document->id;
      if (const auto record = records_.find(document); record != records_.end()) {
        stamped.stamp += stamped.stamp.empty() ? "" : record->second.digest;
        join_record(*made.document, std::move(record->second));
        records_.erase(record);
      }
      auto put = put_document(*std::move(made.document));
      if (!put) return put.error();
      if (!*put) document.clear();
    }
    if (made.bundle) {
      bundle = made.bundle->id;
      auto put = put_bundle(*std::move(made.bundle), terms);
      if (!put) return put.error();
      if (!*put) bundle.clear();
    }
    return writer_.remember(stamped, document, bundle);
  }

  /// Joins a bundle's description to its page, or makes a page from it when there is none. A
  /// separate record takes precedence.
  void take_description(Bundle& bundle, std::optional<Document>& document, bool alone) {
    if (!bundle.record) return;
    auto record = *std::exchange(bundle.record, std::nullopt);
    if (document) {
      if (!records_.contains(document->id)) join_record(*document, std::move(record));
    } else if (alone && is_document_id(record.id) && !records_.contains(record.id)) {
      document = document_of(std::move(record));
    }
  }

  /// False for a duplicate id, which is reported.
  Result<bool> put_document(Document document) {
    if (const auto excess = excess_of(document)) {
      skip(document.path, *excess);
      return false;
    }
    if (document.license.empty())
      document.license = options_.license.empty() ? "unknown" : options_.license;
    return counted(writer_.put(document), document.path, report_.documents);
  }

  Result<bool> put_bundle(Bundle bundle, OrderedPipeline<Bundle>& terms) {
    if (bundle.license.empty())
      bundle.license = options_.license.empty() ? "unknown" : options_.license;
    auto claimed = writer_.claim(bundle);
    auto put = counted(claimed ? Status{} : Status(claimed.error()), bundle.path, report_.bundles);
    if (put && claimed && *claimed) terms.push(std::move(bundle));
    return put;
  }

  /// Counts what was put; reports a conflict and returns false.
  Result<bool> counted(const Status& put, const std::string& path, int& count) {
    if (!put && put.error().code != ErrorCode::conflict) return put.error();
    if (!put) skip(path, put.error().message);
    count += put ? 1 : 0;
    return static_cast<bool>(put);
  }

  Status put_lone_records() {
    std::vector<std::string> ids;
    for (const auto& [id, record] : records_) ids.push_back(id);
    std::ranges::sort(ids);  // so that the same input gives the same index
    for (const auto& id : ids) {
      const ImportItem item{"record:" + id, records_.at(id).digest};
      if (writer_.keep(item)) {
        ++report_.documents;
        continue;
      }
      auto put = put_document(document_of(std::move(records_.at(id))));
      if (!put) return put.error();
      if (auto done = writer_.remember(item, *put ? id : "", ""); !done) return done;
    }
    return {};
  }

  void put_vocabularies() {
    for (const auto& [path, stamp] : listing_.vocabularies) {
      auto text = read_file(listing_.root / path, kMaxPage);
      auto aliases = text ? read_vocabulary(*text) : Result<std::vector<Alias>>(text.error());
      if (!aliases) {
        skip(path.generic_string(), aliases.error().message);
        continue;
      }
      for (auto& alias : *aliases) writer_.put_alias(std::move(alias));
    }
  }

  const ImportOptions& options_;
  IndexWriter& writer_;
  CorpusListing listing_;
  ImportReport report_;
  std::unordered_map<std::string, Record> records_;
  std::vector<Work> work_;
  int total_ = 0;
};

}  // namespace

Result<ImportReport> import_folder(const ImportOptions& options, IndexWriter& writer) {
  std::vector<Problem> problems;
  auto listing = list_corpus(options.root, problems);
  if (!listing) return listing.error();
  if (auto begun = writer.begin_corpus(options.corpus, listing->given.string()); !begun)
    return begun.error();
  return Import(options, writer, *std::move(listing), std::move(problems)).run();
}

}  // namespace ratchet::kbs

#include "kbs/corpus/corpus_listing.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "kbs/documents/page_reader.h"

namespace ratchet::kbs {
namespace {

namespace fs = std::filesystem;

constexpr auto kYoung = std::chrono::seconds(2);  // file system clocks are coarse
constexpr std::size_t kSampledPages = 40;

bool is_inside(const fs::path& path, const fs::path& root) {
  std::error_code failure;
  const auto real = fs::canonical(path, failure);
  if (failure) return false;
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  return end == root.end();
}

bool has_part(const fs::path& path, std::string_view name) {
  return std::ranges::any_of(path, [&](const fs::path& part) { return part == name; });
}

bool is_records(const fs::path& path) {
  return path.extension() == ".jsonl" || path.filename().string().ends_with(".jsonl.zst");
}

class Lister {
 public:
  Lister(CorpusListing& listing, std::vector<Problem>& problems)
      : listing_(listing), problems_(problems) {
    const auto young = std::chrono::system_clock::now() - kYoung;
    young_ns_ =
        std::chrono::duration_cast<std::chrono::nanoseconds>(young.time_since_epoch()).count();
  }

  void list() {
    std::error_code failure;
    listing_.plain = !fs::is_directory(listing_.root / "wiki", failure) &&
                     !fs::is_directory(listing_.root / "sources", failure);
    if (is_bundle(listing_.root)) {  // a single bundle, named by its folder
      const auto bundle = listing_.root;
      listing_.root = bundle.parent_path().parent_path();
      return add_bundle(bundle);
    }
    walk(listing_.root, [&](const fs::directory_entry& entry) { return visit(entry); });
    // Records may be stored beside the knowledge folder.
    if (listing_.given != listing_.root)
      for (const auto& entry : fs::directory_iterator(listing_.given, failure))
        if (is_records(entry.path()) && is_inside(entry.path(), listing_.given))
          listing_.records.push_back(entry.path());
    sort();
    listing_.plain = listing_.plain || no_page_has_header();
  }

 private:
  /// Calls `visit` for each entry; when it returns false for a folder, the folder is not entered.
  template <class Visit>
  void walk(const fs::path& folder, Visit visit) {
    std::error_code failure;
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(folder, options, failure);
         !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
      const bool hidden = at->path().filename().native().starts_with('.');
      if (hidden || leads_out(*at) || !visit(*at)) at.disable_recursion_pending();
    }
    if (failure) problems_.push_back({relative(folder), failure.message()});
  }

  bool leads_out(const fs::directory_entry& entry) {
    std::error_code unreadable;
    if (!entry.is_symlink(unreadable) || is_inside(entry.path(), listing_.root)) return false;
    problems_.push_back({relative(entry.path()), "symbolic link leads out of the folder"});
    return true;
  }

  [[nodiscard]] std::string relative(const fs::path& path) const {
    return path.lexically_relative(listing_.root).generic_string();
  }

  bool visit(const fs::directory_entry& entry) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) {
      if (entry.is_symlink(unreadable) || !is_bundle(entry.path())) return true;
      add_bundle(entry.path());
      return false;
    }
    if (entry.is_regular_file(unreadable)) sort_in(entry.path());
    return true;
  }

  static bool is_bundle(const fs::path& folder) {
    std::error_code failure;
    const bool request = !pull_request_key(folder).empty();
    for (const char* name : {"ORIGIN.yaml", "PROVENANCE.yaml"})
      if (fs::exists(folder / name, failure)) return true;
    if (request)
      return fs::exists(folder / "review.diff", failure) ||
             fs::exists(folder / "diff.patch", failure);
    const auto group = folder.parent_path().filename().string();
    return (group.ends_with("capsules") || group == "blogs") &&
           fs::exists(folder / "MANIFEST.yaml", failure);
  }

  void add_bundle(const fs::path& folder) {
    ListedBundle bundle;
    bundle.folder.path = folder.lexically_relative(listing_.root);
    bool young = false;
    std::vector<std::pair<fs::path, std::string>> files;
    walk(folder, [&](const fs::directory_entry& entry) {
      std::error_code unreadable;
      if (entry.is_regular_file(unreadable))
        files.emplace_back(entry.path().lexically_relative(folder), stamp_of(entry.path()));
      return true;
    });
    std::ranges::sort(files);
    for (auto& [path, stamp] : files) {
      young = young || stamp.empty();
      bundle.stamp += fmt::format("{}={};", path.generic_string(), stamp);
      bundle.folder.files.push_back(std::move(path));
    }
    if (young) bundle.stamp.clear();
    listing_.bundles.push_back(std::move(bundle));
  }

  [[nodiscard]] std::string stamp_of(const fs::path& path) const {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return {};
    const auto ns = [](const timespec& time) {
      return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    const auto newest = std::max(ns(info.st_mtim), ns(info.st_ctim));
    if (newest >= young_ns_) return {};
    return fmt::format("{:x}.{:x}.{:x}.{:x}", info.st_ino, info.st_size, ns(info.st_mtim),
                       ns(info.st_ctim));
  }

  static bool has_code_header(const fs::path& path) {
    std::ifstream in(path);
    std::string line;
    return std::getline(in, line) && is_code_page(path.generic_string(), line);
  }

  void sort_in(const fs::path& path) {
    const auto relative = path.lexically_relative(listing_.root);
    const auto name = path.filename();
    if (is_records(path)) listing_.records.push_back(path);
    if (name == "aliases.yaml" || name == "vocabulary.yaml")
      listing_.vocabularies.push_back({relative, stamp_of(path)});
    if (path.extension() == ".json" && name != "index.json" &&
        has_part(relative.parent_path(), "records"))
      listing_.json_records.push_back({relative, stamp_of(path)});
    const auto top = relative.begin()->string();
    if (top == "code" && has_code_header(path))
      listing_.pages.push_back({relative, stamp_of(path)});
    if (path.extension() != ".md") return;
    if (listing_.plain || top == "wiki" || top == "sources" || top == "docs")
      listing_.pages.push_back({relative, stamp_of(path)});
  }

  void sort() {
    for (auto* files : {&listing_.pages, &listing_.json_records, &listing_.vocabularies})
      std::ranges::sort(*files, {}, &ListedFile::path);
    std::ranges::sort(listing_.records);
    std::ranges::sort(listing_.bundles, {},
                      [](const ListedBundle& bundle) { return bundle.folder.path; });
  }

  [[nodiscard]] bool no_page_has_header() const {
    const auto count = std::min(listing_.pages.size(), kSampledPages);
    for (std::size_t i = 0; i < count; ++i) {
      // Samples are spread over all pages, because the first one may be an unusual index page.
      const auto& page = listing_.pages[i * listing_.pages.size() / count];
      std::ifstream in(listing_.root / page.path);
      std::string line;
      if (!std::getline(in, line) || !line.starts_with("---")) continue;
      while (std::getline(in, line) && !line.starts_with("---"))
        if (line.starts_with("id:")) return false;
    }
    return true;
  }

  CorpusListing& listing_;
  std::vector<Problem>& problems_;
  std::int64_t young_ns_ = 0;
};

}  // namespace

Result<CorpusListing> list_corpus(const fs::path& folder, std::vector<Problem>& problems) {
  CorpusListing listing;
  std::error_code failure;
  listing.given = fs::canonical(folder, failure);
  if (failure || !fs::is_directory(listing.given))
    return not_found(fmt::format("{} is not a folder", folder.string()),
                     "Pass a folder of pages, or one that contains `knowledge/`.");
  const bool holds = fs::is_directory(listing.given / "knowledge", failure);
  listing.root = holds ? listing.given / "knowledge" : listing.given;
  Lister(listing, problems).list();
  return listing;
}

}  // namespace ratchet::kbs

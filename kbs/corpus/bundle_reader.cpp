#include "kbs/corpus/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "kbs/documents/upstream.h"
#include "kbs/documents/yaml.h"
#include "kbs/index/code_file.h"
#include "kbs/text/fast_hash.h"
#include "kbs/text/trigrams.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = 8UL << 20U;
constexpr std::size_t kMaxSections = 5'000;  // each becomes a file of its own
constexpr std::size_t kMaxUpstream = 32UL << 20U;
constexpr std::array<std::string_view, 3> kProvenance{"ORIGIN.yaml", "PROVENANCE.yaml",
                                                      "MANIFEST.yaml"};

bool is_provenance(std::string_view file) {
  return std::ranges::find(kProvenance, file) != kProvenance.end();
}

bool is_diff(const fs::path& file) {
  return file.extension() == ".diff" || file.extension() == ".patch";
}

/// True for files without content of their own: read elsewhere, or not needed.
bool is_note(const fs::path& file) {
  const auto name = file.filename().string();
  return is_provenance(name) || name == "README.md" || name == "upstream.json" ||
         name == "diff_summary.md";
}

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  return out.substr(0, 150);
}

/// The digits after `gh-`, `PR-` or `pr-`; empty for any other name.
std::string number_of(std::string_view name) {
  for (const std::string_view prefix : {"gh-", "PR-", "pr-"}) {
    if (!name.starts_with(prefix)) continue;
    const auto digits = name.substr(prefix.size());
    const bool number =
        !digits.empty() && digits.size() <= 12 &&
        std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number) return std::string(digits);
  }
  return {};
}

void name_bundle(Bundle& bundle, const fs::path& folder) {
  if (auto key = pull_request_key(folder); !key.empty()) {
    std::ranges::replace(key, '/', '-');
    bundle.id = slug(key);
    bundle.page = "pr-" + bundle.id;
    return;
  }
  std::string kind = "bundle";
  std::string rest;
  for (const auto& part : folder) {
    const auto name = part.string();
    if (name.ends_with("capsules") || name == "blogs") kind = "capsule";
    if (name == "kernel-cases" || name == "kernels") kind = "case";
    const bool group = name.ends_with("capsules") || name == "blogs" || name == "kernel-cases" ||
                       name == "kernels" || name == "evidence" || name == "artifacts";
    if (!group) rest += (rest.empty() ? "" : "-") + name;
  }
  bundle.id = kind + "-" + slug(rest);
  bundle.page = (kind == "capsule" ? "blog-" : "kernel-") +
                slug(rest.substr(0, kind == "case" ? rest.rfind('-') : std::string::npos));
}

std::string scalar(const YamlNode& map, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto& node = map[name]; node.is_scalar() && !node.text.empty()) return node.text;
  return {};
}

void add_list(const YamlNode& node, std::vector<std::string>& to) {
  if (node.is_sequence())
    for (const auto& item : node.items)
      if (item.is_scalar()) to.push_back(item.text);
}

/// A provenance file up to its list of files, which is most of its text and only repeats the
/// contents of the folder.
std::string_view head_of(std::string_view yaml) {
  auto end = yaml.size();
  for (const std::string_view list : {"\nartifacts:", "\nbundle:", "\nfiles:"})
    end = std::min(end, yaml.find(list));
  return yaml.substr(0, end);
}

/// Errors: `invalid_argument` with the reason why the provenance cannot be read.
Result<YamlNode> read_head(std::string_view yaml) {
  if (!is_utf8(yaml)) return invalid_argument("not UTF-8 text");
  try {
    auto head = load_yaml(head_of(yaml));
    if (!head.is_map()) return invalid_argument("not a YAML map");
    return head;
  } catch (const YAML::Exception& problem) {
    return invalid_argument(fmt::format("line {}: {}", problem.mark.line + 1, problem.msg));
  }
}

/// Copies the fields about the whole bundle, in any of the known forms.
void take_head(const YamlNode& head, Bundle& bundle, std::vector<std::string>& declared) {
  bundle.repo = scalar(head, {"repo", "upstream_repo"});
  bundle.title = scalar(head, {"title", "slug"});
  bundle.url = scalar(head, {"url", "origin_url"});
  bundle.date = scalar(head, {"merged_at", "retrieved_at", "captured_at"}).substr(0, 10);
  bundle.license = scalar(head, {"license"});
  if (auto page = scalar(head, {"source_pr_id", "source_id"}); is_document_id(page))
    bundle.page = std::move(page);
  for (const char* list : {"tags", "techniques", "hardware_features", "kernel_types"})
    add_list(head[list], bundle.tags);
  add_list(head["architectures"], declared);
  std::ranges::sort(bundle.tags);
  bundle.tags.erase(std::ranges::unique(bundle.tags).begin(), bundle.tags.end());
}

/// Computes everything about a file that does not depend on the index.
void prepare(CodeFile& file) {
  file.language = language_of(file.source_path, file.text);
  file.digest = sha256_hex(file.text);
  file.trigrams = trigram_filter(file.text, {});
  file.frame = compress(file.text);
  file.parts = parts_of(file.scope, file.text, file.source_path);
  const std::string_view text(file.text);
  for (const auto& part : file.parts)
    file.hashes.push_back(fast_hash(text.substr(part.begin, part.end - part.begin)));
}

class BundleReader {
 public:
  BundleReader(const fs::path& root, const BundleFolder& folder, std::vector<Problem>& problems)
      : root_(root), folder_(folder), problems_(problems) {}

  Bundle read() {
    bundle_.path = folder_.path.generic_string();
    name_bundle(bundle_, folder_.path);
    read_provenance();
    bool diff = false;
    for (const auto& file : folder_.files) {
      diff = diff || is_diff(file);
      if (is_diff(file))
        read_diff(file);
      else if (!is_note(file))
        read_source(file);
    }
    if (!diff && !pull_request_key(folder_.path).empty()) skip("", "its diff is missing");
    read_description();
    label();
    finish();
    return std::move(bundle_);
  }

 private:
  void skip(const fs::path& file, std::string reason) {
    problems_.push_back({(folder_.path / file).generic_string(), std::move(reason)});
  }

  /// The contents of a text file. Reports a file that cannot be read and returns nothing.
  std::optional<std::string> text_of(const fs::path& file, std::size_t limit) {
    auto text = read_file(root_ / folder_.path / file, limit);
    if (!text) {
      const bool large = text.error().code == ErrorCode::too_large;
      skip(file, large ? fmt::format("larger than {} MB", limit >> 20U) : text.error().message);
      return std::nullopt;
    }
    if (text->find('\0') == std::string::npos && is_utf8(*text)) return *std::move(text);
    skip(file, "not UTF-8 text");
    return std::nullopt;
  }

  void read_provenance() {
    for (const auto name : kProvenance) {
      const auto found = std::ranges::find(folder_.files, fs::path(name));
      if (found == folder_.files.end()) continue;
      const auto text = text_of(*found, kMaxFile);
      if (!text) return;
      const auto head = read_head(*text);
      if (head) return take_head(*head, bundle_, declared_);
      return skip(*found, head.error().message);
    }
    // Capsules keep it beside their code; other bundles without one are read by their layout alone.
    if (!pull_request_key(folder_.path).empty())
      skip("", "neither ORIGIN.yaml nor PROVENANCE.yaml");
  }

  void read_diff(const fs::path& file) {
    const auto text = text_of(file, kMaxFile);
    if (!text) return;
    auto sections = split_diff(*text);
    if (sections.size() > kMaxSections) {
      skip(file,
           fmt::format("changes {} files; the first {} are read", sections.size(), kMaxSections));
      sections.resize(kMaxSections);
    }
    for (auto& section : sections) {
      CodeFile one;
      one.scope = Scope::diffs;
      one.path = (folder_.path / file).generic_string();
      one.line = section.line;
      one.source_path = section.path.empty() ? file.generic_string() : std::move(section.path);
      one.text = section.text;
      prepare(one);
      bundle_.files.push_back(std::move(one));
    }
  }

  void read_source(const fs::path& file) {
    auto text = text_of(file, kMaxFile);
    if (!text || text->empty()) return;
    CodeFile one;
    one.path = (folder_.path / file).generic_string();
    const auto first = file.begin()->string();
    const bool wrapped = first == "source-snapshot" || first == "key-files" || first == "code";
    one.source_path = (wrapped ? file.lexically_relative(first) : file).generic_string();
    one.text = *std::move(text);
    prepare(one);
    bundle_.files.push_back(std::move(one));
  }

  void read_description() {
    const fs::path name("upstream.json");
    if (std::ranges::find(folder_.files, name) == folder_.files.end()) return;
    auto text = read_file(root_ / folder_.path / name, kMaxUpstream);
    if (!text) return skip(name, text.error().message);
    auto upstream = read_upstream(*text);
    if (!upstream) return skip(name, upstream.error().message);
    Record record;
    record.id = bundle_.page;
    record.title = upstream->title.empty() ? bundle_.title : upstream->title;
    record.body = std::move(upstream->body);
    record.repo = bundle_.repo;
    record.date = upstream->merged_at.substr(0, 10);
    record.is_pull_request = true;
    record.labels = std::move(upstream->labels);
    record.place = (folder_.path / name).generic_string() + ":1";
    bundle_.record = std::move(record);
  }

  /// Labels declared by bundles come from the same generator as those of pages and need the same
  /// support from the text; architectures named in the diffs are derived labels.
  void label() {
    std::string named = bundle_.title;
    for (const auto& file : bundle_.files) {
      named.append("\n").append(file.source_path);
      if (bundle_.record) bundle_.record->changed_files.push_back(file.source_path);
    }
    bundle_.architectures = label_architectures(declared_, Scope::prs, named);
    for (const auto& file : bundle_.files)
      if (file.scope == Scope::diffs)
        derive_architectures_of_code(bundle_.architectures, file.text);
    if (!bundle_.record) return;
    auto& changed = bundle_.record->changed_files;
    std::ranges::sort(changed);
    changed.erase(std::ranges::unique(changed).begin(), changed.end());
  }

  void finish() {
    std::string all = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", bundle_.id, bundle_.page,
                                  bundle_.title, bundle_.license, fmt::join(bundle_.tags, ","));
    for (const auto& label : bundle_.architectures)
      all += fmt::format("\x1f{}:{}", label.name, name_of(label.origin));
    for (const auto& file : bundle_.files)
      all += fmt::format("\x1f{}:{}:{}", file.path, file.line, file.digest);
    bundle_.digest = sha256_hex(all);
  }

  const fs::path& root_;
  const BundleFolder& folder_;
  std::vector<Problem>& problems_;
  Bundle bundle_;
  std::vector<std::string> declared_;
};

}  // namespace

std::string pull_request_key(const fs::path& path) {
  const auto number = number_of(path.stem().string());
  const auto repository = path.parent_path().filename().string();
  return number.empty() || repository.empty() ? std::string{} : repository + "/" + number;
}

Bundle read_bundle(const fs::path& root, const BundleFolder& folder,
                   std::vector<Problem>& problems) {
  return BundleReader(root, folder, problems).read();
}

}  // namespace ratchet::kbs

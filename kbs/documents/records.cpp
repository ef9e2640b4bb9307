#include "kbs/documents/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "server/core/bounded_json.h"
#include "server/core/fields.h"
#include "server/core/hash.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMaxLine = 8UL << 20U;

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> out;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return out;
  for (const auto& item : *found)
    if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

/// Errors: `invalid_argument` with the reason why the line is not a record.
Result<Record> read_record(std::string_view line, std::string place) {
  if (!is_utf8(line)) return invalid_argument("not UTF-8 text");
  if (line.size() > kMaxLine)
    return invalid_argument(fmt::format("a record of {} bytes; at most {}", line.size(), kMaxLine));
  auto parsed = bounded_json(line);
  if (!parsed) return parsed.error();
  const Json json = *std::move(parsed);
  if (!json.is_object()) return invalid_argument("not a JSON object");
  Record record;
  record.id = text_of(json, "id");
  if (!is_document_id(record.id))
    return invalid_argument("`id` is missing or does not match [A-Za-z0-9._-]+");
  record.title = text_of(json, "title");
  record.body = text_of(json, "body");
  if (record.title.empty() && record.body.empty())
    return invalid_argument("neither `title` nor `body`");
  if (record.title.empty()) record.title = record.id;
  std::erase(record.body, '\0');
  std::erase(record.title, '\0');
  record.repo = text_of(json, "repo");
  record.license = text_of(json, "license");
  record.date = text_of(json, "merged_at").substr(0, 10);
  if (record.date.empty()) record.date = text_of(json, "date");
  record.is_pull_request = json.contains("number");
  record.labels = texts_of(json, "labels");
  record.changed_files = texts_of(json, "changed_files");
  record.place = std::move(place);
  return record;
}

}  // namespace

void read_records(std::string_view text, std::string_view file,
                  const std::function<void(Record)>& on_record,
                  const std::function<void(Problem)>& on_problem) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto place = fmt::format("{}:{}", file, number);
    auto record = read_record(line, place);
    if (record) {
      record->digest = sha256_hex(line);
      on_record(*std::move(record));
    } else {
      on_problem({std::move(place), record.error().message});
    }
  }
}

void join_record(Document& page, Record record) {
  derive_architectures(page.architectures, record.title + "\n" + record.body);
  page.has_code = page.has_code || record.body.find("```") != std::string::npos;
  page.description = std::move(record.body);
  page.description_path = std::move(record.place);
  if (page.repo.empty()) page.repo = std::move(record.repo);
  if (page.date.empty()) page.date = std::move(record.date);
  page.tags.insert(page.tags.end(), record.labels.begin(), record.labels.end());
}

Document document_of(Record record) {
  Document document;
  document.id = record.id;
  document.title = record.title;
  document.scope = record.is_pull_request ? Scope::prs : Scope::docs;
  document.kind = record.is_pull_request ? "pull-request" : "record";
  document.path = record.place;
  document.license = record.license;
  document.extra_terms = record.changed_files;
  document.architectures = label_architectures(
      {}, Scope::prs,
      record.title + "\n" + fmt::format("{}", fmt::join(record.changed_files, "\n")));
  join_record(document, std::move(record));
  return document;
}

}  // namespace ratchet::kbs

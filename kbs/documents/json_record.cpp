#include "kbs/documents/json_record.h"

#include <algorithm>
#include <initializer_list>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "server/core/bounded_json.h"
#include "server/core/fields.h"

namespace ratchet::kbs {
namespace {

constexpr int kMaxDepth = 8;

const Json* find(const Json& object, std::initializer_list<std::string_view> path) {
  const auto* at = &object;
  for (const auto name : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string text_at(const Json& object, std::initializer_list<std::string_view> path) {
  const auto* found = find(object, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

void add_texts(const Json& object, std::initializer_list<std::string_view> path,
               std::vector<std::string>& to) {
  const auto* found = find(object, path);
  if (found == nullptr) return;
  const auto add = [&](const Json& item) {
    if (item.is_string() && !item.get_ref<const std::string&>().empty() && item != "any")
      to.push_back(item.get<std::string>());
  };
  if (!found->is_array()) return add(*found);
  for (const auto& item : *found) add(item);
}

/// `root_cause` → "Root cause".
std::string heading_of(std::string_view key) {
  std::string heading(key);
  std::ranges::replace(heading, '_', ' ');
  if (!heading.empty())
    heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
  return heading;
}

bool is_empty(const Json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty()) ||
         value == "";
}

/// A scalar as text; numbers and booleans as in JSON.
std::string line_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The fields of an object on one line, nested ones in parentheses.
std::string inline_of(const Json& value, int depth) {
  if (!value.is_structured() || depth > kMaxDepth) return line_of(value);
  std::string out;
  for (const auto& [key, item] : value.items()) {
    if (is_empty(item)) continue;
    const auto text = item.is_structured() ? "(" + inline_of(item, depth + 1) + ")" : line_of(item);
    out += (out.empty() ? "" : "; ") + (value.is_object() ? heading_of(key) + ": " : "") + text;
  }
  return out;
}

std::string markdown_of(const Json& knowledge) {
  std::string out;
  for (const auto& [key, value] : knowledge.items()) {
    if (is_empty(value)) continue;
    out += "## " + heading_of(key) + "\n\n";
    if (!value.is_structured()) {
      out += line_of(value) + "\n\n";
      continue;
    }
    for (const auto& [name, item] : value.items()) {
      if (is_empty(item)) continue;
      const auto text = inline_of(item, 0);
      // Multi-line text (code) keeps its lines; everything else becomes a list item.
      if (text.find('\n') != std::string::npos)
        out += text + "\n";
      else
        out += "- " + (value.is_object() ? heading_of(name) + ": " : "") + text + "\n";
    }
    out += "\n";
  }
  return out;
}

std::string title_of(const Json& record, const std::string& id) {
  for (const auto& title :
       {text_at(record, {"title"}), text_at(record, {"payload", "title"}),
        text_at(record, {"payload", "problem", "statement"}),
        text_at(record, {"payload", "technique"}), text_at(record, {"facts", "summary"}),
        text_at(record, {"identity", "mnemonic"}), text_at(record, {"payload", "goal"})})
    if (!title.empty()) return title;
  return id;
}

void read_labels(const Json& record, Document& document) {
  std::vector<std::string> architectures;
  for (const std::string_view name : {"arch", "product", "architectures"})
    add_texts(record, {"retrieval", "scope", name}, architectures);
  for (const std::string_view name : {"arch", "product", "sm_arch"})
    add_texts(record, {"identity", name}, architectures);
  std::erase(architectures, "generic");
  document.architectures = label_architectures(architectures, Scope::wiki, {});
  for (const std::string_view name : {"dsl", "language"})
    add_texts(record, {"retrieval", "scope", name}, document.languages);
  add_texts(record, {"retrieval", "technique_tags"}, document.tags);
  add_texts(record, {"retrieval", "scope", "operators"}, document.tags);
  add_texts(record, {"retrieval", "signals", "symptoms"}, document.symptoms);
  add_texts(record, {"retrieval", "signals", "bottleneck"}, document.symptoms);
  add_texts(record, {"retrieval", "triggers"}, document.extra_terms);
  add_texts(record, {"identity", "mnemonic"}, document.aliases);
  add_texts(record, {"identity", "vendor"}, document.extra_terms);
}

}  // namespace

Result<Document> read_json_record(std::string_view json, std::string_view path) {
  if (!is_utf8(json)) return invalid_argument("not UTF-8 text");
  auto parsed = bounded_json(json);
  if (!parsed) return parsed.error();
  const Json record = *std::move(parsed);
  if (!record.is_object()) return invalid_argument("not a JSON object, or truncated");
  Document document;
  document.id = text_at(record, {"id"});
  if (!is_document_id(document.id))
    return invalid_argument("`id` is missing or does not match [A-Za-z0-9._-]+");
  const auto* knowledge = find(record, {"payload"});
  if (knowledge == nullptr) knowledge = find(record, {"facts"});
  if (knowledge == nullptr || !knowledge->is_object())
    return invalid_argument("`payload` or `facts` must be an object");
  document.scope = Scope::wiki;
  document.title = title_of(record, document.id);
  document.kind = text_at(record, {"type"});
  document.confidence = text_at(record, {"evidence", "summary", "confidence"});
  document.license = text_at(record, {"license"});
  document.path = path;
  document.description = markdown_of(*knowledge);
  std::erase(document.description, '\0');
  document.description_path = std::string(path) + ":1";
  document.has_code = document.description.find("```") != std::string::npos ||
                      find(*knowledge, {"implementation", "snippet"}) != nullptr;
  read_labels(record, document);
  return document;
}

}  // namespace ratchet::kbs

#include "server/mcp/features/catalog.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

constexpr std::string_view kCursorPrefix = "after:";

/// "check_env" as "Check env".
std::string title_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z')
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

void add_if_set(Json& entry, const char* member, const std::string& value) {
  if (!value.empty()) entry[member] = value;
}

}  // namespace

Identity::Identity(std::string name, std::string title, std::string version)
    : info_{{"name", std::move(name)}, {"version", std::move(version)}} {
  add_if_set(info_, "title", title);
}

void Identity::finish(Json& result, Era era, const std::optional<Caching>& caching) const {
  if (era == Era::legacy) return;
  if (!result.contains("resultType")) result["resultType"] = "complete";
  result["_meta"][std::string(key::kServerInfo)] = info_;
  if (!caching || result["resultType"] != "complete") return;
  result["ttlMs"] = caching->ttl_ms;
  result["cacheScope"] = caching->shared ? "public" : "private";
}

PagedList::PagedList(std::string_view member, Entries entries, std::size_t page_size,
                     const Identity& identity, Caching caching)
    : member_(member),
      entries_of_(std::move(entries)),
      page_size_(page_size),
      identity_(identity),
      caching_(caching) {}

void PagedList::write_pages() const {
  const std::vector<Json> entries = entries_of_();
  std::size_t start = 0;
  do {
    const std::size_t end = std::min(entries.size(), start + page_size_);
    Json list = Json::array();
    for (std::size_t i = start; i < end; ++i) list.push_back(entries[i]);
    Json result{{member_, std::move(list)}};
    if (end < entries.size()) result["nextCursor"] = cursor_of(end);
    legacy_.push_back(result.dump(-1, ' ', false, Json::error_handler_t::replace));
    identity_.finish(result, Era::stateless, caching_);
    stateless_.push_back(result.dump(-1, ' ', false, Json::error_handler_t::replace));
    start = end;
  } while (start < entries.size());
}

const std::string* PagedList::page(std::optional<std::string_view> cursor, Era era) const {
  std::call_once(written_, [this] { write_pages(); });
  const auto& pages = era == Era::legacy ? legacy_ : stateless_;
  if (!cursor) return &pages.front();
  const auto position = position_of(*cursor);
  // Only later pages' starts are valid cursors.
  if (!position || *position == 0 || *position % page_size_ != 0) return nullptr;
  const std::size_t index = *position / page_size_;
  return index < pages.size() ? &pages[index] : nullptr;
}

std::string cursor_of(std::size_t position) {
  return base64(std::string(kCursorPrefix) + std::to_string(position));
}

std::optional<std::size_t> position_of(std::string_view cursor) {
  const auto text = from_base64(cursor);
  if (!text || !text->starts_with(kCursorPrefix)) return std::nullopt;
  std::size_t position = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data() + kCursorPrefix.size(), end, position);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return position;
}

/// A schema as programs need it to read an answer: without the descriptions, which docs/tools.md
/// and schemas/ have, so that a list of all tools stays small.
Json without_descriptions(Json schema) {
  if (!schema.is_object()) return schema;
  schema.erase("description");
  schema.erase("default");
  for (const char* inner : {"items", "additionalProperties"})
    if (const auto found = schema.find(inner); found != schema.end())
      *found = without_descriptions(std::move(*found));
  if (const auto found = schema.find("properties"); found != schema.end())
    for (auto& [name, property] : found->items())
      property = without_descriptions(std::move(property));
  return schema;
}

/// An input schema as a model reads it: only the outermost record says that it takes no other keys,
/// although none does, and whole bounds are written as such.
Json in_few_words(Json schema, bool outermost = true) {
  if (!schema.is_object()) return schema;
  const auto extra = schema.find("additionalProperties");
  if (extra != schema.end() && extra->is_object())
    *extra = in_few_words(std::move(*extra), false);
  else if (extra != schema.end() && !outermost)
    schema.erase(extra);
  for (const char* bound : {"minimum", "maximum"})
    if (const auto found = schema.find(bound); found != schema.end() && found->is_number_float())
      if (const auto value = found->get<double>(); value == std::floor(value))
        *found = static_cast<std::int64_t>(value);
  if (const auto found = schema.find("items"); found != schema.end())
    *found = in_few_words(std::move(*found), false);
  if (const auto found = schema.find("properties"); found != schema.end())
    for (auto& [name, property] : found->items())
      property = in_few_words(std::move(property), false);
  return schema;
}

Json entry_of(const Tool& tool) {
  const ToolInfo& info = tool.info;
  const bool reads = info.effect == Effect::reads;
  Json entry{{"name", info.name},
             {"title", title_of(info.name)},
             {"description", info.summary},
             {"inputSchema", in_few_words(tool.input_schema)},
             {"annotations",
              {{"readOnlyHint", reads},
               {"destructiveHint", info.effect == Effect::destroys},
               {"idempotentHint", info.idempotent},
               {"openWorldHint", false}}}};
  if (!tool.output_schema.is_null())
    entry["outputSchema"] = without_descriptions(tool.output_schema);
  if (info.always_load) entry["_meta"] = {{"anthropic/alwaysLoad", true}};
  return entry;
}

Json entry_of(const Prompt& prompt) {
  Json entry{{"name", prompt.name}};
  add_if_set(entry, "title", prompt.title);
  add_if_set(entry, "description", prompt.description);
  if (prompt.arguments.empty()) return entry;
  Json arguments = Json::array();
  for (const auto& argument : prompt.arguments) {
    Json item{{"name", argument.name}, {"required", argument.required}};
    add_if_set(item, "description", argument.description);
    arguments.push_back(std::move(item));
  }
  entry["arguments"] = std::move(arguments);
  return entry;
}

Json entry_of(const Resource& resource) {
  Json entry{{"uri", resource.uri}, {"name", resource.name}};
  add_if_set(entry, "title", resource.title);
  add_if_set(entry, "description", resource.description);
  add_if_set(entry, "mimeType", resource.mime_type);
  if (resource.size_bytes) entry["size"] = *resource.size_bytes;
  return entry;
}

Json entry_of(const ResourceTemplate& resource_template) {
  Json entry{{"uriTemplate", resource_template.uri_template}, {"name", resource_template.name}};
  add_if_set(entry, "title", resource_template.title);
  add_if_set(entry, "description", resource_template.description);
  add_if_set(entry, "mimeType", resource_template.mime_type);
  return entry;
}

Json entry_of(const Skill& skill) {
  Json files = Json::array();
  for (const auto& file : skill.files)
    files.push_back(
        {{"uri", file.uri}, {"digest", "sha256:" + file.sha256_hex}, {"size", file.size_bytes}});
  return {{"uri", skill.uri}, {"frontmatter", skill.front_matter}, {"resources", std::move(files)}};
}

}  // namespace ratchet::mcp

#include "kbs/query/page_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "kbs/index/code_file.h"
#include "kbs/query/cursor.h"
#include "server/core/text.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kPageBytes = 12'000;      // of text in one answer
constexpr std::size_t kHeaderBytes = 64'000;    // of front matter in one answer
constexpr std::size_t kFollowedBytes = 64'000;  // no further page is appended beyond this
constexpr std::size_t kFollowed = 12;           // pages
constexpr std::size_t kMaxId = 300;             // bytes

/// A document as stored in the index.
struct Stored {
  std::string id, title, text, extra, digest, license, path;
  Origin origin;
};

Result<Stored> read_stored(const Indexes& indexes, const DocumentPlace& place) {
  auto connection = indexes.readers[place.reader]->connection();
  if (!connection) return connection.error();
  auto statement =
      (*connection)
          ->prepared(
              "SELECT id, corpus, title, text, extra, digest, license, path FROM doc WHERE "
              "rowid=?");
  if (!statement) return statement.error();
  auto row = (*statement)->bind(1, place.row).step();
  if (!row) return row.error();
  auto text = decompress((*statement)->blob(3));
  auto extra = decompress((*statement)->blob(4));
  if (!text) return text.error();
  if (!extra) return extra.error();
  return Stored{indexes.shown_id(place.reader, (*statement)->text(0), (*statement)->text(1)),
                std::string((*statement)->text(2)),
                *std::move(text),
                *std::move(extra),
                std::string((*statement)->text(5)),
                std::string((*statement)->text(6)),
                std::string((*statement)->text(7)),
                indexes.origin(place.reader, (*statement)->text(1))};
}

Result<std::vector<PageSource>> read_sources(const Indexes& indexes, const DocumentPlace& place) {
  auto connection = indexes.readers[place.reader]->connection();
  if (!connection) return connection.error();
  std::vector<PageSource> sources;
  auto read = for_each_row(
      **connection,
      "SELECT source.id, coalesce(nullif(source.title,''), cited.title, ''), source.publisher "
      "FROM source JOIN doc AS page ON page.rowid=source.doc "
      "LEFT JOIN doc AS cited ON cited.corpus=page.corpus AND cited.own_id=source.id "
      "WHERE source.doc=? ORDER BY source.ordinal",
      [&](const Statement& row) {
        sources.push_back(
            {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2))});
      },
      place.row);
  if (!read) return read.error();
  return sources;
}

/// A page that was merged into another keeps its id as a name of the other.
Result<std::optional<DocumentPlace>> place_named(const Indexes& indexes, const std::string& name) {
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto connection = indexes.readers[r]->connection();
    if (!connection) return connection.error();
    auto rows = rows_named(**connection, squeezed(name));
    if (!rows) return rows.error();
    if (rows->size() == 1) return std::optional(DocumentPlace{r, rows->front()});
  }
  return std::optional<DocumentPlace>{};
}

Result<DocumentPlace> place_of(const Indexes& indexes, const std::string& id) {
  const bool readable = id.size() <= kMaxId && is_utf8(id);
  if (readable) {
    auto place = find_document(indexes, id);
    if (!place) return place.error();
    if (*place) return **place;
    auto named = place_named(indexes, id);
    if (!named) return named.error();
    if (*named) return **named;
  }
  auto near = nearest_ids(indexes, readable ? std::string_view(id) : std::string_view{}, 5);
  if (!near) return near.error();
  return not_found(readable ? fmt::format("no page '{}'", id) : std::string("no page with that id"),
                   near->empty() ? "Ids come from query_kbs."
                                 : fmt::format("Nearest ids: {}. Ids come from query_kbs.",
                                               fmt::join(*near, ", ")));
}

struct Heading {
  std::size_t begin = 0;
  std::size_t level = 0;
  std::string_view text;
};

std::vector<Heading> headings(std::string_view body) {
  std::vector<Heading> found;
  bool code = false;
  for (const auto line : lines_of(body)) {
    if (line.starts_with("```")) code = !code;
    const auto level = std::min(line.find_first_not_of('#'), line.size());
    if (code || level == 0) continue;
    const auto text = std::min(line.find_first_not_of("# "), line.size());
    found.push_back({static_cast<std::size_t>(line.data() - body.data()), level,
                     trimmed(line.substr(text), " \t\r\n\v\f")});
  }
  return found;
}

/// The regions of a file of code: each begins with the comment `region NAME` and ends with the next
/// one.
std::vector<Heading> regions(std::string_view body) {
  std::vector<Heading> found;
  for (const auto line : lines_of(body))
    for (const std::string_view sign : {"// region ", "# region "})
      if (const auto comment = trimmed(line, " \t\r\n"); comment.starts_with(sign))
        found.push_back(
            {static_cast<std::size_t>(line.data() - body.data()), 1, comment.substr(sign.size())});
  return found;
}

/// The first region whose name begins with `wanted`, in a fence like that of the whole.
std::optional<std::string> region_of(std::string_view body, std::string_view wanted) {
  const auto all = regions(body);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted.empty() || !squeezed(all[i].text).starts_with(wanted)) continue;
    const auto last = body.rfind("```");
    const auto end = i + 1 < all.size() ? all[i + 1].begin : last;
    const auto fence = body.substr(0, body.find('\n') + 1);
    return std::string(fence).append(body.substr(all[i].begin, end - all[i].begin)).append("```\n");
  }
  return std::nullopt;
}

/// The section whose heading equals, begins with or contains the name (in this order of preference,
/// ignoring case), up to the next heading of its level.
Result<std::string> section_of(std::string_view body, const std::string& name) {
  const auto all = headings(body);
  const auto wanted = squeezed(name);
  const Heading* best = nullptr;
  int best_fit = 0;
  for (const auto& heading : all) {
    const auto have = squeezed(heading.text);
    const int fit = wanted.empty()                           ? 0
                    : have == wanted                         ? 3
                    : have.starts_with(wanted)               ? 2
                    : have.find(wanted) != std::string::npos ? 1
                                                             : 0;
    if (fit <= best_fit) continue;
    best = &heading;
    best_fit = fit;
  }
  if (best == nullptr)
    if (auto region = region_of(body, wanted)) return *std::move(region);
  if (best == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& heading : all) names.push_back(heading.text);
    for (const auto& region : regions(body)) names.push_back(region.text);
    if (names.size() > 30) names.resize(30);
    return not_found(fmt::format("section: the page has no heading or region like '{}'", name),
                     names.empty() ? "The page has no headings."
                                   : fmt::format("There are: {}.", fmt::join(names, " | ")));
  }
  auto end = body.size();
  for (const auto& heading : all)
    if (heading.begin > best->begin && heading.level <= best->level) {
      end = heading.begin;
      break;
    }
  return std::string(body.substr(best->begin, end - best->begin));
}

std::string without_code(std::string_view body) {
  std::string out;
  bool code = false;
  for (const auto line : lines_of(body)) {
    if (line.starts_with("```")) {
      code = !code;
      if (code) out += "[code left out]\n";
      continue;
    }
    if (!code) out.append(line).append("\n");
  }
  return out;
}

/// The body of a document, followed by its joined record.
std::string shown_body(const Stored& stored) {
  std::string body(split_page(stored.text).body);
  if (!stored.extra.empty()) {
    if (!body.empty()) body += "\n\n## Description\n\n";
    body += stored.extra;
  }
  return body;
}

Status follow(const Indexes& indexes, const DocumentPlace& from,
              const std::vector<PageSource>& sources, std::string& text) {
  std::size_t followed = 0;
  for (const auto& source : sources) {
    auto connection = indexes.readers[from.reader]->connection();
    if (!connection) return connection.error();
    auto statement =
        (*connection)
            ->prepared(
                "SELECT cited.rowid FROM doc AS page JOIN doc AS cited ON cited.corpus=page.corpus "
                "WHERE page.rowid=? AND cited.own_id=?");
    if (!statement) return statement.error();
    auto row = (*statement)->bind(1, from.row).bind(2, std::string_view(source.id)).step();
    if (!row) return row.error();
    if (!*row) continue;
    if (followed == kFollowed || text.size() > kFollowedBytes) {
      text += "\n\n[more sources are listed under `sources`; get them one by one]\n";
      return {};
    }
    ++followed;
    auto stored = read_stored(indexes, {from.reader, (*statement)->integer(0)});
    if (!stored) return stored.error();
    text += fmt::format("\n\n---\n\n# Source {}: {}\n\n{}", stored->id, stored->title,
                        shown_body(*stored));
  }
  return {};
}

/// A code fence longer than any run of backticks in the text.
std::string fence_around(std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

/// A file of code or a part of it as a page that cites the page of its bundle.
Result<Page> code_page(const Indexes& indexes, const CodePlace& place, std::string& digest) {
  auto connection = indexes.readers[place.reader]->connection();
  if (!connection) return connection.error();
  auto statement = (*connection)->prepared(kReadCode);
  if (!statement) return statement.error();
  auto code = read_code(**statement, place.file);
  if (!code) return code.error();
  if (place.part > static_cast<int>(code->parts.size()))
    return not_found(
        fmt::format("{} has {} parts", code->id, code->parts.size()),
        fmt::format("Request {} as a whole, or one of its parts, counted from 1.", code->id));
  CodePart part{0, code->text.size(), 1, ""};
  if (place.part > 0) part = code->parts[static_cast<std::size_t>(place.part) - 1];
  const auto text = std::string_view(code->text).substr(part.begin, part.end - part.begin);
  Page page;
  page.id = place.part > 0 ? fmt::format("{}.{}", code->id, place.part) : code->id;
  page.origin = indexes.origin(place.reader, code->corpus);
  page.title = code->source_path + (part.name.empty() ? "" : ": " + part.name);
  const auto fence = fence_around(text);
  const std::string language = code->scope == Scope::diffs ? "diff" : code->language;
  page.text =
      fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
  page.front_matter = Json{{"scope", name_of(code->scope)},
                           {"repo", code->repo},
                           {"pull_request", code->title},
                           {"url", code->url},
                           {"date", code->date},
                           {"language", code->language},
                           {"source_path", code->source_path},
                           {"parts", code->parts.size()}};
  page.path = fmt::format("{}:{}", code->path, code->line + part.line - 1);
  page.license = code->license;
  page.content_digest = code->digest;
  auto owner = find_document(indexes, code->page);
  if (!owner) return owner.error();
  if (*owner) page.sources.push_back({code->page, code->title, code->repo});
  digest = code->digest;
  return page;
}

/// Identifies the request and the page's content, so that a cursor cannot be used with others.
std::string fingerprint(const PageRequest& request, std::string_view digest) {
  return mark_of(fmt::format("{}\x1f{}\x1f{}{}{}{}\x1f{}", request.id, request.section.value_or(""),
                             request.follow_sources, request.include_code, request.body_only,
                             request.frontmatter_only, digest));
}

/// Reduces `page.text` to the part that starts at the cursor.
Status cut_page(const PageRequest& request, const std::string& mark, Page& page) {
  auto place = read_cursor(request.cursor, mark);
  if (!place) return place.error();
  const auto begin = std::min(*place, page.text.size());
  if (page.text.size() - begin <= kPageBytes) {
    page.text.erase(0, begin);
    return {};
  }
  auto end = page.text.rfind('\n', begin + kPageBytes - 1);
  if (end == std::string::npos || end <= begin) {
    end = begin + kPageBytes;  // one huge line, split at a character boundary
    while ((static_cast<unsigned char>(page.text[end]) & 0xC0U) == 0x80U) --end;
  } else {
    ++end;
  }
  page.next_cursor = write_cursor(end, mark);
  page.text = page.text.substr(begin, end - begin);
  return {};
}

Result<Page> read_code_view(const Indexes& indexes, const PageRequest& request,
                            const CodePlace& place) {
  std::string digest;
  auto page = code_page(indexes, place, digest);
  if (!page) return page;
  if (request.body_only) page->front_matter = Json::object();
  if (request.frontmatter_only) page->text.clear();
  if (auto done = cut_page(request, fingerprint(request, digest), *page); !done)
    return done.error();
  return page;
}

}  // namespace

Result<Page> read_page_view(const Indexes& indexes, const PageRequest& request) {
  if (request.id.size() <= kMaxId) {
    auto code = find_code(indexes, request.id);
    if (!code) return code.error();
    if (*code) return read_code_view(indexes, request, **code);
  }
  auto place = place_of(indexes, request.id);
  if (!place) return place.error();
  auto stored = read_stored(indexes, *place);
  if (!stored) return stored.error();
  auto sources = read_sources(indexes, *place);
  if (!sources) return sources.error();

  Page page;
  page.id = stored->id;
  page.title = stored->title;
  page.origin = stored->origin;
  page.path = stored->path;
  page.license = stored->license;
  page.content_digest = stored->digest;
  page.front_matter = Json::object();
  if (!request.body_only) {
    auto header = header_json(split_page(stored->text).header);
    if (!header) return header.error();
    page.front_matter = *std::move(header);
    const auto size = page.front_matter.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (size > kHeaderBytes)
      return Error{ErrorCode::too_large,
                   fmt::format("the front matter of {} takes {} bytes; an answer holds at most {}",
                               page.path, size, kHeaderBytes),
                   "Pass body_only: true to get the page without it."};
  }
  page.sources = *std::move(sources);
  if (request.frontmatter_only) return page;

  page.text = shown_body(*stored);
  if (request.section) {
    auto section = section_of(page.text, *request.section);
    if (!section) return section.error();
    page.text = *std::move(section);
  }
  if (request.follow_sources)
    if (auto done = follow(indexes, *place, page.sources, page.text); !done) return done.error();
  if (!request.include_code) page.text = without_code(page.text);
  if (auto done = cut_page(request, fingerprint(request, stored->digest), page); !done)
    return done.error();
  return page;
}

}  // namespace ratchet::kbs

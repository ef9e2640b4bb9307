#include "kbs/index/fts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "kbs/documents/page_reader.h"
#include "kbs/text/tokenizer.h"
#include "server/sqlite/compression.h"

namespace ratchet::kbs {
namespace {

using TokenSink = int (*)(void* context, int flags, const char* token, int size, int begin,
                          int end);

Error fts_error(sqlite3* database) {
  return {
      ErrorCode::unavailable,
      std::string("this SQLite does not support the knowledge base: ") + sqlite3_errmsg(database),
      "Build against SQLite 3.40 or newer with FTS5."};
}

Result<fts5_api*> fts5_of(sqlite3* database) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  if (api == nullptr) return fts_error(database);
  return api;
}

int create_tokenizer(void*, const char**, int, Fts5Tokenizer** out) {
  // The tokenizer is stateless, but FTS5 treats a null handle as a failure.
  static char stateless = 0;
  *out = reinterpret_cast<Fts5Tokenizer*>(&stateless);
  return SQLITE_OK;
}

void delete_tokenizer(Fts5Tokenizer*) {}

int pass_terms(std::string_view text, void* context, TokenSink sink) {
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = begin;  // terms are short, so a plain loop is faster than a library search
    while (end < text.size() && text[end] != ' ') ++end;
    if (end > begin) {
      const int code = sink(context, 0, text.data() + begin, static_cast<int>(end - begin),
                            static_cast<int>(begin), static_cast<int>(end));
      if (code != SQLITE_OK) return code;
    }
    begin = end + 1;
  }
  return SQLITE_OK;
}

int run_tokenizer(Fts5Tokenizer*, void* context, int flags, const char* bytes, int size,
                  TokenSink sink) {
  const std::string_view text(bytes, static_cast<std::size_t>(std::max(size, 0)));
  if ((flags & FTS5_TOKENIZE_QUERY) != 0) return pass_terms(text, context, sink);
  int code = SQLITE_OK;
  tokenize(text, [&](const Token& token) {
    code = sink(context, token.same_position ? FTS5_TOKEN_COLOCATED : 0, token.text.data(),
                static_cast<int>(token.text.size()), static_cast<int>(token.begin),
                static_cast<int>(token.end));
    return code == SQLITE_OK;
  });
  return code;
}

int run_terms(Fts5Tokenizer*, void* context, int, const char* bytes, int size, TokenSink sink) {
  return pass_terms({bytes, static_cast<std::size_t>(std::max(size, 0))}, context, sink);
}

std::string_view blob_of(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return {bytes != nullptr ? bytes : "", static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void give_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void sql_headings(sqlite3_context* context, int, sqlite3_value** values) {
  auto text = decompress(blob_of(values[0]));
  if (!text) return sqlite3_result_error(context, text.error().message.c_str(), -1);
  give_text(context, headings_of(split_page(*text).body));
}

void sql_size(sqlite3_context* context, int, sqlite3_value** values) {
  auto text = decompress(blob_of(values[0]));
  sqlite3_result_int64(context, text ? static_cast<sqlite3_int64>(text->size()) : 0);
}

void sql_body(sqlite3_context* context, int, sqlite3_value** values) {
  auto text = decompress(blob_of(values[0]));
  auto extra = decompress(blob_of(values[1]));
  if (!text || !extra) return sqlite3_result_error(context, "damaged text", -1);
  give_text(context, std::string(split_page(*text).body) + "\n" + *extra);
}

/// Positions in a field have fewer bits than this: a page has at most 8 MiB, its record 1 GiB.
constexpr unsigned kFieldShift = 29;

/// The fields of pages that the columns of `code` correspond to.
constexpr std::array<FtsField, 2> kCodeFields{FtsField::title, FtsField::body};

/// Appends the current row, with a posting for each phrase of the expression for which
/// `fill(position, posting)` returns true.
template <class Fill>
void collect_row(const Fts5ExtensionApi* api, Fts5Context* fts, Fill fill) {
  auto& out = *static_cast<Postings*>(api->xUserData(fts));
  const auto row = static_cast<std::uint32_t>(out.rows.size());
  out.rows.push_back(api->xRowid(fts));
  const auto places =
      std::min(static_cast<std::size_t>(api->xPhraseCount(fts)), out.phrase_of.size());
  for (std::size_t place = 0; place < places; ++place) {
    if (out.phrase_of[place] == Postings::kNone) continue;
    Posting posting{row, out.phrase_of[place], {}};
    if (fill(static_cast<int>(place), posting)) out.postings.push_back(posting);
  }
}

/// Counts in the postings of the current row, which begin at `first`, how often each phrase follows
/// the one before it.
void count_following(Postings& out, std::size_t first) {
  for (auto i = first; i < out.postings.size(); ++i) {
    auto& posting = out.postings[i];
    const auto before = out.before[posting.phrase];
    if (before == Postings::kNone) continue;
    const auto& earlier = out.places[before];
    auto at = earlier.begin();
    for (const auto place : out.places[posting.phrase]) {
      while (at != earlier.end() && *at + 1 < place) ++at;
      if (at == earlier.end()) break;
      if (*at + 1 == place) ++posting.following[place >> kFieldShift];
    }
  }
}

void collect(const Fts5ExtensionApi* api, Fts5Context* fts, sqlite3_context* context, int,
             sqlite3_value**) {
  auto& out = *static_cast<Postings*>(api->xUserData(fts));
  const auto first = out.postings.size();
  const bool placed = !out.before.empty();
  if (placed) out.places.resize(std::max(out.places.size(), out.before.size()));
  for (auto& places : out.places) places.clear();
  collect_row(api, fts, [&](int place, Posting& posting) {
    Fts5PhraseIter at;
    int column = -1;
    int offset = 0;
    if (api->xPhraseFirst(fts, place, &at, &column, &offset) != SQLITE_OK || column < 0)
      return false;
    for (; column >= 0; api->xPhraseNext(fts, &at, &column, &offset)) {
      auto& count = posting.counts[static_cast<std::size_t>(column)];
      if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
      if (placed)
        out.places[posting.phrase].push_back(static_cast<std::uint32_t>(column) << kFieldShift |
                                             static_cast<std::uint32_t>(offset));
    }
    return true;
  });
  if (placed) count_following(out, first);
  sqlite3_result_null(context);
}

void collect_code(const Fts5ExtensionApi* api, Fts5Context* fts, sqlite3_context* context, int,
                  sqlite3_value**) {
  collect_row(api, fts, [&](int place, Posting& posting) {
    Fts5PhraseIter at;
    int column = -1;
    if (api->xPhraseFirstColumn(fts, place, &at, &column) != SQLITE_OK || column < 0) return false;
    for (; column >= 0; api->xPhraseNextColumn(fts, &at, &column))
      posting.counts[static_cast<std::size_t>(kCodeFields[static_cast<std::size_t>(column)])] = 1;
    return true;
  });
  sqlite3_result_null(context);
}

}  // namespace

Status register_functions(sqlite3* database) {
  auto api = fts5_of(database);
  if (!api) return api.error();
  fts5_tokenizer tokenizer{create_tokenizer, delete_tokenizer, run_tokenizer};
  fts5_tokenizer terms{create_tokenizer, delete_tokenizer, run_terms};
  if ((*api)->xCreateTokenizer(*api, "code", nullptr, &tokenizer, nullptr) != SQLITE_OK ||
      (*api)->xCreateTokenizer(*api, "terms", nullptr, &terms, nullptr) != SQLITE_OK)
    return fts_error(database);
  constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  if (sqlite3_create_function(database, "kb_headings", 1, kPure, nullptr, sql_headings, nullptr,
                              nullptr) != SQLITE_OK ||
      sqlite3_create_function(database, "kb_size", 1, kPure, nullptr, sql_size, nullptr, nullptr) !=
          SQLITE_OK ||
      sqlite3_create_function(database, "kb_body", 2, kPure, nullptr, sql_body, nullptr, nullptr) !=
          SQLITE_OK)
    return fts_error(database);
  return {};
}

Status register_collector(sqlite3* database, Postings& postings) {
  auto api = fts5_of(database);
  if (!api) return api.error();
  if ((*api)->xCreateFunction(*api, "collect", &postings, collect, nullptr) != SQLITE_OK ||
      (*api)->xCreateFunction(*api, "collect_code", &postings, collect_code, nullptr) != SQLITE_OK)
    return fts_error(database);
  return {};
}

}  // namespace ratchet::kbs

#include "kbs/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kMaxTerm = 64;  // bytes; longer runs are hashes or data that nobody looks up

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr auto kWordBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c)
    table[c] =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  return table;
}();

bool is_word(char c) {
  return kWordBytes[static_cast<unsigned char>(c)];
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint read_code_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  std::size_t bytes = 0;
  if (lead >= 0xC2 && lead <= 0xDF) bytes = 2;
  if (lead >= 0xE0 && lead <= 0xEF) bytes = 3;
  if (lead >= 0xF0 && lead <= 0xF4) bytes = 4;
  if (bytes == 0 || at + bytes > text.size()) return {};
  std::uint32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  return {value, bytes, true};
}

void append_utf8(std::string& out, std::uint32_t value) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
  };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0U | (value >> 6U));
    tail(0);
  } else if (value < 0x10000) {
    out += static_cast<char>(0xE0U | (value >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Folds a non-ASCII letter as SQLite's unicode61 does for Latin, Greek and Cyrillic; 0 marks a
/// separator.
std::uint32_t fold(std::uint32_t c) {
  static constexpr std::string_view kLatin1 =
      "aaaaaa ceeeeiiii nooooo ouuuuy  aaaaaa ceeeeiiii nooooo ouuuuy y";
  if (c == 0xB5) return 0x3BC;  // micro sign to Greek mu
  if (c < 0xC0) return 0;
  if (c == 0xD7 || c == 0xF7) return 0;  // multiplication and division signs
  if (c <= 0xFF) {
    static_assert(kLatin1.size() == 64);
    const char plain = kLatin1[c - 0xC0];
    return plain != ' ' ? static_cast<std::uint32_t>(plain) : (c < 0xDF ? c + 0x20 : c);
  }
  if (c >= 0x391 && c <= 0x3A9) return c + 0x20;
  if (c >= 0x410 && c <= 0x42F) return c + 0x20;
  const bool punctuation = (c >= 0x2000 && c <= 0x206F) || (c >= 0x2190 && c <= 0x2BFF) ||
                           (c >= 0x3000 && c <= 0x303F) || (c >= 0xFE00 && c <= 0xFE0F) ||
                           (c >= 0xFF00 && c <= 0xFF0F) || c == 0xFEFF || c >= 0x1F000;
  return punctuation ? 0 : c;
}

bool has_vowel(std::string_view word) {
  return word.find_first_of("aeiouy") != std::string_view::npos;
}

bool ends_with_any(std::string_view word, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](auto ending) { return word.ends_with(ending); });
}

/// Gives a stem its American spelling, so that both spellings have one term: `optimis(e)`,
/// `vectorisation`, `analys(e)`, `behaviour`. `shortened` says that an ending was cut off: `basis`
/// and `axis` are no such verbs.
void make_american(std::string& stem, bool shortened) {
  constexpr std::size_t kShortest = 5;  // not "rise", "wise"
  constexpr std::array<std::string_view, 9> kOur{"behaviour", "colour", "favour",
                                                 "flavour",   "honour", "labour",
                                                 "neighbour", "rigour", "vapour"};
  const std::string_view word = stem;
  if (word.size() < kShortest) return;
  std::size_t s = 0;  // place of the letter in question
  if (shortened && word.back() == 's' && (word.ends_with("is") || word.ends_with("ys")))
    s = word.size() - 1;
  else if (word.back() == 'n' && word.ends_with("isation"))
    s = word.size() - 6;
  else if (word.back() == 'r' && word.ends_with("iser"))
    s = word.size() - 3;
  // Not "rowwise", "precise", "noise", "praise".
  if (s >= 3 && std::string_view("wcoa").find(word[s - 2]) == std::string_view::npos) stem[s] = 'z';
  if (const auto at = word.find("our"); at != std::string_view::npos && at >= 3)
    for (const auto known : kOur)
      if (word.starts_with(known)) return void(stem.erase(at + 1, 1));
}

/// The term of a word without inner boundaries.
std::string word_term(std::string_view word) {
  const bool letters = std::ranges::all_of(word, [](char c) { return is_lower(c) || is_upper(c); });
  // "SMs", "CTAs": the plural of an abbreviation.
  if (letters && word.size() >= 3 && word.back() == 's' &&
      std::all_of(word.begin(), word.end() - 1, is_upper))
    word.remove_suffix(1);
  auto term = lowered(word);
  if (!letters) return term;
  auto stemmed = stem(term);
  make_american(stemmed, stemmed.size() < term.size());
  return stemmed;
}

/// Splits `TensorMap`, `GEMMKernel`, `fp8Quantize` and `merge_attn` into parts of at least two
/// characters. Empty when there is nothing to split.
std::vector<std::string_view> inner_parts(std::string_view atom) {
  std::vector<std::string_view> parts;
  bool cut = false;
  for (std::size_t begin = 0; begin < atom.size();) {
    const auto end = std::min(atom.find('_', begin), atom.size());
    const auto piece = atom.substr(begin, end - begin);
    begin = end + 1;
    cut = cut || piece.size() != atom.size();
    std::vector<std::string_view> camel;
    std::size_t start = 0;
    for (std::size_t i = 1; i < piece.size(); ++i) {
      const bool rises = is_upper(piece[i]) && !is_upper(piece[i - 1]);
      const bool falls = is_upper(piece[i]) && i + 1 < piece.size() && is_lower(piece[i + 1]) &&
                         is_upper(piece[i - 1]);
      if (!rises && !falls) continue;
      camel.push_back(piece.substr(start, i - start));
      start = i;
    }
    camel.push_back(piece.substr(start));
    // "MoE", "SMs", "SM100A": single letters do not count as parts.
    const bool meaningful =
        camel.size() > 1 && std::ranges::all_of(camel, [](auto part) { return part.size() >= 2; });
    if (meaningful) {
      cut = true;
      parts.insert(parts.end(), camel.begin(), camel.end());
    } else if (piece.size() >= 2) {
      parts.push_back(piece);
    }
  }
  return cut ? parts : std::vector<std::string_view>{};
}

/// A run of word characters with `.` or `::` between them.
struct Chunk {
  std::string_view text;
  std::vector<std::pair<std::size_t, std::size_t>> atoms;  // begin and end within `text`
};

/// Length of the separator at `at` if it joins two parts of an identifier; otherwise 0.
std::size_t inner_separator(std::string_view text, std::size_t at) {
  if (text[at] == '.' && at + 1 < text.size() && is_word(text[at + 1])) return 1;
  if (text.substr(at, 2) == "::" && at + 2 < text.size() && is_word(text[at + 2])) return 2;
  return 0;
}

Chunk read_chunk(std::string_view text, std::size_t begin) {
  Chunk chunk;
  std::size_t at = begin;
  std::size_t atom = begin;
  while (at < text.size()) {
    if (is_word(text[at])) {
      ++at;
      continue;
    }
    const auto separator = inner_separator(text, at);
    if (separator == 0) break;
    chunk.atoms.emplace_back(atom - begin, at - begin);
    at += separator;
    atom = at;
  }
  chunk.atoms.emplace_back(atom - begin, at - begin);
  chunk.text = text.substr(begin, at - begin);
  return chunk;
}

struct Terms {
  std::string whole;
  std::vector<std::string> parts;
};

void add_part(Terms& terms, std::string part) {
  if (part.size() < 2 || part.size() > kMaxTerm || part == terms.whole) return;
  if (std::ranges::find(terms.parts, part) == terms.parts.end())
    terms.parts.push_back(std::move(part));
}

Terms terms_of(const Chunk& chunk) {
  Terms terms;
  const bool number =
      std::ranges::all_of(chunk.text, [](char c) { return is_digit(c) || c == '.'; });
  if (number) return {lowered(chunk.text), {}};
  const bool dotted = chunk.atoms.size() > 1;
  if (!dotted && inner_parts(chunk.text).empty()) return {word_term(chunk.text), {}};

  terms.whole = lowered(chunk.text);
  for (std::size_t i = 0; i < chunk.atoms.size(); ++i) {
    const auto [begin, end] = chunk.atoms[i];
    const auto atom = chunk.text.substr(begin, end - begin);
    if (dotted && i > 0 && i + 1 < chunk.atoms.size())
      add_part(terms, lowered(chunk.text.substr(0, end)));
    const auto inner = inner_parts(atom);
    if (dotted) add_part(terms, inner.empty() ? word_term(atom) : lowered(atom));
    for (const auto part : inner) add_part(terms, word_term(part));
  }
  return terms;
}

bool emit(const Chunk& chunk, std::size_t begin, const std::string& compound,
          const std::function<bool(const Token&)>& sink) {
  const auto terms = terms_of(chunk);
  const auto end = begin + chunk.text.size();
  bool first = true;
  const auto send = [&](const std::string& term) {
    if (term.empty() || term.size() > kMaxTerm) return true;
    const bool more = sink({term, begin, end, !first});
    first = false;
    return more;
  };
  if (!send(terms.whole)) return false;
  return std::ranges::all_of(terms.parts, send) && send(compound);
}

/// Reads a run that contains non-ASCII letters into `term`, folded and never split. Returns its
/// end.
std::size_t read_foreign(std::string_view text, std::size_t begin, std::string& term) {
  term.clear();
  std::size_t at = begin;
  while (at < text.size()) {
    if (is_word(text[at])) {
      term += lower(text[at++]);
      continue;
    }
    if (static_cast<unsigned char>(text[at]) < 0x80) break;
    const auto point = read_code_point(text, at);
    const auto folded = point.valid ? fold(point.value) : 0;
    if (folded == 0) break;
    append_utf8(term, folded);
    at += point.bytes;
  }
  return at;
}

bool starts_foreign(std::string_view text, std::size_t at) {
  if (at >= text.size() || static_cast<unsigned char>(text[at]) < 0x80) return false;
  const auto point = read_code_point(text, at);
  return point.valid && fold(point.value) != 0;
}

/// The term of two words of letters around a hyphen, written as one: `topk` for `top-k`. Empty for
/// anything else; `a-b` is a difference, and of `row-by-row` no two words belong together.
std::string compound_term(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t kShortest = 5;
  if (end >= text.size() || text[end] != '-' || (begin > 0 && text[begin - 1] == '-')) return {};
  auto last = end + 1;
  while (last < text.size() && is_word(text[last])) ++last;
  if (last == end + 1 || last - begin < kShortest) return {};
  if (last < text.size() &&
      (text[last] == '-' || inner_separator(text, last) > 0 || starts_foreign(text, last)))
    return {};
  const auto word =
      std::string(text.substr(begin, end - begin)).append(text.substr(end + 1, last - end - 1));
  const bool letters = std::ranges::all_of(word, [](char c) { return is_lower(lower(c)); });
  return letters && word.size() <= kMaxTerm ? word_term(word) : std::string{};
}

/// Calls `on_chunk(Chunk, begin)` and `on_foreign(term, begin, end)`; either returns false to stop.
template <class OnChunk, class OnForeign>
void scan(std::string_view text, OnChunk on_chunk, OnForeign on_foreign) {
  std::string foreign;
  for (std::size_t at = 0; at < text.size();) {
    if (is_word(text[at])) {
      const auto chunk = read_chunk(text, at);
      const auto end = at + chunk.text.size();
      if (!starts_foreign(text, end)) {
        if (!on_chunk(chunk, at)) return;
        at = end;
        continue;
      }
    } else if (!starts_foreign(text, at)) {
      ++at;
      continue;
    }
    const auto end = read_foreign(text, at, foreign);
    if (!foreign.empty() && foreign.size() <= kMaxTerm && !on_foreign(foreign, at, end)) return;
    at = std::max(end, at + 1);
  }
}

}  // namespace

std::string stem(std::string_view word) {
  std::string out(word);
  if (out.size() < 4) return out;
  if (out.ends_with("ies") && out.size() > 4)
    out.replace(out.size() - 3, 3, "y");
  else if (out.back() == 's' && !ends_with_any(out, {"us", "ss", "is"}))
    out.pop_back();

  for (const std::string_view ending : {"ing", "ed"}) {
    if (!out.ends_with(ending) || out.ends_with("eed")) continue;
    const auto rest = std::string_view(out).substr(0, out.size() - ending.size());
    if (rest.size() < 3 || !has_vowel(rest)) continue;
    out.resize(rest.size());
    const char last = out.back();
    if (out.size() >= 4 && last == out[out.size() - 2] && last != 'l' && last != 's' && last != 'z')
      out.pop_back();
    break;
  }
  if (out.size() >= 4 && out.back() == 'e') out.pop_back();
  return out;
}

void tokenize(std::string_view text, const std::function<bool(const Token&)>& sink) {
  scan(
      text,
      [&](const Chunk& chunk, std::size_t begin) {
        return emit(chunk, begin, compound_term(text, begin, begin + chunk.text.size()), sink);
      },
      [&](const std::string& term, std::size_t begin, std::size_t end) {
        return sink({term, begin, end, false});
      });
}

Stretch next_stretch(std::string_view text, std::size_t from) {
  std::string foreign;
  for (std::size_t at = from; at < text.size();) {
    if (is_word(text[at])) {
      auto end = at + 1;
      for (std::size_t more = 1; more > 0 && end < text.size(); end += more)
        more = is_word(text[end]) ? 1 : inner_separator(text, end);
      if (!starts_foreign(text, end)) return {at, end};
    } else if (!starts_foreign(text, at)) {
      ++at;
      continue;
    }
    return {at, std::max(read_foreign(text, at, foreign), at + 1)};
  }
  return {text.size(), text.size()};
}

std::vector<QueryWord> query_words(std::string_view text, std::size_t limit) {
  std::vector<QueryWord> words;
  const auto add = [&](QueryWord word) {
    if (!word.term.empty() && word.term.size() <= kMaxTerm) words.push_back(std::move(word));
    return words.size() < limit;
  };
  scan(
      text,
      [&](const Chunk& chunk, std::size_t begin) {
        auto terms = terms_of(chunk);
        return add({lowered(chunk.text), std::move(terms.whole), std::move(terms.parts),
                    compound_term(text, begin, begin + chunk.text.size())});
      },
      [&](const std::string& term, std::size_t, std::size_t) { return add({term, term, {}, {}}); });
  return words;
}

}  // namespace ratchet::kbs

#include "kbs/text/term_set.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kbs/text/fast_hash.h"
#include "kbs/text/tokenizer.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kSlots = 1U << 10U;  // per text; most parts have about a hundred terms
constexpr std::size_t kKnownSlots = 1U << 20U;
constexpr std::size_t kRemembered = kKnownSlots / 2;
constexpr std::size_t kLongest = 64;  // bytes; longer stretches are not cached
constexpr std::uint32_t kUnknown = ~0U;

/// Stems that occur in nearly every part. Sorted.
constexpr std::array<std::string_view, 48> kEverywhere{
    "and",   "are",    "as",    "assert", "auto",    "be",    "bool", "by",
    "class", "const",  "def",   "els",    "fals",    "float", "for",  "from",
    "if",    "import", "in",    "includ", "inlin",   "int",   "is",   "it",
    "let",   "non",    "not",   "of",     "on",      "or",    "pass", "return",
    "self",  "std",    "str",   "struct", "templat", "that",  "the",  "thi",
    "this",  "to",     "torch", "tru",    "typenam", "use",   "void", "with"};
static_assert(std::ranges::is_sorted(kEverywhere));

}  // namespace

bool is_code_stop_word(std::string_view term) {
  if (term.size() < 2) return true;
  // Long runs of digits are hashes, addresses or data.
  const bool number = std::ranges::all_of(term, [](char c) { return c >= '0' && c <= '9'; });
  if (number) return term.size() > 5;
  return term.size() < 9 && std::ranges::binary_search(kEverywhere, term);
}

TermSet::TermSet() : stretches_(kSlots), terms_(kSlots) {}

void TermSet::Seen::next_text() {
  ++round_;
  used_ = 0;
}

bool TermSet::Seen::insert(std::uint64_t hash) {
  if (used_ * 2 >= slots_.size()) grow();
  const auto mask = slots_.size() - 1;
  for (auto at = static_cast<std::size_t>(hash >> 32U) & mask;; at = (at + 1) & mask) {
    auto& slot = slots_[at];
    if (slot.round == round_ && slot.hash == hash) return false;
    if (slot.round == round_) continue;
    slot = {hash, round_};
    ++used_;
    return true;
  }
}

void TermSet::Seen::grow() {
  auto old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  used_ = 0;
  for (const auto& slot : old)
    if (slot.round == round_) insert(slot.hash);
}

/// Appends the terms of a stretch to `bytes_` and returns the number of bytes added.
std::size_t TermSet::cut(std::string_view stretch) {
  const auto begin = bytes_.size();
  tokenize(stretch, [&](const Token& token) {
    if (is_code_stop_word(token.text)) return true;
    bytes_.push_back(static_cast<char>(token.text.size()));  // terms have at most 64 bytes
    bytes_.append(token.text);
    return true;
  });
  return bytes_.size() - begin;
}

void TermSet::add_terms(std::size_t begin, std::size_t size) {
  for (auto at = begin; at < begin + size;) {
    const auto length = static_cast<unsigned char>(bytes_[at]);
    const auto term = std::string_view(bytes_).substr(at + 1, length);
    at += length + 1U;
    if (!terms_.insert(fast_hash(term))) continue;
    joined_.append(term).push_back(' ');
    ++count_;
  }
}

void TermSet::add_stretch(std::string_view stretch, std::uint64_t hash) {
  const auto mask = known_.size() - 1;
  auto slot = static_cast<std::size_t>(hash >> 32U) & mask;
  for (; known_[slot].size != kUnknown; slot = (slot + 1) & mask)
    if (known_[slot].hash == hash) return add_terms(known_[slot].begin, known_[slot].size);
  const auto begin = bytes_.size();
  const auto size = cut(stretch);
  add_terms(begin, size);
  if (stretch.size() > kLongest || remembered_ >= kRemembered) return bytes_.resize(begin);
  known_[slot] = {hash, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)};
  ++remembered_;
}

std::string_view TermSet::terms_of(std::string_view text) {
  if (known_.empty()) known_.assign(kKnownSlots, Known{0, 0, kUnknown});  // 16 MB: only if needed
  joined_.clear();
  count_ = 0;
  stretches_.next_text();
  terms_.next_text();
  for (auto at = next_stretch(text, 0); at.begin < text.size(); at = next_stretch(text, at.end)) {
    const auto stretch = text.substr(at.begin, at.end - at.begin);
    if (stretch.size() < 2) continue;
    const auto hash = fast_hash(stretch);
    if (stretches_.insert(hash)) add_stretch(stretch, hash);
  }
  return joined_;
}

}  // namespace ratchet::kbs

#include "kbs/term_set.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kbs/tokenizer.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kSlots = 1U << 14U;
constexpr std::size_t kKnown = 200'000;  // stretches remembered
constexpr std::size_t kLongest = 64;     // longer stretches are not worth it

/// 64-bit hash of a short text, eight bytes at a time.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U ^ text.size();
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32U;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  if (at < text.size()) std::memcpy(&rest, text.data() + at, text.size() - at);
  mix(rest);
  return hash * 0x9E3779B97F4A7C15U;
}

}  // namespace

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

const std::string& TermSet::terms_of_stretch(std::string_view stretch, std::uint64_t hash) {
  if (const auto found = known_.find(hash); found != known_.end()) return found->second;
  uncommon_.clear();
  tokenize(stretch, [&](const Token& token) {
    uncommon_.append(token.text).push_back(' ');
    return true;
  });
  if (stretch.size() > kLongest || known_.size() >= kKnown) return uncommon_;
  return known_.emplace(hash, uncommon_).first->second;
}

void TermSet::add_terms(std::string_view joined) {
  for (std::size_t begin = 0; begin < joined.size();) {
    const auto end = std::min(joined.find(' ', begin), joined.size());
    const auto term = joined.substr(begin, end - begin);
    begin = end + 1;
    if (!terms_.insert(hash_of(term))) continue;
    joined_.append(term).push_back(' ');
    ++count_;
  }
}

std::string_view TermSet::terms_of(std::string_view text) {
  joined_.clear();
  count_ = 0;
  stretches_.next_text();
  terms_.next_text();
  for (auto at = next_stretch(text, 0); at.begin < text.size(); at = next_stretch(text, at.end)) {
    const auto stretch = text.substr(at.begin, at.end - at.begin);
    const auto hash = hash_of(stretch);
    if (stretches_.insert(hash)) add_terms(terms_of_stretch(stretch, hash));
  }
  return joined_;
}

}  // namespace ratchet::kbs

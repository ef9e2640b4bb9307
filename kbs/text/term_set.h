#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// Extracts the distinct index terms of one piece of code after another: what `tokenize` finds,
/// without keywords, stop words and single letters. Code repeats its names, so the terms of each
/// name are computed once and cached across texts.
///
/// Not thread-safe. The cache is limited to about 40 MB.
class TermSet {
 public:
  TermSet();

  /// The terms of `text`, each once, in order of first appearance, separated by spaces. The view is
  /// valid until the next call.
  [[nodiscard]] std::string_view terms_of(std::string_view text);
  /// Number of terms found by the last call.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  /// A set of hashes for the current text. Slots with another round number count as empty, so
  /// starting a new text costs nothing.
  class Seen {
   public:
    explicit Seen(std::size_t size) : slots_(size) {}
    void next_text();
    /// False when the hash was already present.
    bool insert(std::uint64_t hash);

   private:
    struct Slot {
      std::uint64_t hash = 0;
      std::uint32_t round = 0;
    };
    void grow();

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::uint32_t round_ = 0;
  };

  /// Cache entry: where the terms of a stretch are stored in `bytes_`, each preceded by a length
  /// byte.
  struct Known {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0;
    std::uint32_t size = 0;  ///< bytes; kUnknown in a free slot
  };

  void add_stretch(std::string_view stretch, std::uint64_t hash);
  void add_terms(std::size_t begin, std::size_t size);
  std::size_t cut(std::string_view stretch);

  Seen stretches_, terms_;
  std::vector<Known> known_;  // open addressing, by hash
  std::size_t remembered_ = 0;
  std::string bytes_;
  std::string joined_;
  std::size_t count_ = 0;
};

/// True for a term that is too common in code to be indexed. Pure.
[[nodiscard]] bool is_code_stop_word(std::string_view term);

}  // namespace ratchet::kbs

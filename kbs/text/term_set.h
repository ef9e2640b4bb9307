#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// The distinct index terms of one text of code after another, as `tokenize` finds them, without
/// what says nothing about code: words of the languages themselves, stop words and single letters.
/// Code repeats its names, so each name is cut once and remembered.
///
/// One user at a time. Remembers at most some forty megabytes.
class TermSet {
 public:
  TermSet();

  /// The terms of `text`, each once, in order of first appearance, separated by blanks. The view
  /// lives until the next call.
  [[nodiscard]] std::string_view terms_of(std::string_view text);
  /// Terms that the last call found.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  /// Hashes of what the current text showed already; slots of other texts carry another round.
  class Seen {
   public:
    explicit Seen(std::size_t size) : slots_(size) {}
    void next_text();
    /// False when it was there.
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

  /// Where the terms of a stretch stand in `bytes_`, each behind a byte that holds its length.
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

/// True for a term that is not indexed for code. Pure.
[[nodiscard]] bool says_nothing_of_code(std::string_view term);

}  // namespace ratchet::kbs

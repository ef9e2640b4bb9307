#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ratchet::kbs {

/// The distinct index terms of one text after another, as `tokenize` finds them. Code repeats its
/// names, so each name is cut once and remembered.
///
/// One user at a time. Remembers at most some ten megabytes.
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

  void add_terms(std::string_view joined);
  const std::string& terms_of_stretch(std::string_view stretch, std::uint64_t hash);

  Seen stretches_, terms_;
  std::unordered_map<std::uint64_t, std::string> known_;  // by hash of the stretch
  std::string uncommon_;
  std::string joined_;
  std::size_t count_ = 0;
};

}  // namespace ratchet::kbs

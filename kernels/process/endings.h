#pragma once

#include <thread>
#include <utility>
#include <vector>

namespace ratchet {

/// Processes that end aside, all at once: one on a GPU takes a tenth of a second for it, in which
/// its owner may go on. Owned by one thread at a time.
class Endings {
 public:
  /// Takes what owns processes and destroys it on a thread of its own, which begins at once.
  template <class Owner>
  void add(Owner owner) {
    threads_.emplace_back(
        [owner = std::move(owner)]() mutable { const auto over = std::move(owner); });
  }

  /// Returns when all have ended; so does the destructor.
  void wait() { threads_.clear(); }

 private:
  std::vector<std::jthread> threads_;
};

/// Owners of processes by what they are for. Those that are left end with it, all at once.
template <class Key, class Owner>
struct EndTogether {
  EndTogether() = default;
  EndTogether(EndTogether&&) = default;
  EndTogether& operator=(EndTogether&& other) noexcept {
    std::swap(all, other.all);  // which end with the other
    return *this;
  }
  EndTogether(const EndTogether&) = delete;
  EndTogether& operator=(const EndTogether&) = delete;
  ~EndTogether() {
    Endings endings;
    for (auto& [key, owner] : all) endings.add(std::move(owner));
  }

  std::vector<std::pair<Key, Owner>> all;
};

}  // namespace ratchet

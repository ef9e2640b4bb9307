#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ratchet::bench {

/// What something took: on the clock, and of processors by this process and its threads.
struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
};

/// Runs `work` in a process of its own, so that its memory does not count as ours. Empty when it
/// failed, which it says on stderr.
[[nodiscard]] std::vector<Cost> in_child(const std::function<std::vector<Cost>()>& work);

/// Cost of `work` in this process.
[[nodiscard]] Cost cost_of(const std::function<void()>& work);

/// `share` of the values are at most this.
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// Memory of this process that no file stands behind, in MB.
[[nodiscard]] double anonymous_mb();

/// Seconds of a shell command; its output is dropped.
[[nodiscard]] double shell_s(const std::string& command);

/// What plain single-threaded FTS5 takes for every text of our index at `index`: content stored,
/// tokenizer unicode61, one transaction, into a file at `target`. Unpacking the texts is not
/// counted.
[[nodiscard]] Cost plain_fts5(const std::filesystem::path& index,
                              const std::filesystem::path& target);

}  // namespace ratchet::bench

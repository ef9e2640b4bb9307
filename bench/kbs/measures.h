#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ratchet::bench {

/// Wall time, and processor time of this process with all its threads.
struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
};

/// Runs `work` in a child process, so that its memory does not count as this process's. Empty on
/// failure, which is reported on stderr.
[[nodiscard]] std::vector<Cost> in_child(const std::function<std::vector<Cost>()>& work);

/// Cost of `work` in this process.
[[nodiscard]] Cost cost_of(const std::function<void()>& work);

/// The value that `share` of the values do not exceed.
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// Anonymous memory of this process, in MB.
[[nodiscard]] double anonymous_mb();

/// Seconds that a shell command takes; its output is discarded.
[[nodiscard]] double shell_s(const std::string& command);

/// The cost of indexing every text of the index at `index` with plain single-threaded FTS5: content
/// stored, tokenizer unicode61, one transaction, into a file at `target`. Decompressing the texts
/// is not counted.
[[nodiscard]] Cost plain_fts5(const std::filesystem::path& index,
                              const std::filesystem::path& target);

}  // namespace ratchet::bench

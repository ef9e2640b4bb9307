#pragma once

#include <span>
#include <string>

#include "kernels/disassembly/machine_code.h"
#include "server/facts/version_diff.h"

namespace ratchet {

/// What differs between two profiled versions, but for their machine code. Times are those of each
/// version's own session; where one was timed against the other, the paired ratio is added. Pure.
[[nodiscard]] VersionDiff diff_of(const ComparedVersion& a, const ComparedVersion& b);

/// Instructions by opcode, largest change first.
[[nodiscard]] std::vector<ValuePair> code_diff(std::span<const CodeFunction> a,
                                               std::span<const CodeFunction> b);

/// The lines that differ, "-" of a and "+" of b, at most `most` of them; the rest is counted.
[[nodiscard]] std::string line_diff(const std::string& a, const std::string& b, std::size_t most);

}  // namespace ratchet

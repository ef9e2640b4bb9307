#pragma once

#include <span>
#include <string>

#include "kernels/disassembly/machine_code.h"
#include "server/facts/version_diff.h"

namespace ratchet {

/// The differences between two profiled versions, except their machine code. Times are from each
/// version's own session; if one was timed against the other, the paired ratio is added. Pure.
[[nodiscard]] VersionDiff diff_of(const ComparedVersion& a, const ComparedVersion& b);

/// Instructions by opcode, largest change first.
[[nodiscard]] std::vector<ValuePair> code_diff(std::span<const CodeFunction> a,
                                               std::span<const CodeFunction> b);

/// The differing lines, "-" of a and "+" of b, at most `most`; the rest are counted.
[[nodiscard]] std::string line_diff(const std::string& a, const std::string& b, std::size_t most);

}  // namespace ratchet

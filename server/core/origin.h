#pragma once

#include <string>
#include <string_view>

namespace ratchet {

/// Who wrote the texts of a record, if not this program: a compiler, a kernel, an added corpus.
/// Empty: this program.
///
/// A record with a member `Origin origin`, or with `static constexpr std::string_view kOrigin`
/// where its texts are always foreign, is marked wherever it is encoded, also as the base of
/// another and whatever fields that lists: with `origin`, `untrusted: true`, and in the text of an
/// answer by a fence (see `fenced`). So a record that carries foreign text needs only this member.
struct Origin {
  std::string name;
};

/// The key beside `origin` in JSON; its value is true.
inline constexpr const char* kUntrusted = "untrusted";

/// What stands before foreign text on every one of its lines.
inline constexpr std::string_view kFence = "¦ ";

/// `text` with `kFence` before every line, after `margin`. No text can end the fence: whatever may
/// be read as the end of a line begins a new fenced one. Ends with a line end.
[[nodiscard]] std::string fenced(std::string_view text, std::string_view margin = "");

/// Foreign text for the end of a message: behind `kFence` on the same line, or on lines of its own
/// if there are several.
[[nodiscard]] std::string behind_fence(std::string_view text);

}  // namespace ratchet

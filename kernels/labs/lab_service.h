#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "kernels/lab.h"
#include "kernels/labs/lab_stream.h"

namespace ratchet {

/// How long a server may say nothing; it says every five seconds that it is alive. More than the
/// minute after which it gives up a lab itself, so that of the two the server learns first that the
/// line is dead, and no longer, because what the lab runs on may cost money.
inline constexpr std::chrono::milliseconds kServerSilence{180'000};

/// Lets a server on the other end of the stream use a lab: the command `ratchet lab`. Answers
/// several requests at a time, each on a thread of its own, and says that it is alive every few
/// seconds. It has no runs, no ledger and no keys. Sources with headers of their own are written to
/// a temporary folder, which goes with the last request. Long texts are kept in `texts`, so that
/// they are sent once.
///
/// Returns when the stream ends or `stop` is requested; what is under way is then canceled, after a
/// call of `at_end`. Errors: what the other end sent is no request; `unavailable` when nothing came
/// for `silence`, as when its network is gone without an end of the stream.
Status serve_lab(Lab& lab, LabStream& stream, const std::string& version,
                 const std::filesystem::path& texts, const std::stop_token& stop,
                 const std::function<void()>& at_end,
                 std::chrono::milliseconds silence = kServerSilence);

/// JSON Schemas of what crosses the line: "message", and by method, all that a lab can be asked,
/// those of a request's body and of the value in its answer. A number that is not finite is null.
[[nodiscard]] std::map<std::string, Json> lab_schemas();

}  // namespace ratchet

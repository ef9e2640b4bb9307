#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/lab.h"
#include "kernels/labs/lab_stream.h"

namespace ratchet {

/// Lets a server on the other end of the stream use a lab: the command `ratchet lab`. Answers
/// several requests at a time, each on a thread of its own, and says that it is alive every few
/// seconds. It has no runs, no ledger and no keys. Sources with headers of their own are written to
/// a temporary folder, which goes with the last request. Long texts are kept in `texts`, so that
/// they are sent once.
///
/// Returns when the stream ends or `stop` is requested; what is under way is then canceled, after a
/// call of `at_end`. Errors:
/// what the other end sent is no request.
Status serve_lab(Lab& lab, LabStream& stream, const std::string& version,
                 const std::filesystem::path& texts, const std::stop_token& stop,
                 const std::function<void()>& at_end);

/// What it can be asked, in alphabetical order.
[[nodiscard]] std::vector<std::string> lab_methods();

}  // namespace ratchet

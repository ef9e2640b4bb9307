#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/lab.h"
#include "kernels/labs/remote_lab.h"

namespace ratchet {

/// Several labs as one: what belongs to a contract goes to the lab that the contract names, all
/// else to this machine's. Threads and errors as `Lab`, and `not_found` for a lab that this server
/// was not started with.
[[nodiscard]] std::unique_ptr<Lab> lab_set(std::unique_ptr<Lab> local,
                                           std::vector<RemoteLabOptions> remote);

/// Ends the commands of a set's labs, all at once, and waits for that, at most `patience`. Calls
/// that come later fail. Does nothing to other labs.
void end_labs(Lab& set, std::chrono::milliseconds patience);

/// 1 to 64 letters, digits, dots, dashes and underscores.
[[nodiscard]] bool is_lab_name(std::string_view name);

/// `NAME=COMMAND`. Errors: `invalid_argument`.
[[nodiscard]] Result<RemoteLabOptions> parse_lab(const std::string& text);

}  // namespace ratchet

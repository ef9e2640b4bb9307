#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/confine/landlock.h"

namespace ratchet::confine {

/// Drops all capabilities but `kept`, which only root keeps, and all supplementary groups. If the
/// server is root and `becomes_other` is true, the process becomes the owner of `folder`, its
/// private one; the server gave that to a user that nobody else has. It remains root if another
/// user could not reach that folder or the files in `needed`, and takes the folder. In a private
/// root only the modes of what it shows count.
[[nodiscard]] Outcome drop_privileges(std::uint64_t kept, bool becomes_other,
                                      const std::string& folder,
                                      const std::vector<std::string>& needed);

/// Whether this process has a user that only processes of the same private folder have.
[[nodiscard]] bool user_is_its_own();

}  // namespace ratchet::confine

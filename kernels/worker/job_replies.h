#pragma once

// What the requests of a job loop have in common. Pure, but for mappings.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/fd.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// The reply for a failure of our own.
[[nodiscard]] inline wire::Reply ours(std::string message) {
  wire::Reply reply;
  reply.error = std::move(message);
  return reply;
}

[[nodiscard]] inline wire::Reply ours(const Error& error) {
  return ours(error.message);
}

/// A request's descriptor as an arena.
[[nodiscard]] inline Result<Mapping> map_at(const std::vector<Fd>& descriptors, std::size_t index,
                                            std::int64_t bytes, Mapping::Access access) {
  if (index >= descriptors.size())
    return Error{ErrorCode::invalid_argument, "a memory file is missing from the request", ""};
  return Mapping::map(descriptors[index].get(), bytes, access);
}

}  // namespace ratchet::worker

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ratchet::wire {

/// Pieces of at least this size lie anywhere in a GPU's memory; the least that it allocates.
constexpr std::int64_t kPieceStep = std::int64_t{2} << 20;
/// Up to this size a candidate's memory consists of equal pieces; the beginning of larger memory,
/// which is for small arenas, has pieces of its own, and the rest is one piece.
constexpr std::int64_t kMostInPieces = std::int64_t{160} << 20;
constexpr std::int64_t kSmallPiece = std::int64_t{8} << 20;
constexpr int kMostPieces = 8;

/// How the memory of a candidate is cut, in bytes and in order, in at most `most` pieces. Seen on
/// H200s: calls of 4 µs are up to 1 % slower in one piece of memory than in another, so their
/// arenas lie in many; calls on large arrays differ by up to 1.6 % when one arena consists of
/// pieces, by how these lie to each other.
inline std::vector<std::int64_t> pieces_of(std::int64_t bytes, std::int64_t most) {
  const auto whole = [](std::int64_t size) {
    return (size + kPieceStep - 1) / kPieceStep * kPieceStep;
  };
  if (bytes <= kMostInPieces) {
    const auto count = std::clamp<std::int64_t>(bytes / kPieceStep, 1,
                                                std::clamp<std::int64_t>(most, 1, kMostPieces));
    return std::vector<std::int64_t>(static_cast<std::size_t>(count),
                                     whole((bytes + count - 1) / count));
  }
  const auto small = std::clamp<std::int64_t>(most - 1, 0, kMostPieces);
  std::vector<std::int64_t> pieces(static_cast<std::size_t>(small), kSmallPiece);
  pieces.push_back(whole(bytes - small * kSmallPiece));
  return pieces;
}

}  // namespace ratchet::wire

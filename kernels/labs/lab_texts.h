#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/field.h"
#include "server/core/result.h"

namespace ratchet {

/// Where in a message long texts belong: JSON pointer → SHA-256. Sources and reports are in many
/// messages, and cross the line once.
using TextPlaces = std::map<std::string, std::string>;

/// Takes strings of 256 bytes and more out of a message, each that `wanted` says yes to, and
/// returns their places.
[[nodiscard]] TextPlaces take_texts(
    Json& message,
    const std::function<bool(const std::string& digest, const std::string& text)>& wanted);

/// Puts them back. Errors: `invalid_argument` for a place that is not there or is taken, and for a
/// digest that is not among the texts.
[[nodiscard]] Status put_texts(Json& message, const TextPlaces& places,
                               const std::map<std::string, std::string>& by_digest);

/// The texts of a request, and what the lab wants of them, in pieces of whole characters. One
/// thread at a time.
class TextPieces {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  ///< of a piece

  struct Piece {
    std::string digest, text;
    std::size_t sent = 0, total = 0;  ///< bytes of all that are wanted, this piece included
  };

  void add(const std::string& digest, const std::string& text) { all_.emplace(digest, text); }
  [[nodiscard]] const std::map<std::string, std::string>& all() const { return all_; }

  /// Errors: `invalid_argument` for a digest that is not among the texts.
  [[nodiscard]] Status want(const std::vector<std::string>& digests);
  [[nodiscard]] bool wanted() const { return !wanted_.empty(); }

  /// Of the first text that is still wanted. Precondition: `wanted`.
  [[nodiscard]] Piece next();

 private:
  std::map<std::string, std::string> all_;
  std::deque<std::string> wanted_;
  std::size_t begun_ = 0;  ///< bytes of the first of these
  std::size_t sent_ = 0, total_ = 0;
};

/// The texts that a lab keeps, one file each; those that were not used for longest make room.
/// Thread-safe; several labs may share the folder.
class TextStore {
 public:
  explicit TextStore(std::filesystem::path folder,
                     std::int64_t most_bytes = std::int64_t{256} << 20U)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// Empty for one that it does not have, or that is damaged.
  [[nodiscard]] std::optional<std::string> find(const std::string& digest) const;

  /// Keeps a text if it can: a full disk costs only that it must be sent again. Error:
  /// `invalid_argument` for a text that does not have this digest.
  Status keep(const std::string& digest, const std::string& text);

 private:
  void make_room() const;

  const std::filesystem::path folder_;
  const std::int64_t most_bytes_;
  std::mutex keeping_;
};

}  // namespace ratchet

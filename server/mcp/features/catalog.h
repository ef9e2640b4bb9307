#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/tool.h"
#include "server/mcp/features/features.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// How long and by whom a stateless result may be cached.
struct Caching {
  std::int64_t ttl_ms = 0;
  bool shared = false;  ///< identical for every caller
};

/// For what does not change while the server runs.
inline constexpr Caching kStatic{.ttl_ms = 3'600'000, .shared = true};

/// The server's own description, and the members that every stateless result must have.
class Identity {
 public:
  Identity(std::string name, std::string title, std::string version);

  [[nodiscard]] const Json& info() const { return info_; }
  /// Adds `resultType`, server info and caching hints. Does nothing for a legacy request.
  void finish(Json& result, Era era, const std::optional<Caching>& caching = {}) const;

 private:
  Json info_;
};

/// A list that never changes, as serialized results: one text per page and era. They are written on
/// first use, so that the server's first answer does not wait for them.
/// Thread-safe. Borrows `identity`.
class PagedList {
 public:
  using Entries = std::function<std::vector<Json>()>;
  PagedList(std::string_view member, Entries entries, std::size_t page_size,
            const Identity& identity, Caching caching);

  /// Null for a cursor that no page had.
  [[nodiscard]] const std::string* page(std::optional<std::string_view> cursor, Era era) const;

 private:
  void write_pages() const;

  const std::string member_;
  const Entries entries_of_;
  const std::size_t page_size_;
  const Identity& identity_;
  const Caching caching_;
  mutable std::once_flag written_;
  mutable std::vector<std::string> legacy_;
  mutable std::vector<std::string> stateless_;
};

/// A position in a list as an opaque text, and back.
[[nodiscard]] std::string cursor_of(std::size_t position);
[[nodiscard]] std::optional<std::size_t> position_of(std::string_view cursor);

/// Entries of lists.
[[nodiscard]] Json entry_of(const Tool& tool);
[[nodiscard]] Json entry_of(const Prompt& prompt);
[[nodiscard]] Json entry_of(const Resource& resource);
[[nodiscard]] Json entry_of(const ResourceTemplate& resource_template);
[[nodiscard]] Json entry_of(const Skill& skill);

}  // namespace ratchet::mcp

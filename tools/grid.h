#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "server/core/result.h"

namespace ratchet {

/// Values to try, by the name of a macro or constant.
using Grid = std::map<std::string, std::vector<std::string>>;

inline constexpr std::size_t kMostPoints = 64;

/// One choice of values and the source with them.
struct GridPoint {
  std::string note;  ///< "TILE=16 UNROLL=2"
  std::string text;
};

/// Reads "TILE=8,16,32" and so on, one entry per name. Errors: `invalid_argument` for an entry of
/// another form, a name given twice, or more than `kMostPoints` combinations.
[[nodiscard]] Result<Grid> grid_of(const std::vector<std::string>& entries);

/// Every combination, as sources that need no flags: a `#define`, a constant's initializer or a
/// constant of a Python module gets the value; a name that C++ sources only use is defined in a
/// first line. Errors: `invalid_argument` for a name that the source does not have, or sets more
/// than once. Pure.
[[nodiscard]] Result<std::vector<GridPoint>> points_of(const Grid& grid, const std::string& source,
                                                       bool python);

}  // namespace ratchet

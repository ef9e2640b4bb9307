#pragma once

#include <string>

namespace ratchet::render {

/// A file to write: its path below the output directory and its whole text.
struct Rendered {
  std::string path;
  std::string text;
};

}  // namespace ratchet::render

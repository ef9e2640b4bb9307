#include "tests/support/places.h"

namespace ratchet::test {

std::filesystem::path source_dir() {
  return RATCHET_SOURCE_DIR;
}

std::filesystem::path build_dir() {
  return RATCHET_BINARY_DIR;
}

}  // namespace ratchet::test

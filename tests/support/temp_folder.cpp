#include "tests/support/temp_folder.h"

#include <cstdlib>
#include <stdexcept>

namespace ratchet::test {

TempFolder::TempFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "ratchet-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ratchet::test

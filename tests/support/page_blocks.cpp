#include "tests/support/page_blocks.h"

#include <stdexcept>

#include "server/core/files.h"
#include "tests/support/places.h"

namespace ratchet::test {

std::string block_with(const std::string& phrase, const std::string& of) {
  const auto page = read_file(source_dir() / of);
  const auto at = page ? page->find(phrase) : std::string::npos;
  if (at == std::string::npos) throw std::runtime_error(of + " has no block with " + phrase);
  const auto fence = page->rfind("```", at);
  const auto begin = page->find('\n', fence) + 1;
  return page->substr(begin, page->find("```", at) - begin);
}

}  // namespace ratchet::test

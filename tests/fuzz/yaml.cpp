// A header that is accepted reads the same when it is written out as JSON, which is YAML; it is
// bounded, with its aliases written out too, and so is a vocabulary.

#include <string_view>

#include "kbs/documents/page_reader.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

/// What YAML cannot write as JSON does: keys beyond 1024 characters, as written, in a line.
bool has_long_name(const Json& json) {
  if (json.is_object())
    for (const auto& [name, value] : json.items())
      if (Json(name).dump().size() > 1000 || has_long_name(value)) return true;
  if (json.is_array())
    for (const auto& value : json)
      if (has_long_name(value)) return true;
  return false;
}

}  // namespace

void yaml(std::string_view bytes) {
  if (const auto read = kbs::header_json(bytes); read && !has_long_name(*read)) {
    const auto written = read->dump();
    require(written.size() <= std::size_t{16} << 20U, "a header is bounded");
    const auto again = kbs::header_json(written);
    require(again && *again == *read, "a header that was written out reads the same");
  }
  if (const auto aliases = kbs::read_vocabulary(bytes)) {
    std::size_t text = 0;
    for (const auto& alias : *aliases) text += alias.word.size() + alias.replacement.size();
    require(text <= std::size_t{4} << 20U, "a vocabulary is bounded");
  }
}

}  // namespace ratchet::fuzz

// A page that is accepted has an id that is no path, and its parts are the text: header, body and
// the line where the body begins.

#include <algorithm>
#include <string>
#include <string_view>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

using namespace kbs;

void check_parts(std::string_view text, const PageParts& parts) {
  require(text.ends_with(parts.body) && parts.header.size() + parts.body.size() <= text.size(),
          "the body is the end of the text");
  const auto before = text.substr(0, text.size() - parts.body.size());
  const auto lines = 1 + std::ranges::count(before, '\n');
  const bool open = !before.empty() && !before.ends_with('\n');
  require(parts.body_line == lines + (open ? 1 : 0), "the body begins in its line");
}

void check_page(const Document& page, std::string_view text) {
  require(page.text == text, "the text is kept");
  require(is_document_id(page.id) && !page.title.empty(), "a page has an id and a title");
  require(std::ranges::is_sorted(page.tags), "tags are sorted");
  for (const auto& label : page.architectures)
    require(label.name == normal_architecture(label.name), "a label is in its normal form");
  for (const auto& row : page.specs)
    require(!row.metric.empty() && row.line >= 2, "a metric has a name and a line");
}

}  // namespace

void page(std::string_view bytes) {
  const auto parts = split_page(bytes);
  check_parts(bytes, parts);
  for (const char* path : {"wiki/techniques/one.md", "sources/prs/two.md"}) {
    const auto read = read_page(path, std::string(bytes));
    if (read) check_page(*read, bytes);
  }
  require(headings_of(parts.body).size() <= parts.body.size() + 1, "headings are of the body");
}

}  // namespace ratchet::fuzz

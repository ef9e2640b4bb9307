#include "kbs/text/term_set.h"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <sstream>
#include <string>

#include "kbs/text/tokenizer.h"

namespace ratchet::kbs {
namespace {

std::set<std::string> tokens_of(std::string_view text) {
  std::set<std::string> out;
  tokenize(text, [&](const Token& token) {
    if (!is_code_stop_word(token.text)) out.emplace(token.text);
    return true;
  });
  return out;
}

std::multiset<std::string> words_of(std::string_view joined) {
  std::istringstream in{std::string(joined)};
  std::multiset<std::string> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

TEST_CASE("the term set holds each term that the tokenizer finds exactly once") {
  TermSet terms;
  for (const std::string_view text :
       {"cp.async.bulk copies; cp.async waits", "TensorMap tensor_map TMA",
        "naïve µs größe Größe x", "a::b::c 3.14 0x1F __global__ void k(int* p) { p[0] += 1; }", "",
        "\xff\xfe broken \xc3", "x.y é.z e\xcc\x81t"}) {
    const auto found = words_of(terms.terms_of(text));
    const auto expected = tokens_of(text);
    CHECK(std::set<std::string>(found.begin(), found.end()) == expected);
    CHECK(found.size() == expected.size());
    CHECK(terms.count() == expected.size());
  }
}

TEST_CASE("single letters, keywords and long numbers are not indexed for code") {
  TermSet terms;
  CHECK(terms.terms_of("const int x = 128; return 0x1f; 123456789 row_max") ==
        "128 0x1f row_max row max ");
}

TEST_CASE("a text with more names than the cache holds keeps all its terms") {
  TermSet terms;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "v" + std::to_string(i) + " ";
  CHECK(words_of(terms.terms_of(text)).size() == 50'000);
  CHECK(words_of(terms.terms_of("v1 v1")).size() == 1);
}

}  // namespace
}  // namespace ratchet::kbs

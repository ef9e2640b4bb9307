#include "kbs/text/tokenizer.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet::kbs {
namespace {

/// Terms in order; a part of the preceding identifier gets a leading "+".
std::vector<std::string> terms(std::string_view text) {
  std::vector<std::string> out;
  tokenize(text, [&](const Token& token) {
    out.emplace_back(token.same_position ? "+" : "").append(token.text);
    return true;
  });
  return out;
}

using Terms = std::vector<std::string>;

TEST_CASE("a dotted identifier is one term, with its prefixes and parts at the same position") {
  CHECK(terms("cp.async.bulk") == Terms{"cp.async.bulk", "+cp", "+cp.async", "+async", "+bulk"});
}

TEST_CASE("a single digit after a scope separator is not a part of its own") {
  CHECK(terms("cta_group::2") == Terms{"cta_group::2", "+cta_group", "+cta", "+group"});
}

TEST_CASE("an instruction with a shape is indexed by name and by shape") {
  CHECK(terms("HGMMA.64x8x16") == Terms{"hgmma.64x8x16", "+hgmma", "+64x8x16"});
}

TEST_CASE("snake case and camel case are split into words") {
  CHECK(terms("merge_attn_states") == Terms{"merge_attn_states", "+merg", "+attn", "+stat"});
  CHECK(terms("TensorMap") == Terms{"tensormap", "+tensor", "+map"});
  CHECK(terms("GEMMKernel") == Terms{"gemmkernel", "+gemm", "+kernel"});
}

TEST_CASE("abbreviations are not split into letters") {
  CHECK(terms("MoE SMs SM100A") == Terms{"moe", "sm", "sm100a"});
}

TEST_CASE("hyphens and slashes separate words") {
  CHECK(terms("warp-group-wide csrc/gemm") == Terms{"warp", "group", "wid", "csrc", "gemm"});
}

TEST_CASE("two words around a hyphen are also one word, and a difference is not") {
  CHECK(terms("top-k") == Terms{"top", "+topk", "k"});
  CHECK(terms("row-wise") == Terms{"row", "+rowwis", "wis"});
  CHECK(terms("rowwise") == Terms{"rowwis"});
  CHECK(terms("a-b n-1 x->y sm-100") == Terms{"a", "b", "n", "1", "x", "y", "sm", "100"});
  const auto words = query_words("row-wise top k", 10);
  REQUIRE(words.size() == 4);
  CHECK(words[0].compound == "rowwis");
  CHECK(words[2].compound.empty());
}

TEST_CASE("British and American spellings of a word are one term") {
  const auto same = [](const char* one, const char* other) {
    INFO(one << " " << other);
    CHECK(terms(one) == terms(other));
  };
  same("optimise", "optimize");
  same("Optimised", "optimized");
  same("optimising", "optimizing");
  same("optimiser", "optimizers");
  same("quantisation", "quantization");
  same("vectorisations", "vectorization");
  same("analyse", "analyze");
  same("behaviour", "behavior");
  same("neighbouring", "neighboring");
  same("colours", "color");
}

TEST_CASE("names and words that only look British keep their terms") {
  CHECK(terms("basis axis this analysis") == Terms{"basis", "axis", "this", "analysis"});
  CHECK(terms("rise four hour contour resource precise elementwise") ==
        Terms{"ris", "four", "hour", "contour", "resourc", "precis", "elementwis"});
  CHECK(terms("cudaMemcpyAsync").front() == "cudamemcpyasync");
  CHECK(terms("wgmma.mma_async").front() == "wgmma.mma_async");
  CHECK(terms("vectorise_loop").front() == "vectorise_loop");
  CHECK(terms("wgmma setmaxnreg ldmatrix") == Terms{"wgmma", "setmaxnreg", "ldmatrix"});
}

TEST_CASE("inflected forms of a word share a stem, and short words are left unchanged") {
  CHECK(stem("tiles") == stem("tiling"));
  CHECK(stem("tile") == stem("tiled"));
  CHECK(stem("scaling") == stem("scaled"));
  CHECK(stem("mapping") == stem("maps"));
  CHECK(stem("bus") == "bus");
  CHECK(stem("speed") == "speed");
  CHECK(stem("string") == "string");
}

TEST_CASE("letters with diacritics are folded as unicode61 does, and symbols separate") {
  CHECK(terms("Caf\u00e9 2\u00d73 \u0394x") == Terms{"cafe", "2", "3", "\u03b4x"});
}

TEST_CASE("invalid UTF-8 and NUL bytes separate words and never stop the scan") {
  CHECK(terms(std::string_view("one\xff\xfetwo\0three", 14)) == Terms{"one", "two", "thre"});
}

TEST_CASE("runs longer than 64 bytes are not indexed") {
  CHECK(terms(std::string(65, 'a') + " b") == Terms{"b"});
}

TEST_CASE("a query word keeps its written form beside its term") {
  const auto words = query_words("Tiling cp_async", 10);
  REQUIRE(words.size() == 2);
  CHECK(words[0].surface == "tiling");
  CHECK(words[0].term == "til");
  CHECK(words[1].term == "cp_async");
  CHECK(words[1].parts == std::vector<std::string>{"cp", "async"});
}

}  // namespace
}  // namespace ratchet::kbs

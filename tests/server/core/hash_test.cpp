#include "server/core/hash.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace ratchet {
namespace {

TEST_CASE("digests match the published test vectors", "[hash]") {
  // FIPS 180-2, appendix B.1.
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  CHECK(hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("base64 agrees with the vectors of RFC 4648 both ways", "[hash]") {
  const auto [plain, text] =
      GENERATE(table<std::string, std::string>({{"", ""},
                                                {"f", "Zg=="},
                                                {"fo", "Zm8="},
                                                {"foo", "Zm9v"},
                                                {"foob", "Zm9vYg=="},
                                                {"fooba", "Zm9vYmE="},
                                                {"foobar", "Zm9vYmFy"},
                                                {std::string("\xff\x00", 2), "/wA="}}));
  CHECK(base64(plain) == text);
  CHECK(from_base64(text) == plain);
}

TEST_CASE("text that is not padded base64 is not decoded", "[hash]") {
  const auto text =
      GENERATE(as<std::string>{}, "Zg=", "Z*==", "=Zg=", "Z===", "====", " Zg=", "Zg==\n",
               "\nZm9v\n\n\n", "Zm-v", "Zm_v", "Zg==Zg==", std::string("Zm9\0", 4));
  CHECK_FALSE(from_base64(text));
}

TEST_CASE("constant-time comparison is exact and random bytes differ", "[hash]") {
  CHECK(equal_in_constant_time("token", "token"));
  CHECK_FALSE(equal_in_constant_time("token", "tokem"));
  CHECK_FALSE(equal_in_constant_time("token", "toke"));
  CHECK(random_bytes(32) != random_bytes(32));
}

}  // namespace
}  // namespace ratchet

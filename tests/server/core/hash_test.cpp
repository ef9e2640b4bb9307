#include "server/core/hash.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet {
namespace {

TEST_CASE("digests match the published test vectors", "[hash]") {
  // FIPS 180-2, appendix B.1.
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  CHECK(hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("constant-time comparison is exact and random bytes differ", "[hash]") {
  CHECK(equal_in_constant_time("token", "token"));
  CHECK_FALSE(equal_in_constant_time("token", "tokem"));
  CHECK_FALSE(equal_in_constant_time("token", "toke"));
  CHECK(random_bytes(32) != random_bytes(32));
}

}  // namespace
}  // namespace ratchet

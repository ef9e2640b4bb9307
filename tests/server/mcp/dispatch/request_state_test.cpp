#include "server/mcp/dispatch/request_state.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet::mcp {
namespace {

TEST_CASE("sealed state opens only unchanged and for its own request", "[state]") {
  const StateSeal seal;
  const std::string sealed = seal.seal({{"round", 2}}, "tools/call\nx");
  CHECK(seal.open(sealed, "tools/call\nx") == Json{{"round", 2}});
  CHECK_FALSE(seal.open(sealed, "tools/call\ny"));
  CHECK_FALSE(StateSeal().open(sealed, "tools/call\nx"));
  CHECK_FALSE(seal.open("", "tools/call\nx"));

  std::string harmed = sealed;
  harmed[3] = harmed[3] == 'A' ? 'B' : 'A';
  CHECK_FALSE(seal.open(harmed, "tools/call\nx"));
}

}  // namespace
}  // namespace ratchet::mcp

#include "server/mcp/http/access_policy.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

namespace ratchet::mcp {
namespace {

const std::string kToken = "0123456789abcdef";

TEST_CASE("with an old HTTP library, only loopback is served unless forced", "[http]") {
  const auto [version, refused] = GENERATE(table<std::string, bool>(
      {{"0.11.4", true}, {"0.40.9", true}, {"0.41.0", false}, {"0.53.1", false}, {"1.0", false}}));
  INFO(version);
  const HttpOptions open{.host = "0.0.0.0", .token = kToken};
  const HttpOptions forced{.host = "0.0.0.0", .token = kToken, .force_old_library = true};

  CHECK(exposure_error(open, version).has_value() == refused);
  CHECK_FALSE(exposure_error(forced, version));
  CHECK_FALSE(exposure_error({.host = "127.0.0.2", .no_auth = true}, version));
  CHECK(exposure_error({.host = "0.0.0.0", .force_old_library = true}, version));  // no token
}

TEST_CASE("without a token, loopback is served only when that was asked for by name", "[http]") {
  const auto refused = exposure_error({.host = "127.0.0.1"}, "0.41.0");
  REQUIRE(refused);
  CHECK(refused->hint.find("--no-auth") != std::string::npos);
  CHECK_FALSE(exposure_error({.host = "127.0.0.1", .no_auth = true}, "0.41.0"));
  CHECK_FALSE(exposure_error({.host = "127.0.0.1", .token = kToken}, "0.41.0"));
  CHECK(exposure_error({.host = "0.0.0.0", .no_auth = true}, "0.41.0"));
}

TEST_CASE("a token that is short, or that no header can carry, is refused", "[http]") {
  CHECK(token_error(""));
  CHECK(token_error("0123456789abcde"));
  CHECK(token_error("two words of enough length"));
  CHECK(token_error("0123456789abcdef\r\nX: y"));
  CHECK(token_error("0123456789abcd\xC3\xA9"));
  CHECK_FALSE(token_error(kToken));
  CHECK(exposure_error({.host = "127.0.0.1", .token = "secret"}, "0.41.0"));
}

TEST_CASE("beyond loopback, any address is a known Host and unlisted names are not", "[http]") {
  const HttpOptions options{.host = "0.0.0.0", .token = kToken, .allowed_hosts = {"gpu.example"}};
  const AccessPolicy policy(options);
  const auto status = [&](const char* host) {
    const auto problem = policy.host_problem(host, std::nullopt);
    return problem ? problem->status : 200;
  };
  CHECK(status("192.0.2.7:8383") == 200);
  CHECK(status("gpu.example:8383") == 200);
  CHECK(status("evil.example") == 403);
  CHECK(policy.token_problem("")->status == 401);
  CHECK(policy.token_problem("Bearer 0123456789abcdeF")->status == 401);
  CHECK_FALSE(policy.token_problem("bearer 0123456789abcdef"));
}

}  // namespace
}  // namespace ratchet::mcp

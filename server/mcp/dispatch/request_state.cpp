#include "server/mcp/dispatch/request_state.h"

#include "server/core/hash.h"

#include <chrono>
#include <cstdint>

namespace ratchet::mcp {
namespace {

constexpr std::chrono::seconds kLifetime = std::chrono::minutes(10);

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

StateSeal::StateSeal() : key_(random_bytes(32)) {}

std::string StateSeal::seal(const Json& state, std::string_view request) const {
  const Json payload{{"state", state},
                     {"until", now_seconds() + kLifetime.count()},
                     {"request", sha256_hex(request)}};
  const std::string body = base64(payload.dump(-1, ' ', false, Json::error_handler_t::replace));
  return body + "." + hex(hmac_sha256(key_, body));
}

std::optional<Json> StateSeal::open(std::string_view sealed, std::string_view request) const {
  const auto dot = sealed.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto body = sealed.substr(0, dot);
  if (!equal_in_constant_time(hex(hmac_sha256(key_, body)), sealed.substr(dot + 1)))
    return std::nullopt;
  const auto bytes = from_base64(body);
  if (!bytes) return std::nullopt;
  Json payload = Json::parse(*bytes, nullptr, false);
  if (payload.is_discarded() || payload.at("until").get<std::int64_t>() < now_seconds() ||
      payload.at("request") != sha256_hex(request))
    return std::nullopt;
  return std::move(payload.at("state"));
}

}  // namespace ratchet::mcp

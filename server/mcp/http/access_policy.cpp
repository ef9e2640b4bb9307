#include "server/mcp/http/access_policy.h"

#include <arpa/inet.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/core/hash.h"

namespace ratchet::mcp {
namespace {

/// "[::1]:80" as "::1", "localhost:80" as "localhost".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_address(std::string_view host) {
  const std::string text(host);
  in6_addr buffer{};
  return ::inet_pton(AF_INET, text.c_str(), &buffer) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

}  // namespace

bool is_loopback(std::string_view host) {
  const std::string text(host);
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) == 1) return text.starts_with("127.");
  return host == "::1" || same_name(host, "localhost");
}

bool is_library_from(std::string_view version, int minor) {
  const char* const begin = version.data();
  const char* const end = begin + version.size();
  int major = 0;
  int number = 0;
  const auto dot = std::from_chars(begin, end, major).ptr;
  if (dot != end) std::from_chars(dot + 1, end, number);
  return major > 0 || number >= minor;
}

std::optional<Error> token_error(std::string_view token) {
  constexpr std::size_t kFewest = 16;  // 64 bits where they are hexadecimal digits
  const bool sendable =
      std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7F; });
  if (token.size() >= kFewest && sendable) return std::nullopt;
  return Error{ErrorCode::not_permitted,
               sendable ? fmt::format("the token has {} characters; at least {} are needed",
                                      token.size(), kFewest)
                        : std::string("the token holds spaces or characters that are not visible "
                                      "ASCII; a token is one word"),
               "Make one with: (umask 077; openssl rand -hex 32 > FILE)"};
}

std::optional<Error> exposure_error(const HttpOptions& options, std::string_view library_version) {
  constexpr int kSafeMinor = 41;
  const bool local = is_loopback(options.host);
  if (options.token.empty() && !local)
    return Error{
        ErrorCode::not_permitted,
        fmt::format("{} is reachable from other machines, and no token is set", options.host),
        "Set --token-file, or serve on 127.0.0.1."};
  if (options.token.empty() && !options.no_auth)
    return Error{ErrorCode::not_permitted,
                 fmt::format("no token is set, so every user and program of this machine could "
                             "call the server on {}",
                             options.host),
                 "Set --token-file FILE, or accept that with --no-auth."};
  if (!options.token.empty())
    if (auto weak = token_error(options.token)) return weak;
  if (local) return std::nullopt;
  if (!is_library_from(library_version, kSafeMinor) && !options.force_old_library)
    return Error{ErrorCode::not_permitted,
                 fmt::format("{} is reachable from other machines, and this build's HTTP library, "
                             "cpp-httplib {}, is older than 0.{} and has known vulnerabilities",
                             options.host, library_version, kSafeMinor),
                 "Build with a newer cpp-httplib, serve on 127.0.0.1, or accept the risk with "
                 "--force-old-http."};
  return std::nullopt;
}

AccessPolicy::AccessPolicy(const HttpOptions& options)
    : options_(options), beyond_loopback_(!is_loopback(options.host)) {}

bool AccessPolicy::knows_host(std::string_view host) const {
  const auto name = without_port(host);
  if (is_loopback(name) || same_name(name, options_.host)) return true;
  // DNS rebinding needs a name; an address always means this machine.
  if (beyond_loopback_ && is_address(name)) return true;
  return std::any_of(
      options_.allowed_hosts.begin(), options_.allowed_hosts.end(),
      [&](const std::string& known) { return same_name(known, name) || same_name(known, host); });
}

bool AccessPolicy::knows_origin(std::string_view origin) const {
  const auto scheme = origin.find("://");
  const bool web = scheme != std::string_view::npos &&
                   (origin.substr(0, scheme) == "http" || origin.substr(0, scheme) == "https");
  if (web && is_loopback(without_port(origin.substr(scheme + 3)))) return true;
  return std::find(options_.allowed_origins.begin(), options_.allowed_origins.end(), origin) !=
         options_.allowed_origins.end();
}

std::optional<HttpProblem> AccessPolicy::host_problem(
    std::string_view host, std::optional<std::string_view> origin) const {
  if (!knows_host(host)) return HttpProblem{403, "this Host is not allowed"};
  if (origin && !knows_origin(*origin)) return HttpProblem{403, "this Origin is not allowed"};
  return std::nullopt;
}

std::optional<HttpProblem> AccessPolicy::token_problem(std::string_view authorization) const {
  if (options_.token.empty()) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() > kScheme.size() &&
      same_name(authorization.substr(0, kScheme.size()), kScheme) &&
      equal_in_constant_time(authorization.substr(kScheme.size()), options_.token))
    return std::nullopt;
  return HttpProblem{401, "a bearer token is required"};
}

}  // namespace ratchet::mcp

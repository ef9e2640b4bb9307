#include "server/mcp/http/head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "server/core/text.h"

namespace ratchet::mcp {
namespace {

struct Header {
  std::string_view name;
  std::string_view value;
  std::string_view line;
};

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

HttpProblem bad(std::string text) {
  return {400, std::move(text)};
}

/// Whether the header is passed to the library.
bool is_wanted(std::string_view name) {
  constexpr std::array<std::string_view, 11> kWanted{
      "host",   "origin",     "authorization", "content-type",      "content-length", "accept",
      "expect", "connection", "user-agent",    "transfer-encoding", "last-event-id"};
  if (name.size() > 4 && same_name(name.substr(0, 4), "mcp-")) return true;
  return std::any_of(kWanted.begin(), kWanted.end(),
                     [&](std::string_view wanted) { return same_name(name, wanted); });
}

std::optional<HttpProblem> request_line_problem(std::string_view line) {
  const auto first = line.find(' ');
  const auto second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !is_token(line.substr(0, first)))
    return bad("the request line is malformed");
  const auto target = line.substr(first + 1, second - first - 1);
  const auto version = line.substr(second + 1);
  const bool plain =
      !target.empty() && target[0] == '/' &&
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!plain) return bad("the request target is malformed");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return HttpProblem{505, "only HTTP/1.1 is supported"};
  return std::nullopt;
}

std::variant<Header, HttpProblem> read_header(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return bad("a header line is malformed");
  const auto value = line.substr(colon + 1);
  for (const char c : value)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f')
      return bad("a header value has control characters");
  return Header{line.substr(0, colon), trimmed(value, " \t"), line};
}

std::optional<HttpProblem> read_length(std::string_view value, const HeadLimits& limits,
                                       std::size_t& length) {
  const auto read = std::from_chars(value.data(), value.data() + value.size(), length);
  if (read.ec == std::errc::result_out_of_range) return HttpProblem{413, "the body is too large"};
  if (read.ec != std::errc{} || read.ptr != value.data() + value.size())
    return bad("Content-Length is not a number");
  if (length > limits.body_bytes) return HttpProblem{413, "the body is larger than 16 MiB"};
  return std::nullopt;
}

std::optional<HttpProblem> framing_problem(const std::vector<Header>& headers,
                                           const HeadLimits& limits, bool may_have_body,
                                           CleanHead& clean) {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const auto& header : headers) {
    if (same_name(header.name, "host")) ++hosts;
    if (same_name(header.name, "content-encoding") && !same_name(header.value, "identity"))
      return HttpProblem{415, "compressed bodies are not accepted"};
    if (same_name(header.name, "content-length")) {
      ++lengths;
      if (auto problem = read_length(header.value, limits, clean.body_bytes)) return problem;
      if (!may_have_body && clean.body_bytes != 0) return bad("only POST may have a body");
    }
    if (same_name(header.name, "transfer-encoding")) {
      ++codings;
      if (!may_have_body) return bad("only POST may have a body");
      if (!same_name(header.value, "chunked")) return HttpProblem{501, "unknown Transfer-Encoding"};
    }
  }
  if (hosts != 1) return bad("exactly one Host header is required");
  if (lengths > 1) return bad("Content-Length is repeated");
  if (codings > 1 || (codings == 1 && lengths == 1))
    return bad("Transfer-Encoding is repeated or combined with Content-Length");
  clean.chunked = codings == 1;
  if (clean.chunked && !limits.chunked)
    return HttpProblem{411, "chunked bodies are not accepted; send Content-Length"};
  return std::nullopt;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::variant<CleanHead, HttpProblem> clean_head(std::string_view head, const HeadLimits& limits) {
  std::vector<Header> headers;
  const bool is_post = head.starts_with("POST ");
  CleanHead clean;
  std::string& kept = clean.text;
  kept.reserve(head.size());
  bool first = true;
  while (true) {
    const auto end = head.find("\r\n");
    if (end == std::string_view::npos) return bad("the head does not end with an empty line");
    const auto line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.find_first_of("\r\n") != std::string_view::npos)
      return bad("a line ends in a bare CR or LF");
    if (line.size() > limits.line_bytes)
      return HttpProblem{first ? 414 : 431, "a line of the head is longer than 8 KiB"};
    if (first) {
      if (auto problem = request_line_problem(line)) return *std::move(problem);
      kept.append(line).append("\r\n");
      first = false;
      continue;
    }
    if (line.empty()) break;
    if (headers.size() == limits.headers) return HttpProblem{431, "more than 100 headers"};
    auto header = read_header(line);
    if (auto* problem = std::get_if<HttpProblem>(&header)) return std::move(*problem);
    headers.push_back(std::get<Header>(header));
    if (is_wanted(headers.back().name)) kept.append(line).append("\r\n");
  }
  if (auto problem = framing_problem(headers, limits, is_post, clean)) return *std::move(problem);
  // Without a length, some versions of the library read until the client closes the connection.
  const bool unframed = std::none_of(headers.begin(), headers.end(), [](const Header& header) {
    return same_name(header.name, "content-length") || same_name(header.name, "transfer-encoding");
  });
  if (unframed) kept += "Content-Length: 0\r\n";
  kept += "\r\n";
  return clean;
}

}  // namespace ratchet::mcp

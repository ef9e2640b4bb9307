#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ratchet::mcp {

/// One HTTP request, as its handler sees it. Valid while the handler runs.
class HttpRequest {
 public:
  virtual ~HttpRequest() = default;

  [[nodiscard]] virtual const std::string& method() const = 0;
  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual const std::string& version() const = 0;  ///< "HTTP/1.1"
  [[nodiscard]] virtual const std::string& body() const = 0;

  [[nodiscard]] virtual bool has_header(const std::string& name) const = 0;
  /// The first value of a header; an empty string when it is absent.
  [[nodiscard]] virtual std::string header(const std::string& name) const = 0;
  /// All values of a header, joined by commas; empty when it is absent.
  [[nodiscard]] virtual std::optional<std::string> joined_header(const std::string& name) const = 0;
};

/// A body of unknown length, sent in chunks. Destroyed when the last chunk was sent or the client
/// has gone. Thread rule: the connection's thread only.
class HttpStream {
 public:
  virtual ~HttpStream() = default;

  /// The next chunk; waits a short while for one. Empty when there is nothing to send yet.
  [[nodiscard]] virtual std::string next_chunk() = 0;
  /// Whether the body is complete; asked after each chunk was sent.
  [[nodiscard]] virtual bool is_complete() = 0;
};

/// What a handler answers: a body or, where `stream` is set, a stream.
struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type;  ///< empty: no Content-Type header
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<HttpStream> stream;
};

}  // namespace ratchet::mcp

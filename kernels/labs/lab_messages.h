#pragma once

// What a server and a lab say to each other. The field lists here, in lab_calls.h and those of the
// records in them are the wire format; version 4 of it. schemas/labs has their JSON Schemas.

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "server/core/fields.h"

namespace ratchet::lab_wire {

/// 3: the server says that it is alive, too, and a lab relies on that. 4: texts come in pieces.
/// 5: a lab is asked for sizes without an answer, and bounds what a matched ratio leaves over.
inline constexpr int kProtocol = 5;

/// How often either side says that it is alive.
inline constexpr std::chrono::milliseconds kAliveEvery{5000};

/// A message of either side. `id` is a number that the server drew for the request. Long texts of a
/// request and of its answer are told by their digests; a lab says which of them it `need`s and
/// gets these as `texts`: long ones in pieces, so that the line is never taken for long.
enum class Kind { hello, request, need, texts, cancel, progress, answer, error, alive };
constexpr auto enum_names(Kind) {
  using enum Kind;
  return as_written<hello, request, need, texts, cancel, progress, answer, error, alive>();
}

/// The first message of a lab.
struct Hello {
  int protocol = kProtocol;
  std::string version;  ///< of ratchet; both sides must have the same
  std::string program;  ///< SHA-256 of the executable
  std::string host;

  static constexpr void fields(auto&& visit) {
    visit(required<&Hello::protocol>(), required<&Hello::version>(), required<&Hello::program>(),
          required<&Hello::host>());
  }
};

/// The local headers and modules of a source, by path below a folder that the lab makes.
struct Files {
  std::string folder;  ///< of the source, below it
  std::map<std::string, std::string> texts;

  static constexpr void fields(auto&& visit) {
    visit(required<&Files::folder>(), required<&Files::texts>());
  }
};

struct Message {
  Kind kind = Kind::alive;
  std::string id;
  std::optional<Hello> hello;
  std::string method;  ///< request: of the interface Lab
  /// request: a record of lab_calls.h; answer: {"value": …}; need: {"digests": …}; texts: by
  /// digest, what follows the pieces before
  std::optional<Json> body;
  std::map<std::string, Files> files;  ///< request: of sources in the body, by their folder
  /// request, answer: digests of long texts, by the place in the message where they belong
  std::map<std::string, std::string> places;
  bool more = false;                  ///< texts: others follow
  std::optional<double> done, total;  ///< progress
  std::string text;                   ///< progress; error: the message
  std::string code, hint;             ///< error

  static constexpr void fields(auto&& visit) {
    using M = Message;
    visit(required<&M::kind>(), optional<&M::id>(), optional<&M::hello>(), optional<&M::method>(),
          optional<&M::body>(), optional<&M::files>(), optional<&M::places>(), optional<&M::more>(),
          optional<&M::done>(), optional<&M::total>(), optional<&M::text>(), optional<&M::code>(),
          optional<&M::hint>());
  }
};

}  // namespace ratchet::lab_wire

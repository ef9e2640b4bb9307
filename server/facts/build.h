#pragma once

// The result of a build, and the reasons and diagnostics that findings carry.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/core/origin.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A machine-readable reason with its text.
struct Reason {
  std::string code;     ///< snake_case, stable
  std::string message;  ///< one sentence with the numbers
  std::optional<std::string> path;
  Origin origin = {};  ///< set if the message quotes what a kernel or a compiler said

  /// The message for use in another text.
  [[nodiscard]] std::string text() const {
    return origin.name.empty() ? message : behind_fence(message);
  }

  static constexpr void fields(auto&& visit) {
    visit(required<&Reason::code>("Stable code."),
          required<&Reason::message>("One sentence with the numbers."),
          optional<&Reason::path>("File it is about."));
  }
};

struct Diagnostic {
  static constexpr std::string_view kOrigin = "compiler";
  std::string file;
  int line = 0;  ///< 0 when the compiler gave none
  std::string message;

  /// "kernel.cu:12: ", or less where less is known.
  [[nodiscard]] std::string place() const {
    if (file.empty()) return "";
    return line == 0 ? file + ": " : file + ":" + std::to_string(line) + ": ";
  }
  /// The whole as a reason, which is marked as it is.
  [[nodiscard]] Reason reason() const {
    return {"build_failed", place() + message, std::nullopt, {std::string(kOrigin)}};
  }
  /// The whole for the end of another text.
  [[nodiscard]] std::string text() const { return reason().text(); }

  static constexpr void fields(auto&& visit) {
    visit(required<&Diagnostic::file>("Source file."),
          required<&Diagnostic::line>("Line; 0: unknown."),
          required<&Diagnostic::message>("What the compiler reported."));
  }
};

struct BuildRecord {
  bool ok = false;
  std::string source_digest;
  std::string binary_digest;  ///< empty when the build failed
  std::string build_key;      ///< cache key: hash(source, includes, flags, toolkit, arch)
  std::string toolchain;      ///< "nvcc 13.0.88", "g++ 12.2.0"
  std::string command;        ///< without machine-specific paths
  std::optional<int> registers;
  std::optional<std::int64_t> shared_bytes;
  std::optional<std::int64_t> spill_bytes;
  std::optional<std::int64_t> stack_bytes;
  std::vector<Diagnostic> warnings;
  std::vector<Diagnostic> errors;
  double build_ms = 0;
  bool cached = false;
  std::optional<std::string> error_class;  ///< missing_header, forbidden_symbol, …; empty when ok
  std::optional<std::string> hint;         ///< how to fix it; empty when ok

  static constexpr void fields(auto&& visit) {
    using B = BuildRecord;
    visit(required<&B::ok>("Whether it built."),
          required<&B::source_digest>("SHA-256 of the source."),
          required<&B::binary_digest>("SHA-256 of the binary."),
          required<&B::build_key>("Cache key."), required<&B::toolchain>("Compiler and version."),
          required<&B::command>("Compiler command."),
          optional<&B::registers>("Registers per thread, the maximum over the kernels."),
          optional<&B::shared_bytes>("Static shared memory, bytes."),
          optional<&B::spill_bytes>("Spill stores and loads, bytes."),
          optional<&B::stack_bytes>("Stack frame, bytes."),
          required<&B::warnings>("Compiler warnings."), required<&B::errors>("Compiler errors."),
          required<&B::build_ms>("Build time, ms."),
          required<&B::cached>("Taken from the build cache."),
          optional<&B::error_class>("Kind of failure."), optional<&B::hint>("How to fix it."));
  }
};

/// A kernel that can be measured: its source and how it was built.
struct Candidate {
  Source source;
  BuildRecord build;

  static constexpr void fields(auto&& visit) {
    visit(required<&Candidate::source>(), required<&Candidate::build>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Reason>();
extern template const FieldTable& table_of<Diagnostic>();
extern template const FieldTable& table_of<BuildRecord>();
extern template const FieldTable& table_of<Candidate>();
}  // namespace ratchet::fields_detail

#pragma once

// The result of a build, and the reasons and diagnostics that findings carry.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A machine-readable reason with its text.
struct Reason {
  std::string code;     ///< snake_case, stable
  std::string message;  ///< one sentence with the numbers
  std::optional<std::string> path;

  static constexpr void fields(auto&& visit) {
    visit(required("code", &Reason::code, "Stable code."),
          required("message", &Reason::message, "One sentence with the numbers."),
          optional("path", &Reason::path, "File it is about."));
  }
};

struct Diagnostic {
  std::string file;
  int line = 0;  ///< 0 when the compiler gave none
  std::string message;

  static constexpr void fields(auto&& visit) {
    visit(required("file", &Diagnostic::file, "Source file."),
          required("line", &Diagnostic::line, "Line; 0: unknown."),
          required("message", &Diagnostic::message, "What the compiler reported."));
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
    visit(
        required("ok", &B::ok, "Whether it built."),
        required("source_digest", &B::source_digest, "SHA-256 of the source."),
        required("binary_digest", &B::binary_digest, "SHA-256 of the binary."),
        required("build_key", &B::build_key, "Cache key."),
        required("toolchain", &B::toolchain, "Compiler and version."),
        required("command", &B::command, "Compiler command."),
        optional("registers", &B::registers, "Registers per thread, the maximum over the kernels."),
        optional("shared_bytes", &B::shared_bytes, "Static shared memory, bytes."),
        optional("spill_bytes", &B::spill_bytes, "Spill stores and loads, bytes."),
        optional("stack_bytes", &B::stack_bytes, "Stack frame, bytes."),
        required("warnings", &B::warnings, "Compiler warnings."),
        required("errors", &B::errors, "Compiler errors."),
        required("build_ms", &B::build_ms, "Build time, ms."),
        required("cached", &B::cached, "Taken from the build cache."),
        optional("error_class", &B::error_class, "Kind of failure."),
        optional("hint", &B::hint, "How to fix it."));
  }
};

/// A kernel that can be measured: its source and how it was built.
struct Candidate {
  Source source;
  BuildRecord build;

  static constexpr void fields(auto&& visit) {
    visit(required("source", &Candidate::source, ""), required("build", &Candidate::build, ""));
  }
};

}  // namespace ratchet

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/build/build_cache.h"
#include "kernels/build/build_plan.h"
#include "kernels/build/compiler_run.h"
#include "kernels/build/toolchain.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// Build request for a candidate of a contract. Compiled implementations only.
[[nodiscard]] BuildRequest kernel_build(const Contract& contract, Source source);

/// Build request for the contract's C++ or CUDA reference; its entry is `reference`.
[[nodiscard]] BuildRequest reference_build(const Contract& contract);

/// Builds shared libraries and caches them by content.
///
/// The cache entry is named by a hash of source, entry, local headers, flags, compiler version and
/// architecture; binaries are written atomically and never changed. The compiler runs in a private
/// temporary folder with a minimal environment, an address-space limit and a deadline. Landlock
/// limits its reads to the system's, the toolkit's and the source's own files. After the build, the
/// list of files it read is checked (only local headers, the toolkit and the system's headers), and
/// the library's undefined symbols are checked against an allow-list.
///
/// A device-only source becomes a library too: its kernel plus a generated host function that
/// launches it, so that the rest of the program treats both kinds alike.
///
/// An error in the source is a record with `ok == false`, `error_class` and `hint`: the classes of
/// `classify_failure` (compiler_output.h) plus signature, launch, missing_entry, forbidden_include,
/// forbidden_symbol, compile_timeout. Thread rule: all methods may be called from several threads
/// and processes on one cache. Errors: `unavailable` without a compiler or without CUTLASS headers,
/// `invalid_argument` for flags, `timed_out` when canceled.
class Builder {
 public:
  struct Options {
    std::filesystem::path cache;                ///< created if missing
    std::function<Toolchain()> find_toolchain;  ///< called once, when first needed
    std::chrono::seconds deadline{300};         ///< heavy CUTLASS templates take minutes
    /// Holds ratchet-nvrtc and ratchet-confine; empty: neither is used.
    std::filesystem::path programs;
  };

  static Result<Builder> open(Options options);

  [[nodiscard]] Result<BuildRecord> build(const BuildRequest& request,
                                          const CallContext& call) const;

  /// The library of a successful build. Errors: `not_found` if the cache no longer has it.
  [[nodiscard]] Result<std::filesystem::path> path_of(const std::string& build_key) const;

  [[nodiscard]] const BuildCache& cache() const { return cache_; }

  /// Found on the first call, because that starts programs and must not delay the server's first
  /// answer.
  [[nodiscard]] const Toolchain& toolchain() const;

 private:
  struct Found {
    std::once_flag once;
    Toolchain toolchain;
    WarmCompiler warm;
  };

  [[nodiscard]] Confinement confinement(const Source& source) const;

  Builder(Options options, BuildCache cache)
      : options_(std::move(options)), cache_(std::move(cache)) {}

  Options options_;
  BuildCache cache_;
  std::shared_ptr<Found> found_ = std::make_shared<Found>();
};

}  // namespace ratchet

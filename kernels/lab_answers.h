#pragma once

// Answers of the laboratory that say where their time went, which is no fact of a run.

#include "server/core/fields.h"
#include "server/facts/build.h"
#include "server/facts/correctness.h"
#include "server/facts/environment.h"
#include "server/facts/profile.h"
#include "server/facts/spent.h"

namespace ratchet {

/// What `Lab::prepare` made ready.
struct PreparedTask {
  Environment environment;  ///< empty if the kernel does not build
  Candidate kernel;
  Spent spent{};  ///< of work side by side, with its name

  static constexpr void fields(auto&& visit) {
    using P = PreparedTask;
    visit(required<&P::environment>(), required<&P::kernel>(), optional<&P::spent>());
  }
};

/// What a check found, and where its time went.
struct TimedReport : CorrectnessReport {
  Spent spent{};  ///< of its elapsed_ms

  static constexpr void fields(auto&& visit) {
    CorrectnessReport::fields(visit);
    visit(optional<&TimedReport::spent>());
  }
};

/// The same of a profile.
struct TimedProfile : Profile {
  Spent spent{};  ///< of its elapsed_ms

  static constexpr void fields(auto&& visit) {
    Profile::fields(visit);
    visit(optional<&TimedProfile::spent>());
  }
};

}  // namespace ratchet

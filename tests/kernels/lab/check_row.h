#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "tests/kernels/lab/lab_fixture.h"

namespace ratchet::test {

/// No worker of this process is left.
[[nodiscard]] bool nobody_left();

/// The workers of this process.
[[nodiscard]] std::set<pid_t> living();

/// Checks of one contract in a row. By rules without edges of types: a compiled reference that was
/// asked about those is not kept.
struct Row : LabFixture {
  Contract contract = doubling(doubling_source(kHonestBody));
  Ahead ahead;  ///< of the checks that follow

  Row();

  CorrectnessReport of(const std::string& body, const std::string& preamble = "");
};

}  // namespace ratchet::test

#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/build/toolchain.h"
#include "kernels/lab/lab_parts.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/support/places.h"

namespace ratchet::test {

/// A kernel with arenas, in the parts of a laboratory.
struct Supplied {
  /// `contestants`: the most in one session.
  Supplied(const std::string& body, int n, const std::string& head = "",
           std::size_t contestants = 1) {
    contract = fixture.doubling(doubling_source(body, head), n);
    candidate = fixture.built(contract);
    const LabOptions options{.state_dir = fixture.folder.path() / "state",
                             .worker_dir = build_dir() / "bin",
                             .data_dir = source_dir() / "kernels",
                             .version = "test"};
    auto builder = Builder::open({.cache = options.state_dir / "builds",
                                  .find_toolchain = [] { return find_toolchain("python3"); },
                                  .programs = options.worker_dir});
    REQUIRE(builder);
    parts = std::make_unique<LabParts>(options, *std::move(builder));
    auto opened =
        ArenaSource::open(parts->reference_parts(contract), contract, contestants, fixture.call);
    REQUIRE(opened);
    source.emplace(*std::move(opened));
    auto started =
        parts->start(contract, candidate, CandidateProcess::Use::time, kMostArenas, fixture.call);
    REQUIRE(started);
    process.emplace(*std::move(started));
    auto made = source->arenas({.dims = contract.cases.front().dims}, "secret", fixture.call);
    REQUIRE(made);
    arenas = *std::move(made);
  }

  LabFixture fixture;
  Contract contract;
  Candidate candidate;
  std::unique_ptr<LabParts> parts;
  std::optional<ArenaSource> source;
  std::optional<CandidateProcess> process;
  std::unique_ptr<TimedArenas> arenas;
};

}  // namespace ratchet::test

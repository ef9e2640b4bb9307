#include "tests/kernels/lab/check_row.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <utility>

#include "kernels/process/descendants.h"

namespace ratchet::test {

bool nobody_left() {
  return living().empty();
}

std::set<pid_t> living() {
  const auto all = descendants_of(::getpid());
  return {all.begin(), all.end()};
}

Row::Row() {
  contract.judge = JudgeRules{.version = 3};
}

CorrectnessReport Row::of(const std::string& body, const std::string& preamble) {
  auto candidate = lab->build(contract, {"kernel.cpp", doubling_source(body, preamble), ""}, call);
  if (!candidate) FAIL(candidate.error().message);
  if (!candidate->build.ok) FAIL(candidate->build.errors.at(0).message);
  auto report = lab->check(contract, *candidate, ahead, "secret", call);
  if (!report) FAIL(report.error().message);
  return *std::move(report);
}

}  // namespace ratchet::test

// A session deals the memory of its contestants anew now and then.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/timing/timing_session.h"
#include "tests/kernels/lab/supplied.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Arenas that note, a letter each, what they are asked: t(ake back), r(enew), g(ive).
class Noted : public TimedArenas {
 public:
  explicit Noted(TimedArenas& arenas) : arenas_(arenas) {}

  Status take_back(CandidateProcess& process, const CallContext& call) override {
    asked += 't';
    return arenas_.take_back(process, call);
  }
  Status renew(const CallContext& call) override {
    asked += 'r';
    return arenas_.renew(call);
  }
  Status give(CandidateProcess& process, const CallContext& call) override {
    asked += 'g';
    return arenas_.give(process, call);
  }
  [[nodiscard]] int count(const CandidateProcess& process) const override {
    return arenas_.count(process);
  }
  Result<std::optional<Reason>> judge(CandidateProcess& process, int index,
                                      const CallContext& call) override {
    return arenas_.judge(process, index, call);
  }

  std::string asked;

 private:
  TimedArenas& arenas_;
};

}  // namespace

TEST_CASE("memory is taken back before it is dealt anew, and given again", "[timing]") {
  Supplied one(kHonestBody, 1000);
  Noted arenas(*one.arenas);
  SessionPlan plan;
  plan.samples = 400;  // ten rounds, of which the contents need a part

  const auto session =
      TimingSession(arenas, plan).run({{"v0", &*one.process, {}}}, one.fixture.call);

  REQUIRE(session);
  CHECK(session->contestants.front().reasons.empty());
  REQUIRE(arenas.asked.size() >= 6);
  for (std::size_t i = 0; i < arenas.asked.size(); ++i) CHECK(arenas.asked[i] == "trg"[i % 3]);
}

TEST_CASE("however short a session is, it ends with a second call at an address", "[timing]") {
  Supplied one(
      "auto& answers = kept[x]; "
      "if (answers.empty()) for (int i = 0; i < n; ++i) answers.push_back(2 * x[i]); "
      "std::copy(answers.begin(), answers.end(), y);",
      1000,
      "#include <algorithm>\n#include <map>\n#include <vector>\n"
      "static std::map<const float*, std::vector<float>> kept;");
  REQUIRE(one.arenas->count(*one.process) == 4);
  SessionPlan plan;
  plan.warmup = 0;
  plan.samples = 2;  // three calls with the one that says how long a call takes

  const auto session =
      TimingSession(*one.arenas, plan).run({{"v0", &*one.process, {}}}, one.fixture.call);

  REQUIRE(session);
  REQUIRE(session->contestants.front().reasons.size() == 1);
  CHECK(session->contestants.front().reasons.front().code == "timed_output_wrong");
}

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
  Result<std::optional<Reason>> judge(CandidateProcess& process, int calls,
                                      const CallContext& call) override {
    return arenas_.judge(process, calls, call);
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
  plan.samples = 60;  // ten rounds, of which the contents need a part

  const auto session =
      TimingSession(arenas, plan).run({{"v0", &*one.process, {}}}, one.fixture.call);

  REQUIRE(session);
  CHECK(session->contestants.front().reasons.empty());
  REQUIRE(arenas.asked.size() >= 6);
  for (std::size_t i = 0; i < arenas.asked.size(); ++i) CHECK(arenas.asked[i] == "trg"[i % 3]);
}

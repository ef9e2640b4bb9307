// Several servers and clients use one run at the same time.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

/// Makes a hundred random steps on the run and counts those recorded. Returns the first error that
/// is not an expected refusal, or nothing.
std::string hammer(Runs& runs, const RunId& run, unsigned seed, std::atomic<int>& recorded) {
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    const auto kind = random() % 3;
    const auto event = kind == 0 ? Event::submitted : kind == 1 ? Event::checked : Event::profiled;
    auto granted = runs.permit(run, event);
    if (!granted) {
      if (granted.error().code != ErrorCode::wrong_stage) return granted.error().message;
      continue;
    }
    const auto text = samples::kernel_text(static_cast<int>(random() % 1'000'000));
    const auto view =
        kind == 0 ? runs.record_build(*granted, samples::candidate(text), std::nullopt)
        : kind == 1
            ? runs.record_correctness(*granted, samples::correctness(*granted->candidate))
            : runs.record_profile(*granted, samples::profile(*granted, 900, 1.1, Verdict::faster));
    if (view)
      ++recorded;
    else if (view.error().code != ErrorCode::conflict)
      return view.error().message;
  }
  return "";
}

TEST_CASE("simultaneous calls from several servers leave one history without gaps", "[runs]") {
  samples::Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  const auto before = shop.runs().audit(shop.run)->rows;
  const auto other = shop.another();
  std::atomic<int> recorded{0};
  std::vector<std::string> wrong(4);
  {
    std::vector<std::jthread> clients;
    for (unsigned i = 0; i < wrong.size(); ++i)
      clients.emplace_back(
          [&, i] { wrong[i] = hammer(i % 2 == 0 ? shop.runs() : *other, shop.run, i, recorded); });
  }

  CHECK(wrong == std::vector<std::string>(4));
  const auto audit = shop.runs().audit(shop.run);
  INFO((audit->breaks.empty() ? "" : audit->breaks.front().message));
  CHECK(audit->intact);
  CHECK(audit->rows == before + recorded);
  CHECK(recorded > 0);
}

}  // namespace
}  // namespace ratchet

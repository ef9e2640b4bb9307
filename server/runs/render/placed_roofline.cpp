#include "server/runs/render/placed_roofline.h"

#include <utility>

namespace ratchet {
namespace {

// The defaults of a search plan.
constexpr int kMethods = 3;
constexpr int kMostOnOneAxis = 2;

}  // namespace

PlacedRoofline placed_roofline(RooflineReport report, const Profile& profile) {
  const auto gaps = gaps_of(profile);
  return {{std::move(report)},
          profile.roofline,
          profile.bound,
          gaps,
          budget_of(profile, kMethods, kMostOnOneAxis),
          near_peak(profile)};
}

}  // namespace ratchet

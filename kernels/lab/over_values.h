#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/lab/lab_parts.h"

namespace ratchet {

/// Adds the comparisons of a session's first contestant with the others to the profile.
void take_comparisons(const SessionRecord& session, Profile& profile);

/// Whether values change the time of the candidate, or its speed-up over its parent; `normal`: that
/// on normal ones. Pure.
[[nodiscard]] bool notable(const ValueTime& one, const Comparison& normal);

/// From the values on which it is fastest to those on which it is slowest, and those that its
/// verdict is of: on which it does worst against its parent. Pure.
[[nodiscard]] ValueRange range_of(const std::vector<ValueTime>& all, double median,
                                  const Comparison& normal);

/// How a kernel's time depends on the values of its inputs. Kernels are timed on normal values, and
/// one that recognizes them may compute less on those than on others that the check also draws.
class OverValues {
 public:
  OverValues(LabParts& lab, const Contract& contract, ArenaSource& source, std::string secret,
             const CallContext& call)
      : lab_(lab), contract_(contract), source_(source), secret_(std::move(secret)), call_(call) {}

  /// `processes`: those of `versions`, two or more, the candidate's first, its parent's second; the
  /// source has room for one more. Adds what it finds to the profile, whose comparisons are those
  /// on normal values. `search`: seconds to go on for on values that no check draws.
  Status measure(const Versions& versions, std::vector<CandidateProcess>& processes,
                 const SessionPlan& plan, std::optional<double> search, Profile& profile);

 private:
  /// The candidate once more, with normal values of its own.
  struct Normal {
    CandidateProcess& process;
    std::unique_ptr<TimedArenas> arenas;
  };

  /// The candidate's two processes, its parent's, and the session for each kind of values.
  struct Sessions {
    Normal& normal;
    const std::vector<Contestant>& pair;
    const SessionPlan& plan;
  };

  Result<ValueTime> on(const std::string& values, const Sessions& sessions, const Profile& profile);
  /// Whether the candidate answered wrongly in the last session; then the profile is invalid.
  [[nodiscard]] bool was_wrong(const std::string& values, Profile& profile) const;
  /// Adds the times on what it finds to `all`.
  Status search(double seconds, const Sessions& sessions, Profile& profile,
                std::vector<ValueTime>& all);
  Result<ValueTime> timed(const std::string& values, const std::vector<Contestant>& contestants,
                          TimedArenas& arenas, const SessionPlan& plan);
  Status judge_on(const std::string& values, const std::vector<Contestant>& contestants,
                  const SessionPlan& plan, Profile& profile);
  Result<std::unique_ptr<TimedArenas>> arenas(const std::string& values, std::size_t first_room) {
    // Contents that no session has had before.
    return source_.arenas(
        {contract_.cases.front().dims, values, static_cast<int>(first_room), TimedArenas::kMost},
        fmt::format("{} {}", secret_, ++made_), call_);
  }

  LabParts& lab_;
  const Contract& contract_;
  ArenaSource& source_;
  std::string secret_;
  const CallContext& call_;
  int made_ = 0;
  std::optional<Reason> wrong_;  ///< of the candidate's processes alone, in the last session
};

}  // namespace ratchet

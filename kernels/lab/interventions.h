#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/diagnosis/verification.h"
#include "kernels/lab/lab_parts.h"

namespace ratchet {

/// What other conditions do to a kernel's time, without a change of its source: caches that hold
/// its data, indices in order, half of one dim; built once more, fewer resident blocks, fewer
/// registers or arithmetic in any order; and half of the processors. Each is timed in paired rounds
/// against the kernel as it is.
class Interventions {
 public:
  /// What was found about the kernel. Borrowed.
  struct Subject {
    const Candidate& candidate;
    const Profile& profile;  ///< with its time and its kernels
    std::span<const DiagnosisFinding> findings;
    const DeviceInfo& device;
  };

  Interventions(LabParts& lab, const Contract& contract, ArenaSource& source, std::string secret,
                const CallContext& call)
      : lab_(lab), contract_(contract), source_(source), secret_(std::move(secret)), call_(call) {}

  /// The source has room for two, and no process is at work. An intervention under which the kernel
  /// fails, which its contract has no place for, or whose build has not the effect it is for, is
  /// left out. Other builds are made where a finding asks for them, before anything is timed.
  Result<std::vector<Intervention>> measure(const Subject& subject, const SessionPlan& plan);

 private:
  /// A condition to change, and at which size; empty: the profile's.
  struct Change {
    Condition condition;
    std::string what;
    ArenaPlan changed;
    CacheMode cache_mode = CacheMode::cold;
    std::optional<Dims> size = std::nullopt;
    bool further = false;  ///< of warm caches, only if those before left it open, and to confirm
  };
  /// The kernel as it is, and the one beside it.
  using Pair = std::vector<CandidateProcess>;
  struct Timed {
    Intervention intervention;
    double as_it_is_ns = 0;
  };
  /// The same source, built otherwise, or run on so many processors.
  struct Variant {
    Candidate candidate;
    Intervention intervention;
    std::optional<int> processors = std::nullopt;
  };

  [[nodiscard]] std::vector<Change> changes(const Subject& subject) const;
  /// `one_core`: the kernel uses no other.
  [[nodiscard]] std::vector<Change> warm_caches(const DeviceInfo& device, bool one_core) const;
  Status start(Pair& pair, const Candidate& candidate, const Candidate& other,
               std::optional<int> processors = std::nullopt);
  Result<Timed> time(const Change& change, Pair& pair, const SessionPlan& plan);
  Result<Timed> paired(TimedArenas& arenas, Pair& pair, const Change& change,
                       const SessionPlan& plan);
  /// Which halved dims took away blocks, if a finding asks.
  void note_blocks(const Subject& subject, std::span<const Change> changes,
                   std::vector<Intervention>& found);
  /// How the kernel of a call is launched, seen in a process of its own; empty unless there is one.
  std::optional<KernelCounters> launched(const Candidate& candidate, const Dims& dims);
  std::vector<Variant> variants(const Subject& subject);
  std::vector<Variant> host_variants(const Subject& subject);
  /// Instructions in loops that work on several elements; empty if the code cannot be read.
  std::optional<int> packed_in_loops(const Candidate& candidate);
  std::optional<Variant> effective(const Subject& subject, Result<BuildRecord> build,
                                   Intervention intervention);
  Status time_conditions(const Subject& subject, std::span<const Change> changes,
                         const SessionPlan& plan, std::vector<Intervention>& found);
  void time_variants(const Subject& subject, std::span<const Variant> variants,
                     const SessionPlan& plan, std::vector<Intervention>& found);

  LabParts& lab_;
  const Contract& contract_;
  ArenaSource& source_;
  std::string secret_;
  const CallContext& call_;
};

}  // namespace ratchet

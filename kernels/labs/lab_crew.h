#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/labs/lab_scheduler.h"
#include "kernels/labs/remote_lab.h"
#include "server/facts/traits.h"

namespace ratchet {

/// Remote labs and who serves what: what belongs together goes to the home of its run, pieces of
/// work to any lab of the home's group that was shown to equal it. Thread-safe.
class LabCrew {
 public:
  /// `local` as for `RemoteLab`. Borrowed.
  LabCrew(std::vector<RemoteLabOptions> labs, Lab& local);
  LabCrew(const LabCrew&) = delete;
  LabCrew& operator=(const LabCrew&) = delete;
  ~LabCrew();

  using Index = LabScheduler::Lab;
  /// Errors: `not_found`, with the labs that there are.
  [[nodiscard]] Result<Index> find(const std::string& name) const;
  [[nodiscard]] RemoteLab& lab(Index index) { return *sites_[index]->lab; }

  /// A call on a lab that is no piece: while it lasts, pieces go to others first.
  class Call {
   public:
    Call(LabCrew& crew, Index lab);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

   private:
    LabCrew& crew_;
    LabScheduler::Job job_;
  };

  /// As `Lab::spread`, for a contract whose home is this lab. A piece that fails on another lab, or
  /// on one that is lost, begins again elsewhere; where none is left, the first error is its.
  Status spread(Index home, const Contract& contract, PieceWork work,
                const std::vector<Piece>& pieces, CallContext& call);

  /// As `Lab::successor`, for a run whose home is this lab.
  Result<std::optional<std::string>> successor(Index home, const MeasuredOn& run,
                                               CallContext& call);

  [[nodiscard]] std::vector<LabState> states() const;
  /// Asks all commands to end; waits for that, but not for longer.
  void end(std::chrono::milliseconds patience);

 private:
  struct Site {
    std::string name, group;
    bool alone = true;                   ///< in its group
    std::mutex vetting;                  ///< one finds out at a time
    std::atomic<int> ends = 0;           ///< of its command
    std::optional<Error> error;          ///< why it could not be vetted; guarded by `vetting`
    Traits traits;                       ///< when it was vetted last; guarded by `mutex_`
    std::optional<std::string> differs;  ///< guarded by `mutex_`
    std::unique_ptr<RemoteLab> lab;
  };
  struct Starter {
    std::atomic<bool> done = false;
    std::jthread thread;
  };
  class Ticket;

  /// Finds out of what kind a lab is, unless it is known since its command was started; starts it
  /// if need be. `again`: also if it has failed just now.
  Status vet(Index index, bool again, const CallContext& call);
  void note_traits(Site& site, Traits traits);
  void note_end(Index index, bool lost);
  Result<std::optional<std::string>> unlike(Index index, const MeasuredOn& run, CallContext& call);
  Status serve(Ticket& ticket, const std::string& kind, Index home, const Contract& contract,
               const Piece& piece, const CallContext& call);
  void act(const LabScheduler::Decisions& decisions);

  LabScheduler scheduler_;
  std::atomic<std::uint64_t> spreads_ = 0;
  mutable std::mutex mutex_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Site>> sites_;
  std::list<Starter> starters_;  // last: its threads use the others
};

}  // namespace ratchet

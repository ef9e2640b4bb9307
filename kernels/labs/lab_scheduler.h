#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ratchet {

/// Which lab serves which job. Knows labs, places and jobs by number only; it starts nothing and
/// waits for nothing but its own decisions, so that a simulation can drive it with its own clock.
///
/// A job belongs to a run and to the run's home. A *pinned* job takes a place of the home at once,
/// whether there is one or not: the lab itself lets one job at a time on a device. One that
/// *spreads* may go to every lab of the home's group that is of the home's *kind*, a text that the
/// labs' owner finds out when they start: to the least busy one with a free place, which is the
/// home if no other is less busy, else to the first that gets free; where jobs wait, labs that are
/// off are to be started. Runs take turns, and within a run the first comes first. A lab that
/// failed is avoided for a while, or until a call that names it has started it again; what spreads
/// and was on it goes back to the head of its run.
///
/// Thread-safe. A decision takes logarithmic time in jobs, runs and labs.
class LabScheduler {
 public:
  using Clock = std::chrono::steady_clock;
  using Lab = std::size_t;
  using Job = std::uint64_t;
  enum class Work { build, device };  ///< each has places of its own
  enum class State { waiting, placed, refused };

  struct Order {
    std::uint64_t run = 0;
    Lab home = 0;
    Work work = Work::device;
    bool spreads = false;
  };
  struct Placement {
    Job job = 0;
    Lab lab = 0;
    std::uint64_t turn = 0;  ///< of all placements; a job that is placed again has another one
  };
  /// What follows from a call.
  struct Decisions {
    std::vector<Placement> placed;
    std::vector<Job> refused;  ///< no lab of its kind works or can be started
    std::vector<Lab> start;    ///< to be started, and reported by `ready` or `failed`
  };

  explicit LabScheduler(std::chrono::milliseconds avoided = std::chrono::seconds(30))
      : avoided_(avoided) {}

  /// A lab, which is off. `places`: jobs at a time that build, and that use the device.
  Lab add(const std::string& group, int build_places, int device_places);

  /// So many jobs of this home will come that spread: labs that are off are to be started for them.
  Decisions expect(Lab home, std::size_t jobs, Clock::time_point now);
  std::pair<Job, Decisions> submit(const Order& order, Clock::time_point now);
  /// Ends a placement. False: it was taken back, and the job waits or is placed elsewhere.
  bool finish(const Placement& placement, Clock::time_point now, Decisions& decisions);
  /// Ends a job, whatever its state.
  Decisions cancel(Job job, Clock::time_point now);
  /// The lab could not serve the job: it is avoided, and the job placed elsewhere. No effect on a
  /// placement that was taken back.
  Decisions give_back(const Placement& placement, Clock::time_point now);

  /// It was started and said hello; of what kind it is, is not known yet.
  Decisions greeted(Lab lab, Clock::time_point now);
  Decisions ready(Lab lab, const std::string& kind, Clock::time_point now);
  Decisions failed(Lab lab, Clock::time_point now);
  /// The lab runs no longer: it was idle, or it was lost, which takes back what spreads.
  Decisions ended(Lab lab, bool lost, Clock::time_point now);

  struct Standing {
    State state = State::refused;
    Placement placement;
  };
  /// Where a job stands, as soon as it no longer waits or the time is over. By the one thread that
  /// also cancels it.
  Standing wait(Job job, std::chrono::milliseconds limit);

  [[nodiscard]] bool is_ready(Lab lab) const;
  [[nodiscard]] bool is_avoided(Lab lab, Clock::time_point now) const;
  /// The lab's kind when it was ready last.
  [[nodiscard]] std::optional<std::string> kind(Lab lab) const;

 private:
  static constexpr std::size_t kWorks = 2;
  template <class T>
  using PerWork = std::array<T, kWorks>;

  /// Jobs that wait: runs in turn, each run's in the order of their numbers.
  class FairQueue {
   public:
    void push(std::uint64_t run, Job job, std::uint64_t turn);
    void erase(std::uint64_t run, Job job);
    Job pop(std::uint64_t next_turn);
    [[nodiscard]] bool empty() const { return order_.empty(); }
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    struct Line {
      std::uint64_t turn = 0;
      std::set<Job> jobs;
    };
    std::unordered_map<std::uint64_t, Line> lines_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> order_;  // turn, run
    std::size_t size_ = 0;
  };

  /// Labs of one kind in a group, and what waits for any of them.
  struct Pool {
    PerWork<FairQueue> queues;
    PerWork<std::set<std::pair<int, Lab>>> free;  ///< by jobs; ready and not avoided
    std::set<Lab> off;                            ///< not avoided
    int live = 0;                                 ///< ready and not avoided
    [[nodiscard]] std::size_t waiting() const { return queues[0].size() + queues[1].size(); }
  };
  struct Group {
    std::vector<Lab> labs;
    std::map<std::string, Pool> pools;
    std::set<Lab> unseen;  ///< off, not avoided, and of no known kind
    int starting = 0;
    int coming = 0;  ///< of those that start, the ones without a job yet
  };
  enum class Power { off, starting, ready };
  struct LabRecord {
    Group* group = nullptr;
    Pool* pool = nullptr;  ///< of its last kind
    const std::string* kind = nullptr;
    Power power = Power::off;
    std::optional<Clock::time_point> avoided_until;
    PerWork<int> places{}, busy{};
    std::set<Job> jobs;
  };
  struct JobRecord {
    Order order;
    Pool* pool = nullptr;  ///< null: pinned
    State state = State::waiting;
    Placement placement;
    std::condition_variable changed;
  };

  template <class Change>
  void change(Lab lab, Change what);
  void enter(Lab lab, bool in);
  void expire(Clock::time_point now, Decisions& decisions);
  void avoid(Lab lab, Clock::time_point now);
  void forgive(Lab lab);
  void place(Job job, Lab lab, Decisions& decisions);
  void queue(Job job);
  void free_place(JobRecord& job);
  void take_back(Job job, Decisions& decisions);
  void place_somewhere(Job job, Decisions& decisions);
  void serve(Lab lab, Decisions& decisions);
  bool start_one(Group& group, Pool& pool, Decisions& decisions);
  void attend(Group& group, Decisions& decisions);

  const std::chrono::milliseconds avoided_;
  mutable std::mutex mutex_;
  std::deque<LabRecord> labs_;
  std::map<std::string, Group> groups_;
  std::unordered_map<Job, JobRecord> jobs_;
  std::set<std::pair<Clock::time_point, Lab>> due_;  ///< ends of avoidance
  Job last_job_ = 0;
  std::uint64_t clock_ = 0;  ///< of turns
};

}  // namespace ratchet

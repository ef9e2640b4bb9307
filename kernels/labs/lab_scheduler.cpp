#include "kernels/labs/lab_scheduler.h"

#include <algorithm>

namespace ratchet {
namespace {

constexpr std::size_t work_index(LabScheduler::Work work) {
  return static_cast<std::size_t>(work);
}

}  // namespace

// ---------------------------------------------------------------------------------------- queues

void LabScheduler::FairQueue::push(std::uint64_t run, Job job, std::uint64_t turn) {
  auto& line = lines_[run];
  if (line.jobs.empty()) {
    line.turn = turn;
    order_.emplace(turn, run);
  }
  line.jobs.insert(job);
  ++size_;
}

void LabScheduler::FairQueue::erase(std::uint64_t run, Job job) {
  const auto found = lines_.find(run);
  if (found == lines_.end() || found->second.jobs.erase(job) == 0) return;
  --size_;
  if (!found->second.jobs.empty()) return;
  order_.erase({found->second.turn, run});
  lines_.erase(found);
}

LabScheduler::Job LabScheduler::FairQueue::pop(std::uint64_t next_turn) {
  const auto run = order_.begin()->second;
  order_.erase(order_.begin());
  auto& line = lines_.at(run);
  const Job job = *line.jobs.begin();
  line.jobs.erase(line.jobs.begin());
  --size_;
  if (line.jobs.empty()) {
    lines_.erase(run);
  } else {
    line.turn = next_turn;
    order_.emplace(next_turn, run);
  }
  return job;
}

// ------------------------------------------------------------------------------------------ labs

LabScheduler::Lab LabScheduler::add(const std::string& group, int build_places, int device_places) {
  const std::scoped_lock lock(mutex_);
  const Lab lab = labs_.size();
  auto& record = labs_.emplace_back();
  record.group = &groups_[group];
  record.group->labs.push_back(lab);
  record.places = {build_places, device_places};
  enter(lab, true);
  return lab;
}

/// Enters a lab in the sets that its state belongs to, or takes it out of them.
void LabScheduler::enter(Lab lab, bool in) {
  auto& record = labs_[lab];
  const auto move = [&](auto& set, auto&& key) {
    if (in)
      set.insert(key);
    else
      set.erase(key);
  };
  if (record.power == Power::starting) {
    record.group->starting += in ? 1 : -1;
    if (record.jobs.empty()) record.group->coming += in ? 1 : -1;
  }
  if (record.avoided_until || record.power == Power::starting) return;
  if (record.power == Power::off) {
    move(record.pool ? record.pool->off : record.group->unseen, lab);
    return;
  }
  record.pool->live += in ? 1 : -1;
  for (std::size_t work = 0; work < kWorks; ++work)
    if (record.busy[work] < record.places[work])
      move(record.pool->free[work], std::pair(record.busy[work], lab));
}

template <class Change>
void LabScheduler::change(Lab lab, Change what) {
  enter(lab, false);
  what(labs_[lab]);
  enter(lab, true);
}

void LabScheduler::avoid(Lab lab, Clock::time_point now) {
  auto& record = labs_[lab];
  if (record.avoided_until) due_.erase({*record.avoided_until, lab});
  change(lab, [&](LabRecord& one) { one.avoided_until = now + avoided_; });
  due_.emplace(*record.avoided_until, lab);
}

void LabScheduler::forgive(Lab lab) {
  auto& record = labs_[lab];
  if (!record.avoided_until) return;
  due_.erase({*record.avoided_until, lab});
  change(lab, [](LabRecord& one) { one.avoided_until.reset(); });
}

void LabScheduler::expire(Clock::time_point now, Decisions& decisions) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const Lab lab = due_.begin()->second;
    forgive(lab);
    serve(lab, decisions);
    attend(*labs_[lab].group, decisions);
  }
}

// ------------------------------------------------------------------------------------- decisions

void LabScheduler::place(Job job, Lab lab, Decisions& decisions) {
  auto& record = jobs_.at(job);
  record.state = State::placed;
  record.placement = {job, lab, ++clock_};
  change(lab, [&](LabRecord& one) {
    // Its call starts the lab. Who is pinned does not ask of what kind it is.
    if (record.pool && one.power == Power::off) one.power = Power::starting;
    ++one.busy[work_index(record.order.work)];
    one.jobs.insert(job);
  });
  decisions.placed.push_back(record.placement);
  record.changed.notify_all();
}

void LabScheduler::queue(Job job) {
  auto& record = jobs_.at(job);
  record.state = State::waiting;
  record.pool->queues[work_index(record.order.work)].push(record.order.run, job, ++clock_);
}

void LabScheduler::free_place(JobRecord& job) {
  const Lab lab = job.placement.lab;
  change(lab, [&](LabRecord& one) {
    --one.busy[work_index(job.order.work)];
    one.jobs.erase(job.placement.job);
  });
}

void LabScheduler::place_somewhere(Job job, Decisions& decisions) {
  auto& record = jobs_.at(job);
  const auto work = work_index(record.order.work);
  const auto& home = labs_[record.order.home];
  if (!record.pool) return place(job, record.order.home, decisions);
  if (const auto& free = record.pool->free[work]; !free.empty()) {
    const auto least = *free.begin();
    const bool at_home = free.contains({least.first, record.order.home});
    return place(job, at_home ? record.order.home : least.second, decisions);
  }
  const bool room = home.busy[work] < home.places[work];
  if (room && home.power != Power::ready && !home.avoided_until && home.pool == record.pool)
    return place(job, record.order.home, decisions);
  queue(job);
  attend(*home.group, decisions);
}

/// Fills the free places of a lab from what waits for it, the run that has waited longest first.
void LabScheduler::serve(Lab lab, Decisions& decisions) {
  auto& record = labs_[lab];
  if (record.power != Power::ready || record.avoided_until) return;
  for (std::size_t work = 0; work < kWorks; ++work) {
    auto& queue = record.pool->queues[work];
    while (record.busy[work] < record.places[work] && !queue.empty())
      place(queue.pop(++clock_), lab, decisions);
  }
}

/// Lets a lab start that may be of this kind; false: there is none.
bool LabScheduler::start_one(Group& group, Pool& pool, Decisions& decisions) {
  auto& from = pool.off.empty() ? group.unseen : pool.off;
  if (from.empty()) return false;
  const Lab lab = *from.begin();
  change(lab, [](LabRecord& one) { one.power = Power::starting; });
  decisions.start.push_back(lab);
  return true;
}

/// Starts labs for what waits, and refuses what no lab can serve.
void LabScheduler::attend(Group& group, Decisions& decisions) {
  for (auto& [kind, pool] : group.pools) {
    while (static_cast<std::size_t>(group.coming) < pool.waiting() &&
           start_one(group, pool, decisions)) {
    }
    if (pool.live > 0 || group.starting > 0) continue;
    for (auto& queue : pool.queues)
      while (!queue.empty()) {
        const Job job = queue.pop(++clock_);
        auto& record = jobs_.at(job);
        record.state = State::refused;
        decisions.refused.push_back(job);
        record.changed.notify_all();
      }
  }
}

void LabScheduler::take_back(Job job, Decisions& decisions) {
  auto& record = jobs_.at(job);
  const Lab lab = record.placement.lab;
  free_place(record);
  record.placement.turn = 0;
  place_somewhere(job, decisions);
  serve(lab, decisions);
}

// ---------------------------------------------------------------------------------------- events

LabScheduler::Decisions LabScheduler::expect(Lab home, std::size_t jobs, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  auto& record = labs_[home];
  if (!record.pool) return decisions;
  const auto able = static_cast<std::size_t>(record.pool->live) +
                    static_cast<std::size_t>(record.group->starting);
  for (auto missing = jobs - std::min(jobs, able); missing > 0; --missing)
    if (!start_one(*record.group, *record.pool, decisions)) break;
  return decisions;
}

std::pair<LabScheduler::Job, LabScheduler::Decisions> LabScheduler::submit(const Order& order,
                                                                           Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  const Job job = ++last_job_;
  auto& record = jobs_[job];
  record.order = order;
  if (order.spreads) record.pool = labs_[order.home].pool;
  place_somewhere(job, decisions);
  return {job, std::move(decisions)};
}

bool LabScheduler::finish(const Placement& placement, Clock::time_point now, Decisions& decisions) {
  const std::scoped_lock lock(mutex_);
  expire(now, decisions);
  const auto found = jobs_.find(placement.job);
  if (found == jobs_.end() || found->second.state != State::placed ||
      found->second.placement.turn != placement.turn)
    return false;
  free_place(found->second);
  jobs_.erase(found);
  serve(placement.lab, decisions);
  return true;
}

LabScheduler::Decisions LabScheduler::cancel(Job job, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return decisions;
  auto& record = found->second;
  const auto [state, lab] = std::pair(record.state, record.placement.lab);
  if (state == State::placed) {
    free_place(record);
  } else if (state == State::waiting) {
    record.pool->queues[work_index(record.order.work)].erase(record.order.run, job);
  }
  jobs_.erase(found);
  if (state == State::placed) serve(lab, decisions);
  return decisions;
}

LabScheduler::Decisions LabScheduler::give_back(const Placement& placement, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  const auto found = jobs_.find(placement.job);
  if (found == jobs_.end() || found->second.state != State::placed ||
      found->second.placement.turn != placement.turn)
    return decisions;
  avoid(placement.lab, now);
  take_back(placement.job, decisions);
  attend(*labs_[placement.lab].group, decisions);
  return decisions;
}

LabScheduler::Decisions LabScheduler::greeted(Lab lab, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  forgive(lab);
  attend(*labs_[lab].group, decisions);
  return decisions;
}

LabScheduler::Decisions LabScheduler::ready(Lab lab, const std::string& kind,
                                            Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  auto& record = labs_[lab];
  const auto pool = record.group->pools.try_emplace(kind).first;
  forgive(lab);
  change(lab, [&](LabRecord& one) {
    one.power = Power::ready;
    one.pool = &pool->second;
    one.kind = &pool->first;
  });
  serve(lab, decisions);
  attend(*record.group, decisions);
  return decisions;
}

LabScheduler::Decisions LabScheduler::failed(Lab lab, Clock::time_point now) {
  return ended(lab, true, now);
}

LabScheduler::Decisions LabScheduler::ended(Lab lab, bool lost, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Decisions decisions;
  expire(now, decisions);
  change(lab, [](LabRecord& one) { one.power = Power::off; });
  if (lost) {
    avoid(lab, now);
    const auto jobs = labs_[lab].jobs;
    for (const Job job : jobs)
      if (jobs_.at(job).pool) take_back(job, decisions);
  }
  attend(*labs_[lab].group, decisions);
  return decisions;
}

// --------------------------------------------------------------------------------------- readers

LabScheduler::Standing LabScheduler::wait(Job job, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  auto& record = jobs_.at(job);
  record.changed.wait_for(lock, limit, [&] { return record.state != State::waiting; });
  return {record.state, record.placement};
}

bool LabScheduler::is_ready(Lab lab) const {
  const std::scoped_lock lock(mutex_);
  return labs_[lab].power == Power::ready;
}

bool LabScheduler::is_avoided(Lab lab, Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  return labs_[lab].avoided_until && *labs_[lab].avoided_until > now;
}

std::optional<std::string> LabScheduler::kind(Lab lab) const {
  const std::scoped_lock lock(mutex_);
  return labs_[lab].kind ? std::optional(*labs_[lab].kind) : std::nullopt;
}

}  // namespace ratchet

#include "kernels/labs/lab_crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTurnTick{100};
constexpr milliseconds kLeaveTick{20};
constexpr int kBuildPlaces = 16;  // as many as an exploration has branches
constexpr int kDevicePlaces = 1;
constexpr int kLossesToMove = 2;
// Two calibrations of one GPU, 12 points each, differ by less in 99 of 100 pairs: F(11, 11).
constexpr double kMostNoiseRatio = 3;

LabScheduler::Clock::time_point present() {
  return LabScheduler::Clock::now();
}

/// No fault of the lab.
bool is_over_budget(const Error& error) {
  return error.code == ErrorCode::not_permitted;
}

std::string text_of(const Traits& traits) {
  std::string text;
  for (const auto& [name, value] : traits) text += fmt::format("{}: {}\n", name, value);
  return text;
}

/// The first; empty: there is none.
std::optional<std::string> difference(const Traits& here, const Traits& there) {
  auto all = differences(here, there);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

}  // namespace

/// A job of the scheduler while a piece needs it.
class LabCrew::Ticket {
 public:
  Ticket(LabCrew& crew, const LabScheduler::Order& order) : crew_(crew) {
    auto [job, decisions] = crew.scheduler_.submit(order, present());
    job_ = job;
    crew.act(decisions);
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { crew_.act(crew_.scheduler_.cancel(job_, present())); }

  /// Empty: no lab can serve it. Errors: canceled.
  Result<std::optional<LabScheduler::Placement>> place(const CallContext& call) {
    for (;;) {
      const auto [state, placement] = crew_.scheduler_.wait(job_, kTurnTick);
      if (state == LabScheduler::State::placed) return std::optional(placement);
      if (state == LabScheduler::State::refused) return std::optional<LabScheduler::Placement>{};
      if (call.canceled())
        return Error{ErrorCode::timed_out, "canceled while it waited for a lab", ""};
    }
  }
  bool finish(const LabScheduler::Placement& placement) {
    LabScheduler::Decisions decisions;
    const bool counts = crew_.scheduler_.finish(placement, present(), decisions);
    crew_.act(decisions);
    return counts;
  }
  void give_back(const LabScheduler::Placement& placement) {
    crew_.act(crew_.scheduler_.give_back(placement, present()));
  }

 private:
  LabCrew& crew_;
  LabScheduler::Job job_ = 0;
};

LabCrew::LabCrew(std::vector<RemoteLabOptions> labs, Lab& local) {
  for (auto& one : labs) {
    const auto index = sites_.size();
    auto& site = *sites_.emplace_back(std::make_unique<Site>());
    site.name = one.name;
    site.group = one.group;
    scheduler_.add(one.group, kBuildPlaces, kDevicePlaces);
    one.greeted = [this, index] { act(scheduler_.greeted(index, present())); };
    one.ended = [this, index](bool lost) { note_end(index, lost); };
    site.lab = RemoteLab::make(std::move(one), local);
  }
  for (auto& site : sites_)
    site->alone =
        std::ranges::count(sites_, site->group, [](const auto& one) { return one->group; }) == 1;
}

LabCrew::~LabCrew() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  for (auto& one : starters_) one.thread.request_stop();
  starters_.clear();
  for (auto& site : sites_) site->lab.reset();  // tells this object that it ended
}

Result<LabCrew::Index> LabCrew::find(const std::string& name) const {
  std::string names;
  for (Index i = 0; i < sites_.size(); ++i) {
    if (sites_[i]->name == name) return i;
    names += (names.empty() ? "" : ", ") + sites_[i]->name;
  }
  return not_found(
      fmt::format("lab: there is no lab \"{}\"", name),
      fmt::format("Labs: {}. Others are added with --lab NAME=COMMAND or --labs FILE.", names));
}

LabCrew::Call::Call(LabCrew& crew, Index lab)
    : crew_(crew),
      job_(crew.scheduler_.submit({.run = 0, .home = lab, .spreads = false}, present()).first) {}

LabCrew::Call::~Call() {
  crew_.act(crew_.scheduler_.cancel(job_, present()));
}

void LabCrew::note_end(Index index, bool lost) {
  ++sites_[index]->ends;
  act(scheduler_.ended(index, lost, present()));
}

Status LabCrew::vet(Index index, bool again, const CallContext& call) {
  auto& site = *sites_[index];
  const std::scoped_lock vetting(site.vetting);
  if (scheduler_.is_ready(index)) return {};
  if (!again && site.error && scheduler_.is_avoided(index, present())) return *site.error;
  const int ends = site.ends;
  call.progress(0, std::nullopt, fmt::format("comparing lab {} with others", site.name));
  CallContext quiet({}, call.stop());
  if (call.meter()) quiet = quiet.metered_by(*call.meter());
  auto environment = site.lab->environment(std::nullopt, quiet);
  if (!environment) {
    const bool own = !call.canceled() && !is_over_budget(environment.error());
    if (own) site.error = environment.error();
    act(own ? scheduler_.failed(index, present()) : scheduler_.ended(index, false, present()));
    return environment.error();
  }
  site.error.reset();
  auto traits = traits_of(*environment);
  const auto kind = text_of(traits);
  note_traits(site, std::move(traits));
  act(scheduler_.ready(index, kind, present()));
  // What starts next may be another machine.
  if (site.ends != ends) act(scheduler_.ended(index, true, present()));
  return {};
}

/// Also finds out what differs from the first of the group whose traits are known.
void LabCrew::note_traits(Site& site, Traits traits) {
  const std::scoped_lock lock(mutex_);
  site.differs.reset();
  const auto first = std::ranges::find_if(sites_, [&](const auto& one) {
    return one->group == site.group && one.get() != &site && !one->traits.empty();
  });
  if (first != sites_.end())
    if (const auto unlike = difference(traits, (*first)->traits))
      site.differs = fmt::format("unlike {}: {}", (*first)->name, *unlike);
  site.traits = std::move(traits);
}

/// Starts labs in threads of their own.
void LabCrew::act(const LabScheduler::Decisions& decisions) {
  const std::scoped_lock lock(mutex_);
  if (ending_) return;
  std::erase_if(starters_, [](const auto& one) { return one.done.load(); });
  for (const auto index : decisions.start) {
    auto& one = starters_.emplace_back();
    one.thread = std::jthread([this, &one, index](const std::stop_token& stop) {
      (void)vet(index, true, CallContext({}, stop));
      one.done = true;
    });
  }
}

Status LabCrew::spread(Index home, const Contract& contract, PieceWork work,
                       const std::vector<Piece>& pieces, CallContext& call) {
  if (sites_[home]->alone || pieces.size() < 2) {
    const Call at_home(*this, home);
    return lab(home).spread(contract, work, pieces, call);
  }
  if (auto vetted = vet(home, true, call); !vetted) return vetted;
  // Builds are followed by checks, so labs start while the home builds.
  act(scheduler_.expect(home, pieces.size(), present()));
  const auto kind = scheduler_.kind(home).value_or("");
  const auto preferred = [&](const Piece& piece) {
    const auto lab = piece.lab ? find(*piece.lab) : Result<Index>(home);
    return lab && scheduler_.kind(*lab) == kind ? *lab : home;
  };
  LabScheduler::Order order{.run = ++spreads_};
  order.work = work == PieceWork::builds ? LabScheduler::Work::build : LabScheduler::Work::device;
  order.spreads = true;
  std::list<Ticket> tickets;
  std::vector<Status> done(pieces.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      order.home = preferred(pieces[i]);
      auto& ticket = tickets.emplace_back(*this, order);
      threads.emplace_back(
          [&, i] { done[i] = serve(ticket, kind, home, contract, pieces[i], call); });
    }
  }
  const auto failed = std::ranges::find_if(done, [](const Status& one) { return !one; });
  return failed == done.end() ? Status{} : *failed;
}

Status LabCrew::serve(Ticket& ticket, const std::string& kind, Index home, const Contract& contract,
                      const Piece& piece, const CallContext& call) {
  std::optional<Error> first;
  for (;;) {
    const auto placement = ticket.place(call);
    if (!placement) return placement.error();
    if (!*placement)
      return first ? *first
                   : unavailable(fmt::format("lab {}: no lab of its group can be reached",
                                             sites_[home]->name));
    const auto index = (*placement)->lab;
    const int ends = sites_[index]->ends;
    auto done = vet(index, false, call);
    if (done && scheduler_.kind(index) == kind) {
      Contract there = contract;
      there.lab = sites_[index]->name;
      done = piece.work(lab(index), there);
      // What fails elsewhere may be that lab's own fault, such as a full disk; the home's error
      // counts.
      const bool failed = !done && (index != home || done.error().code == ErrorCode::unavailable);
      // A command that was started again may be on another machine.
      const bool stayed = sites_[index]->ends == ends;
      if (!failed && stayed && ticket.finish(**placement)) return done;
    }
    if (call.canceled()) return Error{ErrorCode::timed_out, "canceled", ""};
    if (!done && is_over_budget(done.error())) return done;
    if (!done && !first) first = done.error();
    ticket.give_back(**placement);
  }
}

/// What differs on a lab from where the run was measured; empty: nothing.
Result<std::optional<std::string>> LabCrew::unlike(Index index, const MeasuredOn& run,
                                                   CallContext& call) {
  auto& there = lab(index);
  const auto environment = there.environment(run.device, call);
  if (!environment) return environment.error();
  if (auto unlike =
          difference(traits_of(run.environment, run.device), traits_of(*environment, run.device)))
    return unlike;
  if (!run.noise) return std::optional<std::string>{};
  const auto noise = there.noise(run.kind, run.device, run.noise->time_ns, call);
  if (!noise) return noise.error();
  if (*noise && **noise <= run.noise->floor * kMostNoiseRatio) return std::optional<std::string>{};
  return std::optional(fmt::format("noise of comparisons: {:.2f} %, there {}",
                                   run.noise->floor * 100,
                                   *noise ? fmt::format("{:.2f} %", **noise * 100) : "unknown"));
}

Result<std::optional<std::string>> LabCrew::successor(Index home, const MeasuredOn& run,
                                                      CallContext& call) {
  const auto& site = *sites_[home];
  if (site.alone || site.lab->losses() < kLossesToMove) return std::optional<std::string>{};
  std::string lines;
  for (Index i = 0; i < sites_.size(); ++i) {
    if (i == home || sites_[i]->group != site.group) continue;
    const auto differs = unlike(i, run, call);
    if (differs && !*differs) return std::optional(sites_[i]->name);
    lines += fmt::format("{}{}: {}", lines.empty() ? "" : "; ", sites_[i]->name,
                         differs ? **differs : differs.error().message);
  }
  return unavailable(
      fmt::format("lab {} was lost twice, and no other of its group can take the run: {}",
                  site.name, lines),
      "A run may only move to a lab with equal devices, driver, tools and noise.");
}

std::vector<LabState> LabCrew::states() const {
  std::vector<LabState> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& site : sites_) {
    all.push_back(site->lab->state());
    all.back().differs = site->differs;
  }
  return all;
}

void LabCrew::end(milliseconds patience) {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (auto& one : starters_) one.thread.request_stop();
  }
  for (const auto& site : sites_) site->lab->close();
  const auto until = LabScheduler::Clock::now() + patience;
  const auto held = [](const auto& site) { return site->lab->state().state != "off"; };
  while (std::ranges::any_of(sites_, held) && LabScheduler::Clock::now() < until)
    std::this_thread::sleep_for(kLeaveTick);
}

}  // namespace ratchet

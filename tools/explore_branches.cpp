#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/arrivals.h"
#include "tools/builds.h"
#include "tools/grid.h"
#include "tools/shares.h"
#include "tools/sources.h"

namespace ratchet {
namespace {

constexpr int kScreeningSamples = 24;  // two in each of twelve rounds: enough to find the fastest
constexpr int kHeatSamples = 12;       // of a sweep, doubled with every halving
constexpr std::size_t kHeat = 7;       // beside the incumbent, all alive at once
constexpr int kLastRace = static_cast<int>(kFinalists) + 1;  // with the incumbent
const Ahead kOthers{.others = true};
const Ahead kLast{.races = {kLastRace}};

struct BranchArg {
  std::optional<std::string> source;
  std::optional<std::string> path;
  std::optional<std::string> note;

  static constexpr void fields(auto&& visit) {
    using B = BranchArg;
    visit(optional<&B::source>(), optional<&B::path>("In an allowed root.", {.max_length = 4096}),
          optional<&B::note>("What this branch varies.", {.max_length = 300}));
  }
};

struct ExploreArgs {
  RunId run;
  std::vector<BranchArg> branches;
  std::vector<std::string> grid;

  static constexpr void fields(auto&& visit) {
    visit(
        required<&ExploreArgs::run>(),
        optional<&ExploreArgs::branches>("Kernels to try, at most the contract's K.",
                                         {.max_length = 16}),
        optional<&ExploreArgs::grid>(
            "Instead: a sweep of constants, \"TILE=8,16,32\", of branches[0] or the best version.",
            {.max_length = 8}));
  }
};

/// One exploration: build, check, screen, confirm. A sweep has many branches that differ little: it
/// screens in heats before it checks, drops the slower half each time, and checks and confirms only
/// the last two, in new processes and on new inputs, so that having been the luckiest of many does
/// not help.
class Exploration {
 public:
  Exploration(const Services& services, const Permit& permit, CallContext& call)
      : lab_(services.lab), roots_(services.roots), permit_(permit), call_(call) {
    fact_.incumbent = permit.incumbent_version;
  }

  Status sweep(const std::vector<BranchArg>& branches, const Grid& grid) {
    if (auto done = expand(branches, grid); !done) return done;
    if (auto done = build(); !done) return done;
    note_builds();
    if (auto done = differs(); !done) return done;
    if (auto done = halve(); !done) return done;
    auto last = checked_finalists();
    if (!last) return last.error();
    return confirm(*last);
  }

  Status run(const std::vector<BranchArg>& branches) {
    if (auto done = read(branches); !done) return done;
    if (auto done = build_check_and_screen(); !done) return done;
    // Those of a lab that was lost.
    const auto left = shares_.unscreened([](const auto&) { return true; });
    if (auto done = screen(by_lab(left), kScreeningSamples, kLast); !done) return done;
    Branches last;
    for (const auto index : finalists(fact_.branches)) last.push_back(&fact_.branches[index]);
    return confirm(last);
  }

  [[nodiscard]] BranchesFact take() { return std::move(fact_); }

 private:
  using Branches = Shares::Branches;

  Status read(const std::vector<BranchArg>& branches) {
    for (std::size_t i = 0; i < branches.size(); ++i) {
      auto source = source_of(branches, i);
      if (!source) return source.error();
      add(*std::move(source), branches[i].note);
    }
    return {};
  }

  Result<Source> source_of(const std::vector<BranchArg>& branches, std::size_t index) const {
    return read_source({.path = branches[index].path, .text = branches[index].source},
                       fmt::format("branches[{}]", index), permit_.contract.kernel.file_name,
                       roots_);
  }

  void add(Source source, std::optional<std::string> note) {
    source.file_name = permit_.contract.kernel.file_name;
    BranchResult result;
    result.name = fmt::format("b{}", fact_.branches.size() + 1);
    result.note = std::move(note);
    result.diff_lines = diff_lines(permit_.incumbent->source.text, source.text);
    result.candidate.source = std::move(source);
    fact_.branches.push_back(std::move(result));
  }

  /// One branch for each point of a grid over the given kernel, else over the incumbent.
  Status expand(const std::vector<BranchArg>& branches, const Grid& grid) {
    Source base = permit_.incumbent->source;
    if (!branches.empty()) {
      auto given = source_of(branches, 0);
      if (!given) return given.error();
      base = *std::move(given);
    }
    auto points = points_of(grid, base.text, is_python(permit_.contract.implementation));
    if (!points) return points.error();
    for (auto& point : *points) {
      Source source = base;
      source.text = std::move(point.text);
      add(std::move(source), std::move(point.note));
    }
    fact_.grid = grid;
    return {};
  }

  /// Error: no point is a kernel of its own.
  Status differs() {
    const bool built = std::ranges::any_of(
        fact_.branches, [](const BranchResult& branch) { return branch.candidate.build.ok; });
    if (!built || !distinct().empty()) return {};
    return invalid_argument(
        fmt::format("grid: nothing differs: all {} points build to the binary of {}",
                    fact_.branches.size(), permit_.incumbent_version.text()),
        "Use the names in the kernel's code, or sweep other values.");
  }

  /// Those that built to a binary of their own.
  Branches distinct() {
    Branches all;
    for (auto& branch : fact_.branches)
      if (branch.candidate.build.ok && branch.reasons.empty()) all.push_back(&branch);
    return all;
  }

  /// Races in heats against the incumbent until two are left; each time the slower half goes and
  /// the others get twice the samples.
  Status halve() {
    auto left = distinct();
    for (int samples = kHeatSamples; !left.empty(); samples *= 2) {
      std::vector<Branches> heats;
      for (std::size_t from = 0; from < left.size(); from += kHeat) {
        const auto to = std::min(left.size(), from + kHeat);
        heats.emplace_back(left.begin() + static_cast<std::ptrdiff_t>(from),
                           left.begin() + static_cast<std::ptrdiff_t>(to));
      }
      if (auto done = screen(heats, samples, {}); !done) return done;
      std::erase_if(left, [](const BranchResult* one) { return !one->screening; });
      std::ranges::stable_sort(left, std::greater<>(),
                               [](const BranchResult* one) { return one->screening->speedup; });
      ranked_.insert(ranked_.begin(), left.begin(), left.end());
      if (left.size() <= kFinalists) break;
      left.resize(std::max(kFinalists, left.size() / 2));
    }
    return {};
  }

  /// The two that screened fastest of those that pass the check.
  Result<Branches> checked_finalists() {
    Branches last;
    for (auto* branch : ranked_) {
      if (last.size() == kFinalists) break;
      if (branch->correctness || !branch->reasons.empty()) continue;
      if (auto done = check({branch}); !done) return done.error();
      if (branch->correctness->passed) last.push_back(branch);
    }
    return last;
  }

  Status build() {
    call_.progress(0, std::nullopt, fmt::format("building {} branches", fact_.branches.size()));
    std::vector<BuildOrder> orders;
    for (const auto& branch : fact_.branches) orders.push_back({branch.candidate.source, {}});
    const auto arrive = [this](std::size_t order, const Built& one) {
      arrivals_.note(order, [&] {
        fact_.branches[order].candidate = one.candidate;
        fact_.branches[order].lab = one.lab;
      });
    };
    auto built = build_all(lab_, permit_.contract, orders, call_, arrive);
    if (!built) return built.error();
    for (std::size_t i = 0; i < fact_.branches.size(); ++i) arrive(i, (*built)[i]);
    return {};
  }

  /// Why branches are not worth a comparison.
  void note_builds() {
    std::map<std::string, std::string> seen{
        {permit_.incumbent->build.binary_digest, permit_.incumbent_version.text()}};
    for (auto& branch : fact_.branches) {
      const auto& build = branch.candidate.build;
      if (!build.ok) {
        for (const auto& error : build.errors) branch.reasons.push_back(error.reason());
        continue;
      }
      const auto [at, fresh] = seen.emplace(build.binary_digest, branch.name);
      if (!fresh)
        branch.reasons.push_back(
            {.code = "same_binary", .message = "builds to the same binary as " + at->second});
    }
  }

  /// Each branch is checked as soon as it is built, and those that passed on a lab are screened
  /// there as soon as nothing is left to check: labs do not wait for each other.
  Status build_check_and_screen() {
    Status built;
    Status done;
    {
      const std::jthread builder([&] {
        built = build();
        arrivals_.close();
      });
      std::vector<Piece> pieces;
      for (std::size_t i = 0; i < fact_.branches.size(); ++i)
        pieces.push_back(
            {{}, [this, i](Lab& lab, const Contract& there) { return serve(i, lab, there); }});
      done = lab_.spread(permit_.contract, PieceWork::device, pieces, call_);
    }
    if (!built) return built;
    if (!done) return done;
    for (auto& branch : fact_.branches)
      if (branch.correctness) note_check(branch);
    return {};
  }

  /// Checks a branch, and screens where it was the lab's last.
  Status serve(std::size_t index, Lab& lab, const Contract& there) {
    if (!arrivals_.wait(index)) return {};
    auto& branch = fact_.branches[index];
    const auto ahead = begin(index, there);
    if (branch.candidate.build.ok)
      if (auto done = check(branch, lab, there, ahead); !done) return done;
    const auto heat = last_of(index, there);
    return heat.empty() ? Status{} : screen_at(lab, there, heat, kScreeningSamples, kLast);
  }

  static void note_check(BranchResult& branch) {
    branch.reasons.insert(branch.reasons.end(), branch.correctness->reasons.begin(),
                          branch.correctness->reasons.end());
  }

  Status check(const Branches& branches) {
    std::vector<Piece> pieces;
    for (auto* branch : branches)
      pieces.push_back({branch->lab, [this, branch](Lab& lab, const Contract& there) {
                          return check(*branch, lab, there, {});
                        }});
    if (auto done = lab_.spread(permit_.contract, PieceWork::device, pieces, call_); !done)
      return done;
    for (auto* branch : branches) note_check(*branch);
    return {};
  }

  /// What a lab does after the check that begins there: more checks, the screening of those that
  /// passed, and at home the last race.
  Ahead begin(std::size_t index, const Contract& there) {
    const std::scoped_lock lock(ahead_);
    shares_.begin(index);
    Ahead ahead;
    ahead.checks = shares_.all_begun() ? 0 : 1;
    const auto passed = std::ranges::count_if(fact_.branches, [&](const BranchResult& one) {
      return one.correctness && one.correctness->passed && one.lab == there.lab;
    });
    // With this one and the incumbent.
    ahead.races.push_back(static_cast<int>(passed) + 2);
    if (there.lab == permit_.contract.lab) ahead.races.push_back(kLastRace);
    return ahead;
  }

  /// What is left to screen on this lab, if all checks have begun.
  Branches last_of(std::size_t index, const Contract& there) {
    const std::scoped_lock lock(ahead_);
    if (!shares_.all_begun()) return {};
    if (!std::exchange(noted_, true)) note_builds();
    return shares_.heat_of(index, there.lab);
  }

  Status check(BranchResult& branch, Lab& lab, const Contract& there, const Ahead& ahead) {
    call_.progress(0, std::nullopt, "checking " + branch.name);
    if (branch.lab != there.lab)
      if (auto built = build_at(lab, there, branch.candidate, call_); !built) return built;
    auto report = lab.check(there, branch.candidate, ahead, permit_.secret, call_);
    if (!report) return report.error();
    const std::scoped_lock lock(ahead_);
    branch.correctness = *std::move(report);
    branch.lab = there.lab;
    return {};
  }

  /// Those that the same lab has built and checked.
  static std::vector<Branches> by_lab(const Branches& branches) {
    std::map<std::optional<std::string>, Branches> sorted;
    for (auto* branch : branches) sorted[branch->lab].push_back(branch);
    std::vector<Branches> all;
    for (auto& [lab, some] : sorted) all.push_back(std::move(some));
    return all;
  }

  /// Each heat is one race on one lab, against the incumbent there. `ahead`: at home.
  Status screen(const std::vector<Branches>& heats, int samples, const Ahead& ahead) {
    std::vector<Piece> pieces;
    for (const auto& heat : heats)
      pieces.push_back(
          {heat.front()->lab, [this, &heat, samples, &ahead](Lab& lab, const Contract& there) {
             return screen_at(lab, there, heat, samples, ahead);
           }});
    return lab_.spread(permit_.contract, PieceWork::device, pieces, call_);
  }

  Status screen_at(Lab& lab, const Contract& there, const Branches& heat, int samples,
                   const Ahead& ahead) {
    const bool home = there.lab == permit_.contract.lab;
    if (auto done = race(lab, there, heat, samples, home ? ahead : kOthers); !done) return done;
    for (auto* branch : heat)
      if (branch->lab != there.lab) branch->lab = there.lab;  // which others read
    return {};
  }

  /// The last race decides: on the run's own lab.
  Status confirm(const Branches& branches) {
    if (branches.empty()) return {};
    return race(lab_, permit_.contract, branches, std::nullopt, kOthers);
  }

  /// Builds what the lab that this is raced on does not have yet.
  Status bring(Lab& lab, const Contract& there, const Branches& branches) {
    std::vector<Piece> pieces;
    const auto add = [&](const Candidate& candidate) {
      pieces.push_back({there.lab, [this, &candidate](Lab& on, const Contract& contract) {
                          return build_at(on, contract, candidate, call_);
                        }});
    };
    if (there.lab != permit_.contract.lab) add(*permit_.incumbent);
    for (const auto* branch : branches)
      if (branch->lab != there.lab) add(branch->candidate);
    // All of them there.
    return lab.Lab::spread(there, PieceWork::builds, pieces, call_);
  }

  /// Times branches against the incumbent; without `samples` it is the confirmation.
  Status race(Lab& lab, const Contract& there, const Branches& branches, std::optional<int> samples,
              const Ahead& ahead) {
    call_.progress(
        0, std::nullopt,
        fmt::format("{} {} branches", samples ? "screening" : "confirming", branches.size()));
    if (auto done = bring(lab, there, branches); !done) return done;
    std::vector<Entrant> entrants{{"incumbent", &*permit_.incumbent}};
    for (const auto* branch : branches) entrants.push_back({branch->name, &branch->candidate});
    auto lines = lab.race(there, entrants, {there.cases.front().dims, samples, ahead},
                          permit_.secret, call_);
    if (!lines) return lines.error();
    if (!lines->front().reasons.empty())
      return unavailable(
          fmt::format("the kernel of {}, with which the branches are compared, failed while it was "
                      "being timed: {}",
                      permit_.incumbent_version.text(), lines->front().reasons.front().text()),
          "Call explore_branches again; nothing was recorded.");
    for (std::size_t i = 0; i < branches.size(); ++i) {
      auto& line = (*lines)[i + 1];
      auto& branch = *branches[i];
      branch.reasons = std::move(line.reasons);
      (samples ? branch.screened : branch.timing) = std::move(line.timing);
      (samples ? branch.screening : branch.confirmation) = std::move(line.speedup);
    }
    return {};
  }

  Lab& lab_;
  const Roots& roots_;
  const Permit& permit_;
  CallContext& call_;
  BranchesFact fact_;
  Arrivals arrivals_;  // of builds
  std::mutex ahead_;   // guards the next, and what checks have found while they go on
  Shares shares_{fact_.branches};
  bool noted_ = false;  // why builds are not worth a comparison
  Branches ranked_;     // of a sweep: the last to be screened first
};

Result<BranchesAnswer> explore(const Services& services, const ExploreArgs& args,
                               CallContext& call) {
  auto permit = services.runs.permit(args.run, Event::explored);
  if (!permit) return permit.error();
  const auto most = static_cast<std::size_t>(permit->search.branches);
  if (!args.grid.empty() && args.branches.size() > 1)
    return invalid_argument(
        fmt::format("branches: a grid sweeps one kernel, got {}", args.branches.size()),
        "Give one branch with the grid, or none to sweep the best version.");
  auto grid = grid_of(args.grid);
  if (!grid) return grid.error();
  if (grid->empty() && (args.branches.empty() || args.branches.size() > most))
    return invalid_argument(
        fmt::format("branches: must be 1 to {}, got {}", most, args.branches.size()),
        "`branches` of create_run set this limit.");
  if (!permit->incumbent)
    return Error{ErrorCode::wrong_stage, "no version has a profile to compare with",
                 "Call profile_kernel for v0 first."};
  Exploration exploration(services, *permit, call);
  auto done =
      grid->empty() ? exploration.run(args.branches) : exploration.sweep(args.branches, *grid);
  if (!done) return done.error();
  return services.runs.record_branches(*permit, exploration.take());
}

}  // namespace

Tool explore_branches(const Services& services) {
  return make_tool<ExploreArgs, BranchesAnswer>(
      {.name = "explore_branches",
       .summary = "Try several kernels for the open version: all are built, checked and timed "
                  "against the best; a winner becomes its kernel.",
       .effect = Effect::uses_device,
       .toolset = Toolset::search,
       .builds = true},
      [services](const ExploreArgs& args, CallContext& call) {
        return explore(services, args, call);
      });
}

}  // namespace ratchet

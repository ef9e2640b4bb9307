#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/builds.h"

namespace ratchet {
namespace {

struct AblateArgs {
  RunId run;
  std::vector<std::string> methods;

  static constexpr void fields(auto&& visit) {
    visit(required<&AblateArgs::run>(),
          optional<&AblateArgs::methods>("Method ids. Default: those accepted for the version.",
                                         {.max_length = 6}));
  }
};

using Ids = std::vector<std::string>;

/// Each method alone, all but each, and all of them, without repetition.
std::vector<Ids> subsets(const Ids& methods) {
  std::vector<Ids> all;
  const auto add = [&](Ids ids) {
    if (!ids.empty() && std::ranges::find(all, ids) == all.end()) all.push_back(std::move(ids));
  };
  for (const auto& id : methods) add({id});
  for (const auto& id : methods) {
    Ids others = methods;
    std::erase(others, id);
    add(std::move(others));
  }
  add(methods);
  return all;
}

/// Adds `ABLATE` as a module attribute, after any `from __future__` import, which must come first.
std::string with_attribute(const std::string& text, const Ids& without) {
  std::string names;
  for (const auto& id : without)
    names += fmt::format("\"{}\", ", ablation_macro(*find_method(id)).substr(7));
  const std::string line = fmt::format("ABLATE = frozenset(({}))\n", names);
  const auto future = text.rfind("from __future__");
  const auto after = future == std::string::npos ? 0 : text.find('\n', future) + 1;
  return text.substr(0, after) + line + text.substr(after);
}

class Ablation {
 public:
  Ablation(const Services& services, const Permit& permit, CallContext& call)
      : lab_(services.lab), permit_(permit), call_(call) {
    fact_.candidate_digest = permit.candidate->build.binary_digest;
  }

  Status run(const Ids& methods) {
    if (auto done = build(subsets(methods)); !done) return done;
    if (auto done = check(); !done) return done;
    return time();
  }

  [[nodiscard]] AblationFact take() { return std::move(fact_); }

 private:
  Status build(std::vector<Ids> all) {
    call_.progress(0, std::nullopt, fmt::format("building {} ablations", all.size()));
    for (const auto& without : all) orders_.push_back(order(without));
    auto built = build_all(lab_, permit_.contract, orders_, call_);
    if (!built) return built.error();
    for (std::size_t i = 0; i < all.size(); ++i) {
      AblatedBuild result;
      result.without = std::move(all[i]);
      result.build = (*built)[i].candidate.build;
      result.lab = std::move((*built)[i].lab);
      fact_.builds.push_back(std::move(result));
      candidates_.push_back(std::move((*built)[i].candidate));
    }
    return {};
  }

  [[nodiscard]] BuildOrder order(const Ids& without) const {
    BuildOrder order{permit_.candidate->source, {}};
    if (contract_is_python())
      order.source.text = with_attribute(order.source.text, without);
    else
      for (const auto& id : without) order.flags.push_back("-D" + ablation_macro(*find_method(id)));
    return order;
  }

  /// A build that equals the whole kernel is not checked.
  Status check() {
    std::vector<Piece> pieces;
    const bool switched = !contract_is_python() || mentions_attribute();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!switched || candidates_[i].build.binary_digest == fact_.candidate_digest)
        fact_.builds[i].build.binary_digest = fact_.candidate_digest;
      else if (candidates_[i].build.ok)
        pieces.push_back({fact_.builds[i].lab, [this, i](Lab& lab, const Contract& there) {
                            return check(i, lab, there);
                          }});
    }
    return lab_.spread(permit_.contract, PieceWork::device, pieces, call_);
  }

  Status check(std::size_t index, Lab& lab, const Contract& there) {
    auto& result = fact_.builds[index];
    call_.progress(0, std::nullopt, fmt::format("without {}", fmt::join(result.without, ", ")));
    if (auto done = bring(index, lab, there); !done) return done;
    auto report = lab.check(there, candidates_[index], permit_.secret, call_);
    if (!report) return report.error();
    result.correct = report->passed;
    result.reasons = report->reasons;
    result.lab = there.lab;
    return {};
  }

  /// Builds it on a lab that does not have it yet.
  Status bring(std::size_t index, Lab& lab, const Contract& there) {
    if (fact_.builds[index].lab == there.lab) return {};
    return build_at(lab, with_flags(there, orders_[index].flags), candidates_[index], call_);
  }

  [[nodiscard]] bool contract_is_python() const {
    return is_python(permit_.contract.implementation);
  }
  /// Python sources differ in the attribute itself, so only a use of the name can change behavior.
  [[nodiscard]] bool mentions_attribute() const {
    return permit_.candidate->source.text.find("ABLATE") != std::string::npos;
  }

  Status time() {
    call_.progress(0, std::nullopt, "timing all builds against the whole kernel");
    std::vector<Entrant> entrants{{"whole", &*permit_.candidate}};
    std::vector<std::size_t> places;
    std::vector<Piece> builds;
    for (std::size_t i = 0; i < fact_.builds.size(); ++i) {
      if (!fact_.builds[i].correct) continue;
      builds.push_back({permit_.contract.lab,
                        [this, i](Lab& lab, const Contract& home) { return bring(i, lab, home); }});
      places.push_back(i);
      entrants.push_back({fmt::format("a{}", i), &candidates_[i]});
    }
    // All of them here, where they are raced.
    if (auto done = lab_.Lab::spread(permit_.contract, PieceWork::builds, builds, call_); !done)
      return done;
    auto lines =
        lab_.race(permit_.contract, entrants, {permit_.contract.cases.front().dims, std::nullopt},
                  permit_.secret, call_);
    if (!lines) return lines.error();
    const auto& whole = lines->front();
    if (!whole.timing)
      return unavailable(
          fmt::format("the kernel without any change failed while it was being timed: {}",
                      whole.reasons.empty() ? "no reason" : whole.reasons.front().text()),
          "Call ablate again; nothing was recorded.");
    fact_.whole = *whole.timing;
    for (std::size_t i = 0; i < places.size(); ++i) {
      auto& line = (*lines)[i + 1];
      auto& build = fact_.builds[places[i]];
      build.timing = std::move(line.timing);
      build.comparison = std::move(line.slowdown);
      build.rounds = std::move(line.rounds).value_or(std::vector<double>());
      build.reasons = std::move(line.reasons);
    }
    return {};
  }

  Lab& lab_;
  const Permit& permit_;
  CallContext& call_;
  AblationFact fact_;
  std::vector<BuildOrder> orders_;
  std::vector<Candidate> candidates_;
};

Result<AblationAnswer> ablate_version(const Services& services, const AblateArgs& args,
                                      CallContext& call) {
  auto permit = services.runs.permit(args.run, Event::ablated);
  if (!permit) return permit.error();
  std::set<std::string> ids;
  for (const auto& id : args.methods.empty() ? permit->methods : args.methods) {
    const auto* const method = find_method(id);
    if (method == nullptr)
      return not_found(fmt::format("methods: there is no method \"{}\"", id),
                       "list_methods lists all methods.");
    ids.insert(method->id);
  }
  if (ids.empty())
    return invalid_argument(
        fmt::format("methods: the list is empty, and {} has no accepted methods; name at least one",
                    permit->version.text()),
        "Each method is switched off by its macro, which list_methods shows.");
  Ablation ablation(services, *permit, call);
  if (auto done = ablation.run({ids.begin(), ids.end()}); !done) return done.error();
  return services.runs.record_ablation(*permit, ablation.take());
}

}  // namespace

Tool ablate(const Services& services) {
  return make_tool<AblateArgs, AblationAnswer>(
      {.name = "ablate",
       .summary = "Measure what each method of the open version contributes: built with "
                  "-DABLATE_<axis>_<method>, one off, all but one off, all off.",
       .effect = Effect::uses_device,
       .toolset = Toolset::search,
       .builds = true},
      [services](const AblateArgs& args, CallContext& call) {
        return ablate_version(services, args, call);
      });
}

}  // namespace ratchet

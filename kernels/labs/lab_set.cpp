#include "kernels/labs/lab_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "kernels/labs/lab_crew.h"

namespace ratchet {
namespace {

constexpr std::size_t kLongestName = 64;

class LabSet : public Lab {
 public:
  LabSet(std::unique_ptr<Lab> local, std::vector<RemoteLabOptions> remote)
      : local_(std::move(local)), crew_(std::move(remote), *local_) {}

  Result<Environment> environment(std::optional<int> device, CallContext& call) override {
    return local_->environment(device, call);
  }
  Result<Environment> machine(std::optional<int> device, CallContext& call) override {
    return local_->machine(device, call);
  }
  void expect_run() override { local_->expect_run(); }
  Result<Problem> problem(const std::string& name, const std::optional<std::string>& implementation,
                          const Environment* there) override {
    return local_->problem(name, implementation, there);
  }
  [[nodiscard]] std::vector<std::string> problem_names() const override {
    return local_->problem_names();
  }
  Result<ImportedProblem> import_problem(ProblemImport import, CallContext& call) override {
    return local_->import_problem(std::move(import), call);
  }
  Result<Contract> plan(const TaskRequest& task, const Source& kernel, const Source& reference,
                        const CallContext& call) override {
    auto lab = named(task.lab);
    return lab ? (*lab)->plan(task, kernel, reference, call) : Result<Contract>(lab.error());
  }
  Result<Candidate> build(const Contract& contract, Source source, CallContext& call) override {
    return on(contract, &Lab::build, contract, std::move(source), call);
  }
  Result<PreparedTask> prepare(const Contract& contract, CallContext& call) override {
    return on(contract, &Lab::prepare, contract, call);
  }
  Result<std::vector<Reason>> validate_task(const Contract& contract, std::string_view run_secret,
                                            CallContext& call) override {
    return on(contract, &Lab::validate_task, contract, run_secret, call);
  }
  Result<std::optional<Reason>> refused_size(Contract contract, const Candidate& candidate,
                                             std::string_view run_secret,
                                             CallContext& call) override {
    return on(contract, &Lab::refused_size, contract, candidate, run_secret, call);
  }
  Result<std::optional<Reason>> unanswered_size(const Contract& contract,
                                                std::string_view run_secret,
                                                CallContext& call) override {
    return on(contract, &Lab::unanswered_size, contract, run_secret, call);
  }
  Result<TimedReport> check(const Contract& contract, const Candidate& candidate,
                            const Ahead& ahead, std::string_view run_secret,
                            CallContext& call) override {
    constexpr Result<TimedReport> (Lab::*check)(const Contract&, const Candidate&, const Ahead&,
                                                std::string_view, CallContext&) = &Lab::check;
    return on(contract, check, contract, candidate, ahead, run_secret, call);
  }
  Result<SearchedValues> search_values(const Contract& contract, const ValueSearchRequest& request,
                                       std::string_view run_secret, CallContext& call) override {
    return on(contract, &Lab::search_values, contract, request, run_secret, call);
  }
  Result<TimedProfile> profile(const Contract& contract, const ProfileRequest& request,
                               std::string_view run_secret, CallContext& call) override {
    return on(contract, &Lab::profile, contract, request, run_secret, call);
  }
  Result<ImportedProfile> import_profile(const Contract& contract, const ImportRequest& request,
                                         CallContext& call) override {
    return on(contract, &Lab::import_profile, contract, request, call);
  }
  Result<BenchmarkReport> benchmark(const Contract& contract, const BenchmarkRequest& request,
                                    std::string_view run_secret, CallContext& call) override {
    return on(contract, &Lab::benchmark, contract, request, run_secret, call);
  }
  Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                   CallContext& call) override {
    return on(contract, &Lab::sanitize, contract, request, call);
  }
  Result<CompiledSource> compile(const CompileRequest& request, CallContext& call) override {
    return local_->compile(request, call);
  }
  Result<Disassembly> disassemble(const Contract& contract, const Candidate& candidate,
                                  const DisassemblyRequest& request, CallContext& call) override {
    return on(contract, &Lab::disassemble, contract, candidate, request, call);
  }
  Result<SassCheck> check_sass(const Contract& contract, const Candidate& candidate,
                               const Candidate* parent, const std::vector<std::string>& ids,
                               CallContext& call) override {
    return on(contract, &Lab::check_sass, contract, candidate, parent, ids, call);
  }
  Result<RooflineReport> roofline(const Contract& contract, const Profile& profile,
                                  CallContext& call) override {
    return on(contract, &Lab::roofline, contract, profile, call);
  }
  [[nodiscard]] RooflineDrawing drawing(const RooflineReport& report) const override {
    return local_->drawing(report);
  }
  Result<VersionDiff> compare(const Contract& contract, const ComparedVersion& a,
                              const ComparedVersion& b, CallContext& call) override {
    return on(contract, &Lab::compare, contract, a, b, call);
  }
  Result<std::vector<RaceLine>> race(const Contract& contract, const std::vector<Entrant>& entrants,
                                     const RacePlan& race, std::string_view run_secret,
                                     CallContext& call) override {
    return on(contract, &Lab::race, contract, entrants, race, run_secret, call);
  }
  Result<Source> dispatcher(const Contract& contract, const std::vector<Entrant>& variants,
                            const std::vector<DispatchChoice>& choices) override {
    return local_->dispatcher(contract, variants, choices);
  }
  Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                        CallContext& call) override {
    return local_->ceilings(device, kind, refresh, call);
  }
  std::vector<Store> stores(std::function<std::set<std::string>()> needed) override {
    return local_->stores(std::move(needed));
  }
  FileCount remove_abandoned(bool dry_run) override { return local_->remove_abandoned(dry_run); }

  Status spread(const Contract& contract, PieceWork work, const std::vector<Piece>& pieces,
                CallContext& call) override {
    if (!contract.lab) return local_->spread(contract, work, pieces, call);
    const auto home = crew_.find(*contract.lab);
    return home ? crew_.spread(*home, contract, work, pieces, call) : Status(home.error());
  }

  Result<std::optional<double>> noise(DeviceKind kind, int device, double time_ns,
                                      CallContext& call) override {
    return local_->noise(kind, device, time_ns, call);
  }
  Result<std::optional<std::string>> successor(const MeasuredOn& run, CallContext& call) override {
    const auto home = crew_.find(run.lab);
    return home ? crew_.successor(*home, run, call) : home.error();
  }

  [[nodiscard]] std::vector<LabState> labs() const override { return crew_.states(); }

  void end(std::chrono::milliseconds patience) { crew_.end(patience); }

  Result<Lab*> named(const std::optional<std::string>& name) override {
    if (!name) return local_.get();
    const auto found = crew_.find(*name);
    return found ? Result<Lab*>(&crew_.lab(*found)) : found.error();
  }

 private:
  template <class Answer, class... Parameters, class... Arguments>
  Answer on(const Contract& contract, Answer (Lab::*method)(Parameters...),
            Arguments&&... arguments) {
    if (!contract.lab) return (*local_.*method)(std::forward<Arguments>(arguments)...);
    const auto home = crew_.find(*contract.lab);
    if (!home) return home.error();
    const LabCrew::Call at_home(crew_, *home);
    return (crew_.lab(*home).*method)(std::forward<Arguments>(arguments)...);
  }

  std::unique_ptr<Lab> local_;
  LabCrew crew_;
};

}  // namespace

std::unique_ptr<Lab> lab_set(std::unique_ptr<Lab> local, std::vector<RemoteLabOptions> remote) {
  return std::make_unique<LabSet>(std::move(local), std::move(remote));
}

bool is_lab_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

void end_labs(Lab& set, std::chrono::milliseconds patience) {
  if (auto* labs = dynamic_cast<LabSet*>(&set)) labs->end(patience);
}

Result<RemoteLabOptions> parse_lab(const std::string& text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  if (equals == std::string::npos || equals + 1 == text.size() || !is_lab_name(name))
    return invalid_argument(
        fmt::format("--lab: \"{}\" is not NAME=COMMAND", text),
        "Names have letters, digits, dots, dashes and underscores; a command is, for example, "
        "'ssh gpu3 ratchet lab'.");
  RemoteLabOptions options;
  options.name = options.group = name;
  options.command = text.substr(equals + 1);
  return options;
}

}  // namespace ratchet

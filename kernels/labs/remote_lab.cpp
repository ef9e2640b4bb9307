#include "kernels/labs/remote_lab.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/contract/planned_there.h"
#include "kernels/labs/lab_calls.h"
#include "kernels/labs/lab_connection.h"
#include "server/core/hash.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

namespace wire = lab_wire;

constexpr const char* kOtherKernels =
    "Its times cannot be told apart, so nothing was recorded: install the same ratchet there "
    "again.";

std::optional<Candidate> copy_of(const Candidate* one) {
  return one ? std::optional(*one) : std::nullopt;
}
std::optional<Profile> copy_of(const Profile* one) {
  return one ? std::optional(*one) : std::nullopt;
}

class Remote : public RemoteLab {
 public:
  Remote(RemoteLabOptions options, Lab& local)
      : name_(options.name), local_(local), connection_(std::move(options)) {}

  Result<Environment> environment(std::optional<int> device, CallContext& call) override {
    return ask<Environment>("environment", wire::Environment{device}, call);
  }
  Result<Environment> machine(std::optional<int> device, CallContext& call) override {
    return environment(device, call);  // a lab probes once, and stays
  }

  Result<Problem> problem(const std::string& name, const std::optional<std::string>& implementation,
                          const Environment* there) override {
    return local_.problem(name, implementation, there);
  }
  [[nodiscard]] std::vector<std::string> problem_names() const override {
    return local_.problem_names();
  }

  Result<ImportedProblem> import_problem(ProblemImport import, CallContext& call) override {
    return local_.import_problem(std::move(import), call);
  }

  Result<Contract> plan(const TaskRequest& task, const Source& kernel, const Source& reference,
                        const CallContext& call) override {
    auto contract = ask<Contract>("plan", wire::Plan{task, kernel, reference}, call);
    if (!contract) return contract;
    // What the lab sends back may be others; these are what the caller gave.
    contract->kernel = kernel;
    contract->reference = reference;
    contract->lab = name_;
    // It measures, and decides nothing about what is asked of a kernel.
    if (auto same = check_planned_there(*contract, task); !same)
      return unavailable(fmt::format("lab {}: {}", name_, same.error().message), same.error().hint);
    return contract;
  }

  Result<Candidate> build(const Contract& contract, Source source, CallContext& call) override {
    return returned(ask<Candidate>("build", wire::Build{contract, source}, call), source);
  }

  Result<PreparedTask> prepare(const Contract& contract, CallContext& call) override {
    auto prepared = ask<PreparedTask>("prepare", wire::OfContract{contract, ""}, call);
    if (!prepared) return prepared;
    auto kernel = returned(std::move(prepared->kernel), contract.kernel);
    if (!kernel) return kernel.error();
    prepared->kernel = *std::move(kernel);
    return prepared;
  }

  Result<std::vector<Reason>> validate_task(const Contract& contract, std::string_view run_secret,
                                            CallContext& call) override {
    return ask<std::vector<Reason>>("validate_task",
                                    wire::OfContract{contract, derived(run_secret)}, call);
  }

  Result<std::optional<Reason>> refused_size(Contract contract, const Candidate& candidate,
                                             std::string_view run_secret,
                                             CallContext& call) override {
    return ask<std::optional<Reason>>(
        "refused_size",
        wire::OfCandidate{std::move(contract), candidate, derived(run_secret), {}, 0}, call);
  }

  Result<std::optional<Reason>> unanswered_size(const Contract& contract,
                                                std::string_view run_secret,
                                                CallContext& call) override {
    return ask<std::optional<Reason>>("unanswered_size",
                                      wire::OfContract{contract, derived(run_secret)}, call);
  }

  Result<TimedReport> check(const Contract& contract, const Candidate& candidate,
                            const Ahead& ahead, std::string_view run_secret,
                            CallContext& call) override {
    return ask<TimedReport>(
        "check", wire::OfCandidate{contract, candidate, derived(run_secret), {}, 0, ahead}, call);
  }

  Result<SearchedValues> search_values(const Contract& contract, const ValueSearchRequest& request,
                                       std::string_view run_secret, CallContext& call) override {
    return ask<SearchedValues>("search_values",
                               wire::OfCandidate{contract, *request.candidate, derived(run_secret),
                                                 copy_of(request.yardstick), request.seconds},
                               call);
  }

  Result<TimedProfile> profile(const Contract& contract, const ProfileRequest& request,
                               std::string_view run_secret, CallContext& call) override {
    return ask<TimedProfile>(
        "profile",
        wire::ProfileOf{contract, *request.candidate, copy_of(request.parent), copy_of(request.v0),
                        copy_of(request.best), request.seconds, request.search, request.metrics,
                        request.names, request.engine, request.verify, derived(run_secret)},
        call);
  }

  Result<ImportedProfile> import_profile(const Contract& contract, const ImportRequest& request,
                                         CallContext& call) override {
    return ask<ImportedProfile>("import_profile",
                                wire::Import{contract, *request.candidate, copy_of(request.profile),
                                             request.file_name, base64(request.content)},
                                call);
  }

  Result<BenchmarkReport> benchmark(const Contract& contract, const BenchmarkRequest& request,
                                    std::string_view run_secret, CallContext& call) override {
    return ask<BenchmarkReport>(
        "benchmark",
        wire::Benchmark{contract, *request.candidate, copy_of(request.parent), copy_of(request.v0),
                        request.baselines, request.num_warmup, request.num_trials,
                        request.discard_first, request.prewarm_calls, request.cache_mode,
                        request.host_time, request.values, derived(run_secret)},
        call);
  }

  Result<SanitizerReport> sanitize(const Contract& contract, const SanitizeRequest& request,
                                   CallContext& call) override {
    return ask<SanitizerReport>(
        "sanitize", wire::Sanitize{contract, *request.candidate, request.tools, request.dims},
        call);
  }

  Result<CompiledSource> compile(const CompileRequest& request, CallContext& call) override {
    auto compiled = ask<CompiledSource>("compile", request, call);
    if (!compiled) return compiled;
    auto candidate = returned(std::move(compiled->candidate), request.source);
    if (!candidate) return candidate.error();
    compiled->candidate = *std::move(candidate);
    return compiled;
  }

  Result<Disassembly> disassemble(const Contract& contract, const Candidate& candidate,
                                  const DisassemblyRequest& request, CallContext& call) override {
    return ask<Disassembly>("disassemble", wire::Disassemble{contract, candidate, request}, call);
  }

  Result<SassCheck> check_sass(const Contract& contract, const Candidate& candidate,
                               const Candidate* parent, const std::vector<std::string>& ids,
                               CallContext& call) override {
    return ask<SassCheck>("check_sass", wire::CheckSass{contract, candidate, copy_of(parent), ids},
                          call);
  }

  Result<RooflineReport> roofline(const Contract& contract, const Profile& profile,
                                  CallContext& call) override {
    return ask<RooflineReport>("roofline", wire::Roofline{contract, profile}, call);
  }

  [[nodiscard]] RooflineDrawing drawing(const RooflineReport& report) const override {
    return local_.drawing(report);
  }

  Result<VersionDiff> compare(const Contract& contract, const ComparedVersion& a,
                              const ComparedVersion& b, CallContext& call) override {
    return ask<VersionDiff>(
        "compare",
        wire::Compare{contract, *a.candidate, *b.candidate, copy_of(a.profile), copy_of(b.profile)},
        call);
  }

  Result<std::vector<RaceLine>> race(const Contract& contract, const std::vector<Entrant>& entrants,
                                     const RacePlan& race, std::string_view run_secret,
                                     CallContext& call) override {
    wire::Race request{contract, {}, race, derived(run_secret)};
    for (const auto& one : entrants) request.entrants.push_back({one.name, *one.candidate});
    auto lines = ask<std::vector<RaceLine>>("race", request, call);
    if (!lines) return lines;
    // A line stands for the kernel at its place: that is how callers read them.
    if (lines->size() != entrants.size())
      return unavailable(fmt::format("lab {}: it answers for {} kernels of {}", name_,
                                     lines->size(), entrants.size()),
                         kOtherKernels);
    for (std::size_t i = 0; i < entrants.size(); ++i)
      if ((*lines)[i].name != entrants[i].name)
        return unavailable(fmt::format("lab {}: where the time of {} belongs, it has that of {}",
                                       name_, entrants[i].name, behind_fence((*lines)[i].name)),
                           kOtherKernels);
    return lines;
  }

  Result<Source> dispatcher(const Contract& contract, const std::vector<Entrant>& variants,
                            const std::vector<DispatchChoice>& choices) override {
    return local_.dispatcher(contract, variants, choices);
  }

  Result<std::vector<Ceiling>> ceilings(int device, DeviceKind kind, bool refresh,
                                        CallContext& call) override {
    return ask<std::vector<Ceiling>>("ceilings", wire::Ceilings{device, kind, refresh}, call);
  }

  Result<std::optional<double>> noise(DeviceKind kind, int device, double time_ns,
                                      CallContext& call) override {
    return ask<std::optional<double>>("noise", wire::Noise{device, kind, time_ns}, call);
  }

  std::vector<Store> stores(std::function<std::set<std::string>()> /*needed*/) override {
    return {};  // it keeps its own state folder
  }
  FileCount remove_abandoned(bool /*dry_run*/) override { return {}; }

  [[nodiscard]] LabState state() const override { return connection_.state(); }
  [[nodiscard]] int losses() const override { return connection_.losses(); }
  void close() override { connection_.close(); }

 private:
  template <class Answer, class Request>
  Result<Answer> ask(const char* method, const Request& request, const CallContext& call) {
    auto value = connection_.ask(method, encode(request), call);
    if (!value) return value.error();
    auto answer = decode_stored<Answer>(*value);
    if (!answer) return unavailable(fmt::format("lab {}: {}", name_, answer.error().message));
    return answer;
  }

  /// The candidate with the source that was sent, if the lab says that it built that.
  Result<Candidate> returned(Result<Candidate> candidate, const Source& source) const {
    if (!candidate) return candidate;
    if (const auto digest = sha256_hex(source.text); candidate->build.source_digest != digest)
      return unavailable(fmt::format("lab {}: it built a source with the digest {}, not {}", name_,
                                     candidate->build.source_digest, digest));
    candidate->source = source;
    return candidate;
  }

  /// The secret of a run for this lab, from which the run's cannot be found.
  [[nodiscard]] std::string derived(std::string_view run_secret) const {
    return hex(hmac_sha256(run_secret, "lab " + name_));
  }

  const std::string name_;
  Lab& local_;
  LabConnection connection_;
};

}  // namespace

std::unique_ptr<RemoteLab> RemoteLab::make(RemoteLabOptions options, Lab& local) {
  return std::make_unique<Remote>(std::move(options), local);
}

}  // namespace ratchet

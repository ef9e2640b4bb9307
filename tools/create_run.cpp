#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "kernels/lab.h"
#include "server/core/hash.h"
#include "server/core/roots.h"
#include "server/facts/spent.h"
#include "server/runs/lab_accounts.h"
#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/builds.h"
#include "tools/sources.h"
#include "tools/suite_times.h"

namespace ratchet {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMostProblem = std::size_t{16} << 20U;

struct CreateRunArgs : TaskRequest, LabBudget {
  std::string output_dir;
  bool confirm = false;
  int branches = 4;
  std::optional<StopConditions> stop;
  std::optional<ForkOrigin> fork_from;

  static constexpr void fields(auto&& visit) {
    TaskRequest::fields(visit);
    LabBudget::fields(visit);
    visit(required("output_dir", &CreateRunArgs::output_dir,
                   "Folder for the artifacts; must be empty or new.", {.max_length = 4096}),
          optional("confirm", &CreateRunArgs::confirm, "Use an output_dir that is not empty."),
          optional("branches", &CreateRunArgs::branches, "K: most branches of explore_branches.",
                   {.min = 1, .max = 16}),
          optional("stop", &CreateRunArgs::stop, "When the run may stop early."),
          optional("fork_from", &CreateRunArgs::fork_from,
                   "Start from this version, with the contract of its run."));
  }
};

struct CreateRunAnswer : RunView {
  std::string contract_digest;
  std::string device;
  Implementation implementation = Implementation::host_cpp;
  BuildRecord build;
  bool any_size = false;
  std::vector<Reason> warnings;
  std::optional<std::string> lab;
  Spent spent;

  static constexpr void fields(auto&& visit) {
    using A = CreateRunAnswer;
    RunView::fields(visit);
    visit(required("contract_digest", &A::contract_digest, "SHA-256 of the frozen contract."),
          required("device", &A::device, "Where the run measures."),
          required("implementation", &A::implementation, "What the versions are written in."),
          required("build", &A::build, "Build of v0."),
          optional("any_size", &A::any_size,
                   "Every version must also take odd, prime and tiny sizes."),
          required("warnings", &A::warnings, "Weak points of the task."),
          optional("lab", &A::lab, "Home of the run."),
          required("spent", &A::spent, "Where the time went."));
  }
  [[nodiscard]] std::string text(Json answer) const {
    for (const char* key : {"contract_digest", "spent"}) answer.erase(key);
    answer["build"] = in_brief(answer["build"]);
    return readable_text(answer, {"run", "warnings", "build"}) + spent_line(spent);
  }
};

struct Inputs {
  TaskRequest task;
  Source kernel;
  Source reference;
};

std::string reference_name_for(const std::string& text) {
  if (text.find("def reference") != std::string::npos) return "ref.py";
  return text.find("__global__") != std::string::npos ? "ref.cu" : "ref.cpp";
}

/// The caller's values take precedence; the problem supplies the rest.
TaskRequest merged(TaskRequest asked, const TaskRequest& shipped) {
  if (asked.dims.empty() && asked.cases.empty()) {
    asked.dims = shipped.dims;
    asked.cases = shipped.cases;
  }
  if (asked.tensors.empty()) asked.tensors = shipped.tensors;
  if (asked.scalars.empty()) asked.scalars = shipped.scalars;
  if (!asked.work) asked.work = shipped.work;
  if (!asked.atol) asked.atol = shipped.atol;
  if (!asked.rtol) asked.rtol = shipped.rtol;
  if (!asked.matched_ratio) {
    asked.matched_ratio = shipped.matched_ratio;
    if (!asked.rest_within) asked.rest_within = shipped.rest_within;
  }
  if (!asked.edge_values) asked.edge_values = shipped.edge_values;
  if (asked.baselines.empty()) asked.baselines = shipped.baselines;
  if (!asked.call) asked.call = shipped.call;
  if (!asked.signature) asked.signature = shipped.signature;
  if (asked.entry == TaskRequest{}.entry) asked.entry = shipped.entry;
  if (asked.where.empty()) asked.where = shipped.where;
  asked.implementation = shipped.implementation;
  asked.problem = shipped.problem;
  return asked;
}

/// What `problem` names: a shipped problem, or the absolute path of a folder inside the roots.
Result<std::string> place_of(const Services& services, const std::string& problem) {
  const auto shipped = services.lab.problem_names();
  if (std::ranges::find(shipped, problem) != shipped.end()) return problem;
  const auto file =
      services.roots.read(std::filesystem::path(problem) / "problem.json", kMostProblem);
  if (file) return file->path.parent_path().string();
  if (file.error().code != ErrorCode::not_found) return file.error().at("problem");
  return not_found(
      fmt::format("problem: \"{}\" is neither a shipped problem nor a folder with a problem.json",
                  problem),
      fmt::format("Shipped problems: {}. import_problem makes a folder of one from another suite.",
                  fmt::join(shipped, ", ")));
}

/// A language that only one implementation has says which device the kernel is for.
std::optional<std::string> implementation_for(const TaskRequest& asked,
                                              const std::optional<Source>& kernel) {
  if (!kernel || asked.implementation.value_or("auto") != "auto") return asked.implementation;
  if (kernel->file_name.ends_with(".cu")) return "cuda-cpp";
  if (kernel->file_name.ends_with(".py")) return asked.implementation;
  return "host-cpp";
}

Result<Inputs> gather_problem(const Services& services, const TaskRequest& asked,
                              const Environment* there) {
  if (asked.reference)
    return Error{ErrorCode::invalid_argument,
                 "problem: both a problem and a reference were given; a problem brings its own",
                 "Leave the reference out, or give kernel and reference without a problem."};
  const auto place = place_of(services, *asked.problem);
  if (!place) return place.error();
  std::optional<Source> kernel;
  if (asked.kernel) {
    auto given =
        read_source(*asked.kernel, "kernel", kernel_name_for(asked.implementation), services.roots);
    if (!given) return given.error();
    kernel = *std::move(given);
  }
  auto problem = services.lab.problem(*place, implementation_for(asked, kernel), there);
  if (!problem) return problem.error();
  if (!kernel) kernel = problem->kernel;
  if (!kernel)
    return invalid_argument(fmt::format("kernel: {} brings no {} kernel to start from",
                                        *asked.problem, problem->task.implementation.value_or("")),
                            "Give `kernel`, {path} or {text}, beside problem.");
  return Inputs{merged(asked, problem->task), *std::move(kernel), problem->reference};
}

Result<Inputs> gather(const Services& services, const TaskRequest& asked,
                      const Environment* there) {
  if (asked.problem) return gather_problem(services, asked, there);
  if (!asked.kernel || !asked.reference)
    return Error{
        ErrorCode::invalid_argument,
        "kernel, reference: give both, or the name of a shipped problem instead",
        fmt::format("Shipped problems: {}.", fmt::join(services.lab.problem_names(), ", "))};
  auto kernel =
      read_source(*asked.kernel, "kernel", kernel_name_for(asked.implementation), services.roots);
  if (!kernel) return kernel.error();
  const std::string reference_text = asked.reference->text.value_or("");
  auto reference = read_source(*asked.reference, "reference", reference_name_for(reference_text),
                               services.roots);
  if (!reference) return reference.error();
  return Inputs{asked, *std::move(kernel), *std::move(reference)};
}

Error build_failure(const BuildRecord& build) {
  std::string text = fmt::format("kernel: v0 does not build ({}), so no run was created",
                                 build.error_class.value_or("unknown"));
  for (const auto& error : build.errors) text += "\n" + error.text();
  return {ErrorCode::invalid_argument, text,
          build.hint.value_or("Fix the source.") + " Then call create_run again."};
}

std::optional<LabBudget> limits_of(const LabBudget& given) {
  return given.max_lab_seconds || given.max_cost ? std::optional(given) : std::nullopt;
}

/// A budget is one of labs, and a cost needs their price.
Status check_budget(const Services& services, const CreateRunArgs& args,
                    const std::optional<std::string>& lab) {
  if (!args.max_lab_seconds && !args.max_cost) return {};
  if (!lab)
    return invalid_argument(fmt::format("{}: the run is on this machine, whose time is not limited",
                                        args.max_cost ? "max_cost" : "max_lab_seconds"),
                            "Leave it out, or give `lab` too.");
  for (const auto& one : services.lab.labs())
    if (args.max_cost && !one.cost_per_hour && one.name == *lab)
      return invalid_argument(fmt::format("max_cost: lab \"{}\" has no cost", one.name),
                              "Give max_lab_seconds instead, or the user gives cost or "
                              "cost_per_hour in the file of --labs.");
  return {};
}

/// A contract, and what its problem's suite says of its own times.
struct Planned {
  Contract contract;
  std::optional<std::vector<SuiteBaseline>> suite_baselines;
};

/// The contract of the forked version's run, with that version's kernel.
Result<Planned> forked(const Services& services, const CreateRunArgs& args) {
  if (args.problem || args.kernel || args.reference)
    return Error{ErrorCode::invalid_argument,
                 "fork_from: kernel, reference or problem was given as well, but a fork takes them "
                 "from its run",
                 "Leave them out, or start a run without fork_from."};
  auto source = services.runs.fork_source(*args.fork_from);
  if (!source) return source.error().at("fork_from");
  if (auto fits = check_budget(services, args, source->contract.lab); !fits) return fits.error();
  source->contract.iterations = args.iterations;
  source->contract.seed_given = args.seed.has_value();
  return Planned{std::move(source->contract), std::move(source->suite_baselines)};
}

Result<Planned> planned(const Services& services, const CreateRunArgs& args, CallContext& call) {
  if (auto fits = check_budget(services, args, args.lab); !fits) return fits.error();
  std::optional<Environment> there;
  if (args.lab) {
    auto lab = services.lab.named(args.lab);
    if (!lab) return lab.error();
    auto environment = (*lab)->environment(std::nullopt, call);
    if (!environment) return environment.error();
    there = *std::move(environment);
  }
  auto inputs = gather(services, args, there ? &*there : nullptr);
  if (!inputs) return inputs.error();
  auto contract = services.lab.plan(inputs->task, inputs->kernel, inputs->reference, call);
  if (!contract) return contract.error();
  Planned plan{*std::move(contract), std::nullopt};
  if (args.problem) plan.suite_baselines = suite_baselines_of(services.roots, plan.contract);
  return plan;
}

/// An `any_size` that the caller asks for is kept, or refused.
Status decide_sizes(const Services& services, const CreateRunArgs& args, Contract& contract,
                    const Candidate& v0, std::string_view secret, std::vector<Reason>& warnings,
                    CallContext& call) {
  if (!args.any_size.value_or(false)) {
    const bool decides = !args.any_size && !args.fork_from;
    return services.lab.decide_sizes(contract, decides ? &v0 : nullptr, secret, warnings, call);
  }
  const auto unanswered = services.lab.unanswered_size(contract, secret, call);
  if (!unanswered) return unanswered.error();
  if (!*unanswered) return {};
  return invalid_argument("any_size: the reference has no answer at " + (*unanswered)->message,
                          "Say in where which sizes there are, or leave any_size out.");
}

/// Where a group is named, one of its labs: one that is started and free, else one that is off,
/// else a busy one; those that failed last come after all others.
std::optional<std::string> home_of(const std::optional<std::string>& named,
                                   const std::vector<LabState>& labs) {
  const auto later = [](const LabState& lab) {
    if (lab.state == "off" && lab.error) return 3;
    return lab.state == "idle" ? 0 : lab.state == "off" ? 1 : 2;
  };
  const LabState* home = nullptr;
  for (const auto& one : labs) {
    if (one.name == named) return named;
    if (one.group == named && (!home || later(one) < later(*home))) home = &one;
  }
  return home ? home->name : named;
}

/// A seed that the caller knows weakens the claim; the contract records it.
std::string secret_of(const CreateRunArgs& args) {
  return args.seed ? hex(sha256(fmt::format("seed {}", *args.seed))) : random_bytes(kSecretBytes);
}

void warn_of_processor(const CreateRunArgs& args, const Contract& contract,
                       std::vector<Reason>& warnings) {
  const bool open = args.implementation.value_or("auto") == "auto" && !args.fork_from;
  if (open && contract.device_kind == DeviceKind::host &&
      (args.problem || is_python(contract.implementation)))
    warnings.push_back({"no_gpu",
                        "there is no GPU here that kernels can be built for and run on, so auto "
                        "chose the processor",
                        {}});
}

CreateRunAnswer answer_of(RunView view, const Contract& contract, const BuildRecord& build) {
  CreateRunAnswer answer{std::move(view)};
  answer.device = contract.device_name;
  answer.implementation = contract.implementation;
  answer.build = build;
  answer.any_size = contract.any_size;
  answer.lab = contract.lab;
  return answer;
}

Result<CreateRunAnswer> create(const Services& services, CreateRunArgs args,
                               const CallContext& caller) {
  Stopwatch watch;
  watch.begin("planning");
  args.lab = home_of(args.lab, services.lab.labs());
  LabMeter meter("No run was created: give a larger limit.");
  meter.set({}, args);
  CallContext call = caller.metered_by(meter);
  const auto output = services.roots.output_folder(args.output_dir);
  if (!output) return output.error().at("output_dir");
  if (auto usable = Runs::usable_folder(*output, args.confirm); !usable) return usable.error();
  auto plan = args.fork_from ? forked(services, args) : planned(services, args, call);
  if (!plan) return plan.error();
  Contract* const contract = &plan->contract;

  call.progress(0, 4, "building v0 and its reference, probing the environment");
  watch.begin("preparing");
  auto prepared = services.lab.prepare(*contract, call);
  if (!prepared) return prepared.error();
  for (auto& part : prepared->spent) part.within = "preparing";
  watch.add(std::move(prepared->spent));
  auto& v0 = prepared->kernel;
  if (!v0.build.ok) return build_failure(v0.build);
  const auto secret = secret_of(args);
  call.progress(1, 4, "testing the reference and the control answers");
  watch.begin("testing the reference");
  auto warnings = services.lab.validate_task(*contract, secret, call);
  if (!warnings) return warnings.error();
  warn_of_processor(args, *contract, *warnings);
  call.progress(2, 4, "trying v0 at odd and tiny sizes");
  watch.begin("odd and tiny sizes");
  if (auto decided = decide_sizes(services, args, *contract, v0, secret, *warnings, call); !decided)
    return decided.error();

  call.progress(3, 4, "freezing the contract");
  watch.begin("freezing");
  auto view = services.runs.create({.contract = *contract,
                                    .environment = std::move(prepared->environment),
                                    .v0 = v0,
                                    .warnings = *warnings,
                                    .output_dir = *output,
                                    .overwrite = args.confirm,
                                    .secret = secret,
                                    .search = {.branches = args.branches,
                                               .stop = args.stop.value_or(StopConditions{}),
                                               .budget = limits_of(args)},
                                    .forked_from = args.fork_from,
                                    .suite_baselines = plan->suite_baselines});
  if (!view) return view.error();
  if (auto kept = services.runs.labs().record(view->run, meter); !kept) return kept.error();
  auto status = services.runs.status(view->run);
  if (!status) return status.error();
  auto answer = answer_of(*std::move(view), *contract, v0.build);
  answer.contract_digest = status->contract_digest;
  answer.warnings = *std::move(warnings);
  answer.spent = watch.stop();
  return answer;
}

}  // namespace

Tool create_run(const Services& services) {
  return make_tool<CreateRunArgs, CreateRunAnswer>(
      {.name = "create_run",
       .summary =
           "Start a run: freeze kernel, reference, sizes, types and tolerances, build v0 and "
           "report the task's weak points.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop,
       .builds = true},
      [services](const CreateRunArgs& args, CallContext& call) {
        return create(services, args, call);
      });
}

}  // namespace ratchet

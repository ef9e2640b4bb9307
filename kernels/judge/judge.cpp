#include "kernels/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/contract/input_init.h"
#include "kernels/contract/layout.h"
#include "kernels/contract/tolerance.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

constexpr std::int64_t kMostShift = std::int64_t{32} * 1024;

Error worker_failed(const Fault& fault) {
  return Error{ErrorCode::internal,
               fmt::format("the judge's worker failed ({}): {}", fault.kind, fault.message)};
}

/// Whether the reference left no stretch of eight poisoned bytes in an output.
bool writes_all(const wire::ArenaLayout& layout, std::span<const std::byte> sent,
                std::span<const std::byte> expected) {
  constexpr std::size_t kStretch = 8;
  for (const auto& buffer : layout.buffers) {
    if (buffer.role != Role::out) continue;
    const auto first = static_cast<std::size_t>(buffer.offset);
    const auto last = first + static_cast<std::size_t>(buffer.bytes());
    for (std::size_t at = first; at + kStretch <= last; at += kStretch)
      if (std::memcmp(&sent[at], &expected[at], kStretch) == 0) return false;
  }
  return true;
}

WorkerSpec host_judge_spec(const ReferenceParts& parts, std::int64_t arena_bytes) {
  WorkerPlace host = parts.place;
  host.kind = DeviceKind::host;  // bytes are judged on the host, whichever device wrote them
  host.device = 0;
  return worker_spec(host, "judge", arena_bytes);
}

}  // namespace

Result<bool> same_outputs(const wire::ArenaLayout& layout, const MemoryFile& a,
                          const MemoryFile& b) {
  const auto first = a.map(Mapping::Access::read);
  if (!first) return first.error();
  const auto second = b.map(Mapping::Access::read);
  if (!second) return second.error();
  return std::all_of(layout.buffers.begin(), layout.buffers.end(), [&](const wire::Buffer& buffer) {
    const auto from = static_cast<std::size_t>(buffer.offset);
    const auto size = static_cast<std::size_t>(buffer.bytes());
    return buffer.role == Role::in || std::ranges::equal(first->bytes().subspan(from, size),
                                                         second->bytes().subspan(from, size));
  });
}

std::string trial_seed(std::string_view run_secret, std::string_view candidate_digest,
                       std::string_view place) {
  return hex(hmac_sha256(run_secret, fmt::format("{}\n{}", candidate_digest, place)));
}

std::string fresh_seed() {
  return hex(sha256(random_bytes(sizeof(Digest))));
}

std::uint64_t fresh_number() {
  std::uint64_t number = 0;
  const std::string bytes = random_bytes(sizeof number);
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::int64_t shift_of(std::string_view seed) {
  const Digest digest = sha256(fmt::format("shift of {}", seed));
  const std::int64_t steps = kMostShift / wire::kAlignment;
  return (digest[0] | digest[1] << 8) % steps * wire::kAlignment;
}

Result<std::int64_t> largest_arena(const Contract& contract) {
  std::int64_t largest = 0;
  for (const auto& one : contract.cases) {
    auto layout = layout_of(contract, one.dims);
    if (!layout) return layout.error();
    largest = std::max(largest, layout->bytes);
  }
  return largest;
}

Result<CallPlan> call_plan_of(const Contract& contract, const Dims& dims) {
  auto layout = layout_of(contract, dims);
  if (!layout) return layout.error();
  auto arguments = arguments_of(contract, dims, *layout);
  return CallPlan{*std::move(layout), std::move(arguments)};
}

std::vector<std::string> given_inputs(const Contract& contract) {
  std::vector<std::string> names;
  for (const auto& tensor : contract.tensors)
    if (tensor.role != Role::out && tensor.init == kGivenInit) names.push_back(tensor.name);
  return names;
}

std::optional<int> gpu_of(const Contract& contract) {
  return contract.device_kind == DeviceKind::cuda ? std::optional(contract.device) : std::nullopt;
}

Result<std::optional<PythonInputs>> open_inputs(PythonForkServer& python, const Contract& contract,
                                                std::optional<int> gpu,
                                                std::chrono::milliseconds deadline,
                                                const CallContext& call) {
  auto function = inputs_function(contract.kernel, contract.reference);
  if (given_inputs(contract).empty() || !function) return std::optional<PythonInputs>{};
  for (const auto& parameter : contract.parameters)
    if (parameter.value) function->scalars[parameter.name] = *parameter.value;
  auto inputs = PythonInputs::open(python, *function, gpu, deadline, call);
  if (!inputs) return inputs.error();
  return std::optional<PythonInputs>(*std::move(inputs));
}

Result<std::unique_ptr<Judge>> Judge::open(const ReferenceParts& parts, const Contract& contract,
                                           const CallContext& call) {
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  auto worker = launched(parts.spares, host_judge_spec(parts, *arena_bytes));
  if (!worker) return worker.error();
  auto reference = open_reference(parts, contract, *arena_bytes, call);
  if (!reference) return reference.error();
  auto inputs =
      open_inputs(parts.python, contract, gpu_of(contract), parts.place.job_deadline, call);
  if (!inputs) return inputs.error();
  auto check = PropertyCheck::open(parts, contract, call);
  if (!check) return check.error();
  if (auto greeted = worker->greet(call); !greeted) return greeted.error();
  return std::unique_ptr<Judge>(new Judge(contract, *std::move(worker), *std::move(reference),
                                          *std::move(inputs), *std::move(check),
                                          parts.place.job_deadline));
}

JudgeSpecs Judge::specs(const ReferenceParts& parts, const Contract& contract) {
  const auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return {};
  return {host_judge_spec(parts, *arena_bytes),
          compiled_reference_spec(parts, contract, *arena_bytes)};
}

Status Judge::renew_reference(const ReferenceParts& parts, Endings& endings,
                              const CallContext& call) {
  auto arena_bytes = largest_arena(contract_);
  if (!arena_bytes) return arena_bytes.error();
  auto reference = open_reference(parts, contract_, *arena_bytes, call);
  if (!reference) return reference.error();
  endings.add(std::exchange(reference_, *std::move(reference)));
  return {};
}

Result<wire::Reply> Judge::ask(const wire::Request& request, std::span<const int> descriptors,
                               const CallContext& call) {
  auto reply = worker_.run(request, descriptors, deadline_, call);
  if (reply && reply->fault) return worker_failed(*reply->fault);
  return reply;
}

Result<MemoryFile> Judge::generate(const Dims& dims, wire::Generate plan, const CallContext& call) {
  auto sent = MemoryFile::create("inputs", plan.layout.bytes);
  if (!sent) return sent.error();
  if (inputs_) plan.given = given_inputs(contract_);
  const int descriptor = sent->fd();
  auto made = ask({.generate = plan}, {&descriptor, 1}, call);
  if (!made) return made.error();
  if (inputs_)
    if (auto filled = inputs_->fill(dims, plan.layout, plan.given, plan.seed, *sent, call); !filled)
      return filled.error();
  return sent;
}

Result<Trial> Judge::answered(const Dims& dims, const std::string& distribution, CallPlan plan,
                              MemoryFile sent, const CallContext& call) {
  if (auto sealed = sent.seal(); !sealed) return sealed.error();
  auto expected = reference_->answer(dims, plan, sent, call);
  if (!expected) return expected.error();
  Trial trial{dims, distribution, std::move(plan), std::move(sent), *std::move(expected), true};
  trial.number = ++trials_;
  return trial;
}

Result<Trial> Judge::make_trial(const Dims& dims, const std::string& distribution,
                                std::string_view seed, const CallContext& call) {
  auto plan = call_plan_of(contract_, dims);
  if (!plan) return plan.error();
  auto sent =
      generate(dims, {plan->layout, std::string(seed), distribution, index_limit(dims)}, call);
  if (!sent) return sent.error();
  auto trial = answered(dims, distribution, *std::move(plan), *std::move(sent), call);
  if (!trial) return trial;
  const auto before = trial->sent.map(Mapping::Access::read);
  if (!before) return before.error();
  const auto after = trial->expected.map(Mapping::Access::read);
  if (!after) return after.error();
  trial->writes_all = writes_all(trial->plan.layout, before->bytes(), after->bytes());
  if (auto described = describe(*trial, call); !described) return described.error();
  return trial;
}

Status Judge::describe(Trial& trial, const CallContext& call) {
  if (!contract_.judge) return {};
  const int descriptor = trial.expected.fd();
  auto reply = ask({.describe = wire::Describe{trial.plan.layout}}, {&descriptor, 1}, call);
  if (!reply) return reply.error();
  if (!reply->answered) return Error{ErrorCode::internal, "the judge described no answer"};
  trial.rms = std::move(reply->answered->rms);
  trial.not_finite = reply->answered->not_finite;
  return {};
}

Result<Trial> Judge::changed(const Trial& trial, const wire::Changed& changed,
                             const CallContext& call) {
  auto sent = MemoryFile::create("changed inputs", trial.plan.layout.bytes);
  if (!sent) return sent.error();
  const std::array descriptors{trial.sent.fd(), sent->fd()};
  auto done = ask({.change = wire::Change{trial.plan.layout, changed}}, descriptors, call);
  if (!done) return done.error();
  auto after = answered(trial.dims, kSliceDistribution, trial.plan, *std::move(sent), call);
  if (!after) return after;
  if (auto described = describe(*after, call); !described) return described.error();
  return after;
}

Result<bool> Judge::moved(const Trial& trial, const Trial& changed, const CallContext& call) {
  // The old answer, as if a kernel had returned it to the changed inputs.
  auto stale = forge(changed, trial, wire::Control::stale, call);
  if (!stale) return stale.error();
  auto verdict = compare_strictly(changed, **stale, call, contract_.judge->moved);
  if (!verdict) return verdict.error();
  return !verdict->objection.empty() ||
         std::ranges::any_of(verdict->outputs,
                             [](const OutputError& output) { return output.mismatches > 0; });
}

Result<const Judge::Shadow*> Judge::shadow_of(const Trial& trial, const CallContext& call) {
  if (shadowed_ != trial.number) {
    shadow_.reset();
    auto made = make_shadow(trial, call);
    if (!made) return made.error();
    shadow_ = *std::move(made);
    shadowed_ = trial.number;
  }
  return shadow_ ? &*shadow_ : nullptr;
}

Result<std::optional<Judge::Shadow>> Judge::make_shadow(const Trial& trial,
                                                        const CallContext& call) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
  auto plan = wide_call_of(contract_, trial.dims, trial.plan.layout);
  auto& wide = plan.layout;
  if (wide.bytes > kMostBytes) return std::optional<Shadow>{};
  auto inputs = MemoryFile::create("wide inputs", wide.bytes);
  if (!inputs) return inputs.error();
  const std::array descriptors{trial.sent.fd(), inputs->fd()};
  auto done = ask({.widen = wire::Widen{trial.plan.layout, wide}}, descriptors, call);
  if (!done) return done.error();
  if (auto sealed = inputs->seal(); !sealed) return sealed.error();
  auto answer = reference_->shadow(trial.dims, plan, *inputs, call);
  if (!answer) return std::optional<Shadow>{};
  return std::optional<Shadow>(Shadow{std::move(wide), *std::move(answer)});
}

Result<Trial> Judge::refreshed(const Trial& trial, const std::string& seed, int uses,
                               const CallContext& call) {
  auto sent = MemoryFile::create("refreshed inputs", trial.plan.layout.bytes);
  if (!sent) return sent.error();
  const std::array descriptors{trial.sent.fd(), sent->fd()};
  auto done = ask({.refresh = wire::Refresh{trial.plan.layout, {seed, uses}}}, descriptors, call);
  if (!done) return done.error();
  return answered(trial.dims, trial.distribution, trial.plan, *std::move(sent), call);
}

Result<Trial> Judge::with_other(const Trial& trial, const std::string& tensor,
                                std::string_view seed, const CallContext& call) {
  const auto& layout = trial.plan.layout;
  auto sent = generate(
      trial.dims, {layout, std::string(seed), trial.distribution, index_limit(trial.dims)}, call);
  if (!sent) return sent.error();
  {
    const auto first = trial.sent.map(Mapping::Access::read);
    if (!first) return first.error();
    const auto mixed = sent->map(Mapping::Access::write);
    if (!mixed) return mixed.error();
    for (const auto& buffer : layout.buffers) {
      if (buffer.name == tensor) continue;
      const auto place = static_cast<std::size_t>(buffer.offset);
      const auto size = static_cast<std::size_t>(buffer.bytes());
      std::ranges::copy(first->bytes().subspan(place, size),
                        mixed->bytes().subspan(place, size).begin());
    }
  }
  return answered(trial.dims, trial.distribution, trial.plan, *std::move(sent), call);
}

Result<std::optional<MemoryFile>> Judge::forge(const Trial& trial, const Trial& other,
                                               wire::Control control, const CallContext& call) {
  auto answer = MemoryFile::create("control", trial.plan.layout.bytes);
  if (!answer) return answer.error();
  const std::array descriptors{trial.sent.fd(), trial.expected.fd(), other.expected.fd(),
                               answer->fd()};
  auto done = ask({.forge = wire::Forge{trial.plan.layout, control}}, descriptors, call);
  if (!done) return done.error();
  if (!done->forged.value_or(false)) return std::optional<MemoryFile>{};
  return std::optional<MemoryFile>(*std::move(answer));
}

Result<wire::Compare> Judge::plan_of(const Trial& trial, Beside beside, double factor,
                                     const CallContext& call) {
  TrialFacts facts{trial.distribution, {}, {}, false, beside.shadow, beside.terms};
  if (contract_.judge) {
    auto known = facts_of(trial.dims, call);
    if (!known) return known.error();
    const auto& rms = (*known)->rms;
    facts.elementwise = (*known)->elementwise;
    facts.normal_rms = rms.at("normal");
    // Pooled magnitudes only exist for short outputs.
    if (rms.size() > 1) {
      const auto own = rms.find(trial.distribution);
      facts.least_rms = own == rms.end() ? facts.normal_rms : own->second;
    }
  }
  return loosened(comparison_plan(contract_, trial.dims, trial.plan.layout, atol(), rtol(), facts),
                  factor);
}

Result<wire::Comparison> Judge::compare(const Trial& trial, const MemoryFile& returned,
                                        const CallContext& call, double factor) {
  auto verdict = compare_strictly(trial, returned, call, factor);
  if (!verdict || verdict->passed || check_ || !allows_for_terms(contract_)) return verdict;
  auto terms = terms_of(trial, call);
  if (!terms) return terms.error();
  if (!*terms) return verdict;
  auto shadow = shadow_of(trial, call);
  if (!shadow) return shadow.error();
  auto loosened = compared(trial, returned, *shadow, *terms, factor, call);
  if (loosened) loosened->by_terms = loosened->passed;
  return loosened;
}

Result<wire::Comparison> Judge::compare_strictly(const Trial& trial, const MemoryFile& returned,
                                                 const CallContext& call, double factor) {
  if (check_) return checked(trial, returned, call);
  if (!contract_.judge) return compared(trial, returned, nullptr, nullptr, factor, call);
  if (!shadow_tightens(contract_, atol(), rtol())) {
    auto verdict = compared(trial, returned, nullptr, nullptr, factor, call);
    // Computing in float64 takes as long as the answer itself, and could only allow more.
    if (!verdict || verdict->passed) return verdict;
  }
  auto shadow = shadow_of(trial, call);
  if (!shadow) return shadow.error();
  return compared(trial, returned, *shadow, nullptr, factor, call);
}

Result<wire::Comparison> Judge::compared(const Trial& trial, const MemoryFile& returned,
                                         const Shadow* shadow, const MemoryFile* terms,
                                         double factor, const CallContext& call) {
  auto plan = plan_of(trial, {shadow != nullptr, terms != nullptr}, factor, call);
  if (!plan) return plan.error();
  std::vector<int> descriptors{trial.sent.fd(), returned.fd(), trial.expected.fd()};
  if (shadow) {
    plan->wide = shadow->layout;
    descriptors.push_back(shadow->answer.fd());
  }
  plan->with_terms = terms != nullptr;
  if (terms) descriptors.push_back(terms->fd());
  const auto asked = [&](wire::Compare how) -> Result<wire::Comparison> {
    auto reply = ask({.compare = std::move(how)}, descriptors, call);
    if (!reply) return reply.error();
    if (!reply->comparison) return Error{ErrorCode::internal, "the judge gave no verdict"};
    return *std::move(reply->comparison);
  };
  auto verdict = asked(*plan);
  if (!verdict || !leaves_rest(contract_, *verdict)) return verdict;
  auto of_rest = asked(plan_for_rest(contract_, *std::move(plan)));
  return of_rest && of_rest->passed ? verdict : of_rest;
}

Result<wire::Comparison> Judge::checked(const Trial& trial, const MemoryFile& returned,
                                        const CallContext& call) {
  wire::Compare plan{trial.plan.layout, {}, {}};
  constexpr wire::Tolerance kAny{.atol = std::numeric_limits<double>::max(), .exact = false};
  plan.tolerances.assign(plan.layout.buffers.size(), kAny);
  const std::array descriptors{trial.sent.fd(), returned.fd(), trial.expected.fd()};
  auto reply = ask({.compare = plan}, descriptors, call);
  if (!reply) return reply.error();
  if (!reply->comparison) return Error{ErrorCode::internal, "the judge gave no verdict"};
  auto verdict = *std::move(reply->comparison);
  if (!verdict.passed) return verdict;
  auto objection = check_->objection(trial.dims, trial.plan, trial.sent, returned, call);
  if (!objection) return objection.error();
  verdict.objection = *std::move(objection);
  verdict.passed = verdict.objection.empty();
  return verdict;
}

Result<bool> Judge::stayed(const Trial& trial, const Trial& changed, const MemoryFile& returned,
                           const CallContext& call, double factor) {
  auto plan = plan_of(changed, {}, factor, call);
  if (!plan) return plan.error();
  const std::array descriptors{changed.sent.fd(), returned.fd(), trial.expected.fd()};
  auto reply = ask({.compare = *std::move(plan)}, descriptors, call);
  if (!reply) return reply.error();
  return reply->comparison && reply->comparison->passed;
}

wire::Tolerance Judge::tolerance_of(DType type) const {
  return tolerance_for(type, atol(), rtol());
}

std::optional<double> Judge::atol() const {
  return contract_.atol ? contract_.atol : reference_->atol();
}

std::optional<double> Judge::rtol() const {
  return contract_.rtol ? contract_.rtol : reference_->rtol();
}

}  // namespace ratchet

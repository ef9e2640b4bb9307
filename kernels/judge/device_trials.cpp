#include "kernels/judge/device_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/contract/input_init.h"
#include "kernels/contract/layout.h"
#include "kernels/contract/tolerance.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/python_reference.h"
#include "kernels/protocol/shared_pieces.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

/// The library of kernels/cuda/judge.cu for this device; cached after the first build.
Result<std::string> judge_library(const ReferenceParts& parts, const std::string& arch,
                                  const CallContext& call) {
  auto text = read_file(parts.data_dir / "cuda" / "judge.cu");
  if (!text) return unavailable(text.error().message);
  BuildRequest request;
  request.source = {"judge.cu", *std::move(text), (parts.data_dir / "cuda").string()};
  request.language = Language::cuda;
  request.entry = "ratchet_judge";
  request.arch = arch;
  auto build = parts.builder.build(request, call);
  if (!build) return build.error();
  if (!build->ok)
    return unavailable("the device's judge does not build" +
                       (build->errors.empty() ? "" : ": " + build->errors.front().message));
  const auto path = parts.builder.path_of(build->build_key);
  if (!path) return path.error();
  return read_file(*path);
}

/// For processes that run one thing at a time and are never timed: a context with one connection to
/// the device, which a driver makes in half the time, one process after another.
WorkerSpec with_one_connection(WorkerSpec spec) {
  spec.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
  return spec;
}

WorkerSpec judge_spec(const ReferenceParts& parts, std::int64_t arena_bytes) {
  auto spec = with_one_connection(worker_spec(parts.place, "judge", arena_bytes));
  spec.gives_descriptors = true;
  return spec;
}

/// A Python reference runs like a timed framework baseline.
WorkerSpec reference_spec(const ReferenceParts& parts, const Contract& contract,
                          std::int64_t arena_bytes) {
  return with_one_connection(
      contract.reference_kind != ReferenceKind::python
          ? worker_spec(parts.place, "candidate", arena_bytes)
          : parts.python.kernel_spec(parts.place, "baseline", arena_bytes, contract.reference));
}

Result<CandidateProcess::Code> reference_code(const ReferenceParts& parts, const Contract& contract,
                                              const CallContext& call) {
  const auto& source = contract.reference;
  if (contract.reference_kind == ReferenceKind::python)
    return CandidateProcess::Code{source.text, {source.file_name, "reference", "reference"}};
  auto library = build_reference(parts, contract, call);
  if (!library) return library.error();
  return CandidateProcess::Code{std::move(library->bytes), {"the reference", library->entry, ""}};
}

/// Padding between places, so that a shifted arena stays within its own place.
constexpr std::int64_t kPlaceRoom = std::int64_t{64} * 1024;

std::int64_t place_bytes(std::int64_t arena_bytes) {
  // Even small arenas lie in different pieces of memory.
  return (arena_bytes + kPlaceRoom + wire::kPieceStep - 1) / wire::kPieceStep * wire::kPieceStep;
}

wire::Share share_of(std::int64_t arena_bytes, const DeviceTrials::Room& room) {
  // Pieces are for what is timed, in several places; each costs the driver some ten calls.
  return {arena_bytes, room.places * place_bytes(arena_bytes) - kPlaceRoom, room.candidates,
          room.places > 1 ? 0 : 1};
}

/// Whether the reference's process can make all inputs that a function of the user makes.
bool makes_all_inputs(const Contract& contract) {
  if (given_inputs(contract).empty()) return true;
  const auto function = inputs_function(contract.kernel, contract.reference);
  return function && function->of_reference;
}

Error inputs_failed(const Contract& contract, const Fault& fault) {
  const auto& file = contract.reference.file_name;
  return invalid_argument(fmt::format("inputs of {}: {}", file, fault.text()),
                          fmt::format("Fix inputs in {}.", file));
}

/// A tolerance that ref.py computes when loaded is known only in its own process.
bool works_out_tolerances(const Contract& contract) {
  const auto& text = contract.reference.text;
  const auto assigns = [&](const std::string& name) {
    return text.starts_with(name) || text.find("\n" + name) != std::string::npos;
  };
  return (!contract.atol && assigns("atol")) || (!contract.rtol && assigns("rtol"));
}

}  // namespace

bool answers_on_device(const Contract& contract) {
  if (contract.device_kind != DeviceKind::cuda || checks_properties(contract)) return false;
  if (!makes_all_inputs(contract)) return false;
  if (contract.reference_kind == ReferenceKind::cuda) return true;
  const bool torch = contract.reference_kind == ReferenceKind::python &&
                     contract.reference.text.find("torch") != std::string::npos;
  const auto& dims = contract.cases.front().dims;
  return torch && !works_out_tolerances(contract) &&
         std::ranges::all_of(dims, [&](const auto& dim) {
           return std::ranges::find(contract.parameters, dim.first, &Parameter::name) !=
                  contract.parameters.end();
         });
}

void warm_device_judge(const ReferenceParts& parts, const std::string& arch,
                       const CallContext& call) {
  (void)judge_library(parts, arch, call);
}

Result<std::unique_ptr<DeviceTrials>> DeviceTrials::launch(const ReferenceParts& parts,
                                                           const Contract& contract,
                                                           const Room& room,
                                                           const CallContext& call) {
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  auto judge = launched(parts.spares, judge_spec(parts, *arena_bytes));
  auto reference = CandidateProcess::launch(reference_spec(parts, contract, *arena_bytes),
                                            parts.place.job_deadline, parts.spares);
  auto ours = judge_library(parts, contract.arch, call);
  auto theirs = reference_code(parts, contract, call);
  if (!judge) return judge.error();
  if (!reference) return reference.error();
  if (!theirs) return theirs.error();
  if (!ours) return ours.error();
  std::unique_ptr<DeviceTrials> trials(new DeviceTrials(
      contract, *std::move(judge), *std::move(reference), share_of(*arena_bytes, room)));
  trials->given_ = given_inputs(contract);
  trials->judge_library_ = *std::move(ours);
  trials->reference_code_ = *std::move(theirs);
  trials->deadline_ = parts.place.job_deadline;
  return trials;
}

JudgeSpecs DeviceTrials::specs(const ReferenceParts& parts, const Contract& contract) {
  const auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return {};
  return {judge_spec(parts, *arena_bytes), reference_spec(parts, contract, *arena_bytes)};
}

Status DeviceTrials::load_reference(const CallContext& call) {
  if (loaded_) return {};
  if (auto loaded = reference_.load(reference_code_, call); !loaded) return loaded;
  if (reference_.fault()) return reference_failed(*reference_.fault());
  loaded_ = true;
  return {};
}

Status DeviceTrials::settle_reference(const ReferenceParts& parts, Endings& endings,
                                      const CallContext& call) {
  const auto same = answers_as_before(call);
  if (same && *same) return {};
  auto reference = CandidateProcess::launch(reference_spec(parts, contract_, share_.arena_bytes),
                                            parts.place.job_deadline, parts.spares);
  if (!reference) return reference.error();
  endings.add(std::exchange(reference_, *std::move(reference)));
  loaded_ = attached_ = false;
  return {};
}

Status DeviceTrials::open(const CallContext& call) {
  if (auto loaded = load_reference(call); !loaded) return loaded;
  if (auto greeted = judge_.greet(call); !greeted) return greeted;
  auto file = MemoryFile::holding("judge", judge_library_);
  if (!file) return file.error();
  wire::Request load;
  load.load = wire::Load{"the judge's library", "ratchet_judge", ""};
  const int descriptor = file->fd();
  if (auto loaded = ask(load, {&descriptor, 1}, call); !loaded) return loaded.error();
  if (auto shared = renew(call); !shared) return shared;
  return makes_inputs() ? try_inputs(call) : Status{};
}

Status DeviceTrials::renew(const CallContext& call) {
  if (auto loaded = load_reference(call); !loaded) return loaded;
  candidates_memories_.clear();  // a descriptor keeps its memory from being freed
  ++dealt_;
  auto shared = ask({.share = share_}, {}, call);
  if (!shared) return shared.error();
  free_bytes_ = shared->first.free_bytes.value_or(0);
  auto& memories = shared->second;
  // Of the reference, and then equally many pieces of each candidate, if there are any.
  const auto candidates = static_cast<std::size_t>(share_.candidates);
  if (memories.size() <= candidates ||
      (memories.size() - 1) % std::max<std::size_t>(candidates, 1) != 0)
    return Error{ErrorCode::internal, "the judge process did not pass its shared memory"};
  if (!attached_) {  // the judge keeps this memory
    if (auto done = reference_.attach({memories.data(), 1}, share_.arena_bytes, call); !done)
      return done;
    if (reference_.fault()) return reference_failed(*reference_.fault());
    attached_ = true;
  }
  memories.erase(memories.begin());
  candidates_memories_ = std::move(memories);
  return {};
}

Status DeviceTrials::renew(const Room& room, const CallContext& call) {
  share_ = share_of(share_.arena_bytes, room);
  return renew(call);
}

Status DeviceTrials::try_inputs(const CallContext& call) {
  const auto& dims = contract_.cases.front().dims;
  auto plan = call_plan_of(contract_, dims);
  if (!plan) return plan.error();
  const Content content{dims, "normal", fresh_seed(), {}, {}};
  const auto made = generate(*plan, content, {}, call);
  return made ? Status{} : Status(unavailable(made.error().message));
}

Status DeviceTrials::share_with(CandidateProcess& process, int candidate, const CallContext& call) {
  const auto pieces = candidates_memories_.size() / static_cast<std::size_t>(share_.candidates);
  const auto first = static_cast<std::size_t>(candidate) * pieces;
  return process.attach(std::span(candidates_memories_).subspan(first, pieces),
                        share_.candidate_bytes, call);
}

std::vector<std::int64_t> DeviceTrials::places(std::int64_t bytes, int count) const {
  const auto total = share_.candidate_bytes + kPlaceRoom;
  const auto fitting =
      std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(1, total / place_bytes(bytes)));
  const bool in_small_pieces =
      total > wire::kMostInPieces && place_bytes(bytes) <= wire::kSmallPiece;
  const auto apart =
      in_small_pieces ? wire::kSmallPiece : total / fitting / wire::kPieceStep * wire::kPieceStep;
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < fitting; ++i) at.push_back(i * apart);
  return at;
}

Status DeviceTrials::generate(const CallPlan& plan, const Content& content,
                              const std::optional<wire::Place>& place, const CallContext& call) {
  now_ = {plan,
          content.dims,
          {{plan.layout, content.seed, content.distribution, index_limit(content.dims), given_},
           place,
           false,
           content.changed,
           content.uses},
          {},
          {}};
  auto first = now_.generated;
  if (makes_inputs()) {
    first.place.reset();
    first.uses.reset();
  }
  if (auto generated = ask({.generate_on_device = first}, {}, call); !generated)
    return generated.error();
  if (!makes_inputs()) return {};
  auto made = make_inputs(false, call);
  return made ? Status{} : Status(made.error());
}

Result<bool> DeviceTrials::make_inputs(bool anew, const CallContext& call) {
  const wire::MadeInputs inputs{given_, inputs_seed(now_.generated.content.seed), anew};
  if (auto done = reference_.run_attached(now_.plan, 0, call, inputs); !done) return done.error();
  if (reference_.fault()) return inputs_failed(contract_, *reference_.fault());
  auto adopting = now_.generated;
  adopting.adopt = true;
  auto adopted = ask({.generate_on_device = adopting}, {}, call);
  if (!adopted) return adopted.error();
  return adopted->first.same_bits.value_or(false);
}

Result<bool> DeviceTrials::repeats_inputs(const CallContext& call) {
  return make_inputs(true, call);
}

Status DeviceTrials::generate_again(const wire::Place& place, const CallContext& call) {
  now_.generated.again = true;
  now_.generated.place = place;
  auto generated = ask({.generate_on_device = now_.generated}, {}, call);
  if (!generated) return generated.error();
  return {};
}

Status DeviceTrials::answer(const CallContext& call) {
  if (auto done = reference_.run_attached(now_.plan, 0, call); !done) return done;
  if (reference_.fault()) return reference_failed(*reference_.fault());
  return {};
}

Result<wire::Answered> DeviceTrials::describe(const CallContext& call) {
  auto reply = ask({.describe_on_device = wire::DescribeOnDevice{}}, {}, call);
  if (!reply) return reply.error();
  if (!reply->first.answered) return Error{ErrorCode::internal, "the judge saw no answer"};
  return *std::move(reply->first.answered);
}

Result<DeviceTrials::Answer> DeviceTrials::ask(const wire::Request& request,
                                               std::span<const int> descriptors,
                                               const CallContext& call) {
  auto answer = judge_.ask(encode(request), descriptors, deadline_, call);
  if (!answer) return answer.error();
  if (answer->fault)
    return Error{ErrorCode::internal, "the judge's worker failed: " + answer->fault->message};
  auto reply = decode_stored<wire::Reply>(answer->body);
  if (!reply) return reply.error();
  if (reply->error) return unavailable(*reply->error);
  if (reply->fault) return unavailable("the judge's library: " + reply->fault->message);
  return Answer{*std::move(reply), std::move(answer->descriptors)};
}

}  // namespace ratchet

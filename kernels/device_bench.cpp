#include "kernels/device_bench.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/layout.h"
#include "kernels/tolerance.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

/// The library of kernels/cuda/judge.cu for this device, from the build cache after the first time.
Result<std::string> judge_library(const ReferenceParts& parts, const Contract& contract,
                                  const CallContext& call) {
  auto text = read_file(parts.data_dir / "cuda" / "judge.cu");
  if (!text) return Error{ErrorCode::unavailable, text.error().message, ""};
  BuildRequest request;
  request.source = {"judge.cu", *std::move(text), ""};
  request.cuda = true;
  request.entry = "ratchet_judge";
  request.arch = contract.arch;
  auto build = parts.builder.build(request, call);
  if (!build) return build.error();
  if (!build->ok)
    return Error{ErrorCode::unavailable,
                 "the device's judge does not build" +
                     (build->errors.empty() ? "" : ": " + build->errors.front().message),
                 ""};
  const auto path = parts.builder.path_of(build->build_key);
  if (!path) return path.error();
  return read_file(*path);
}

/// A reference in Python runs as a framework's function does when it is timed.
WorkerSpec reference_spec(const ReferenceParts& parts, const Contract& contract,
                          std::int64_t arena_bytes) {
  if (contract.reference_kind != ReferenceKind::python)
    return worker_spec(parts.place, "candidate", arena_bytes);
  return parts.python.kernel_spec(parts.place, "baseline", arena_bytes, contract.reference);
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

/// A tolerance that ref.py works out when it is loaded is known to its own process alone.
bool works_out_tolerances(const Contract& contract) {
  const auto& text = contract.reference.text;
  const auto assigns = [&](const std::string& name) {
    return text.starts_with(name) || text.find("\n" + name) != std::string::npos;
  };
  return (!contract.atol && assigns("atol")) || (!contract.rtol && assigns("rtol"));
}

}  // namespace

bool DeviceBench::serves(const Contract& contract) {
  if (contract.device_kind != DeviceKind::cuda) return false;
  if (contract.reference_kind == ReferenceKind::cuda) return true;
  const bool torch = contract.reference_kind == ReferenceKind::python &&
                     contract.reference.text.find("torch") != std::string::npos;
  const bool given =
      std::ranges::find(contract.tensors, kGivenInit, &TensorSpec::init) != contract.tensors.end();
  const auto& dims = contract.cases.front().dims;
  return torch && !given && !works_out_tolerances(contract) &&
         std::ranges::all_of(dims, [&](const auto& dim) {
           return std::ranges::find(contract.parameters, dim.first, &Parameter::name) !=
                  contract.parameters.end();
         });
}

Result<std::unique_ptr<DeviceBench>> DeviceBench::launch(const ReferenceParts& parts,
                                                         const Contract& contract) {
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  auto spec = worker_spec(parts.place, "judge", *arena_bytes);
  spec.gives_descriptors = true;
  auto judge = WorkerProcess::launch(spec);
  if (!judge) return judge.error();
  auto reference = CandidateProcess::launch(reference_spec(parts, contract, *arena_bytes),
                                            parts.place.job_deadline);
  if (!reference) return reference.error();
  return std::unique_ptr<DeviceBench>(new DeviceBench(
      contract, *std::move(judge), *std::move(reference), parts.place.job_deadline, *arena_bytes));
}

Status DeviceBench::load(const ReferenceParts& parts, const CallContext& call) {
  const auto theirs = reference_code(parts, contract_, call);
  if (!theirs) return theirs.error();
  const auto ours = judge_library(parts, contract_, call);
  if (!ours) return ours.error();
  if (auto loaded = reference_.load(*theirs, call); !loaded) return loaded;
  if (reference_.fault()) return reference_failed(*reference_.fault());
  if (auto greeted = judge_.greet(call); !greeted) return greeted;
  auto file = MemoryFile::holding("judge", *ours);
  if (!file) return file.error();
  job::Request request;
  request.load = job::Load{"the judge's library", "ratchet_judge", ""};
  const int descriptor = file->fd();
  auto loaded = ask(request, {&descriptor, 1}, call);
  if (!loaded) return loaded.error();
  return {};
}

Result<Fd> DeviceBench::share(const CallContext& call) {
  job::Request request;
  request.share = job::Share{arena_bytes_};
  auto shared = ask(request, {}, call);
  if (!shared) return shared.error();
  auto& memory = shared->second;
  if (memory.size() != 2) return Error{ErrorCode::internal, "the judge shared no memory", ""};
  if (auto done = reference_.attach(memory[1].get(), arena_bytes_, call); !done)
    return done.error();
  if (reference_.fault()) return reference_failed(*reference_.fault());
  return std::move(memory[0]);
}

Result<CallPlan> DeviceBench::plan_of(const Dims& dims) const {
  auto layout = layout_of(contract_, dims);
  if (!layout) return layout.error();
  auto arguments = arguments_of(contract_, dims, *layout);
  return CallPlan{*std::move(layout), std::move(arguments)};
}

Result<DeviceBench::Answer> DeviceBench::ask(const job::Request& request,
                                             std::span<const int> descriptors,
                                             const CallContext& call) {
  auto answer = judge_.ask(encode(request), descriptors, deadline_, call);
  if (!answer) return answer.error();
  if (answer->fault)
    return Error{ErrorCode::internal, "the judge's worker failed: " + answer->fault->message, ""};
  auto reply = decode_stored<job::Reply>(answer->body);
  if (!reply) return reply.error();
  if (reply->error) return Error{ErrorCode::unavailable, *reply->error, ""};
  if (reply->fault)
    return Error{ErrorCode::unavailable, "the judge's library: " + reply->fault->message, ""};
  return Answer{*std::move(reply), std::move(answer->descriptors)};
}

Status DeviceBench::pose(const job::Pose& pose, const CallContext& call) {
  job::Request request;
  request.pose = pose;
  auto posed = ask(request, {}, call);
  if (!posed) return posed.error();
  return {};
}

Status DeviceBench::answer(const CallPlan& plan, const CallContext& call) {
  if (auto done = reference_.run_attached(plan, 0, call); !done) return done;
  if (reference_.fault()) return reference_failed(*reference_.fault());
  return {};
}

Result<job::Answered> DeviceBench::look(const CallContext& call) {
  job::Request request;
  request.look = job::Look{};
  auto reply = ask(request, {}, call);
  if (!reply) return reply.error();
  if (!reply->first.answered) return Error{ErrorCode::internal, "the judge saw no answer", ""};
  return *std::move(reply->first.answered);
}

job::Compare DeviceBench::comparison(const Dims& dims, const CallPlan& plan) const {
  return comparison_plan(contract_, dims, plan.layout, contract_.atol, contract_.rtol);
}

Result<job::Reply> DeviceBench::weigh(const Dims& dims, const CallPlan& plan,
                                      const CallContext& call) {
  job::Request request;
  request.weigh = job::Weigh{comparison(dims, plan)};
  auto reply = ask(request, {}, call);
  if (!reply) return reply.error();
  if (!reply->first.comparison) return Error{ErrorCode::internal, "the judge gave no verdict", ""};
  return std::move(reply->first);
}

Result<std::optional<job::Comparison>> DeviceBench::feign(job::Control control, const Dims& dims,
                                                          const CallPlan& plan,
                                                          const CallContext& call) {
  job::Request request;
  request.feign = job::Feign{control, comparison(dims, plan)};
  auto reply = ask(request, {}, call);
  if (!reply) return reply.error();
  return std::move(reply->first.comparison);
}

job::Tolerance DeviceBench::tolerance_of(DType type) const {
  return tolerance_for(type, contract_.atol, contract_.rtol);
}

}  // namespace ratchet

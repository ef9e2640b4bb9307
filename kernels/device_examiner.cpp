// The examiner whose judge sits on the candidate's GPU.

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/examiner.h"
#include "kernels/init.h"
#include "kernels/layout.h"
#include "kernels/tolerance.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

class DeviceExaminer : public Examiner {
 public:
  DeviceExaminer(const Contract& contract, WorkerProcess judge, CandidateProcess reference,
                 CandidateProcess& candidate, milliseconds deadline)
      : contract_(contract),
        judge_(std::move(judge)),
        reference_(std::move(reference)),
        candidate_(candidate),
        deadline_(deadline) {}

  /// Loads the judge's library and has both sides take their memory in.
  Status share(std::string_view library, std::int64_t bytes, const CallContext& call) {
    auto file = MemoryFile::holding("judge", library);
    if (!file) return file.error();
    job::Request load;
    load.load = job::Load{"the judge's library", "ratchet_judge", ""};
    const int descriptor = file->fd();
    if (auto loaded = ask(load, {&descriptor, 1}, call); !loaded) return loaded.error();
    job::Request request;
    request.share = job::Share{bytes};
    auto shared = ask(request, {}, call);
    if (!shared) return shared.error();
    if (shared->second.size() != 2)
      return Error{ErrorCode::internal, "the judge shared no memory", ""};
    if (auto done = candidate_.attach(shared->second[0].get(), bytes, call); !done) return done;
    if (auto done = reference_.attach(shared->second[1].get(), bytes, call); !done) return done;
    if (reference_.fault()) return reference_failed(*reference_.fault());
    return {};
  }

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    auto layout = layout_of(contract_, question.dims);
    if (!layout) return layout.error();
    auto arguments = arguments_of(contract_, question.dims, *layout);
    const CallPlan plan{*std::move(layout), std::move(arguments)};
    job::Pose pose{{plan.layout, std::string(question.seed), question.distribution,
                    index_limit(question.dims)},
                   shift_of(question.seed),
                   false};
    if (auto posed = put(pose, call); !posed) return posed.error();
    if (auto done = reference_.run_attached(plan, 0, call); !done) return done.error();
    if (reference_.fault()) return reference_failed(*reference_.fault());
    auto first = weighed(plan, pose.shift, call);
    if (!first) return first.error();
    if (!*first) return std::optional<Examination>{};
    Examination examination{*std::move((*first)->comparison), std::nullopt};
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    pose.again = true;
    pose.shift = shift_of("again");
    if (auto posed = put(pose, call); !posed) return posed.error();
    auto second = weighed(plan, pose.shift, call);
    if (!second) return second.error();
    if (*second)
      examination.again = {(*second)->same_bits.value_or(false), std::move((*second)->comparison)};
    return std::optional<Examination>(std::move(examination));
  }

  [[nodiscard]] job::Tolerance tolerance_of(DType type) const override {
    return tolerance_for(type, contract_.atol, contract_.rtol);
  }

 private:
  using Answer = std::pair<job::Reply, std::vector<Fd>>;

  /// Asks the judge; its failure is ours.
  Result<Answer> ask(const job::Request& request, std::span<const int> descriptors,
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

  Status put(const job::Pose& pose, const CallContext& call) {
    job::Request request;
    request.pose = pose;
    auto posed = ask(request, {}, call);
    if (!posed) return posed.error();
    return {};
  }

  /// The candidate's call and what the judge says of it; empty after a fault.
  Result<std::optional<job::Reply>> weighed(const CallPlan& plan, std::int64_t shift,
                                            const CallContext& call) {
    if (auto done = candidate_.run_attached(plan, shift, call); !done) return done.error();
    if (candidate_.fault()) return std::optional<job::Reply>{};
    job::Request request;
    request.weigh = job::Weigh{{plan.layout, {}}};
    for (const auto& buffer : plan.layout.buffers)
      request.weigh->compare.tolerances.push_back(tolerance_of(buffer.dtype));
    auto reply = ask(request, {}, call);
    if (!reply) return reply.error();
    if (!reply->first.comparison)
      return Error{ErrorCode::internal, "the judge gave no verdict", ""};
    return std::optional<job::Reply>(std::move(reply->first));
  }

  Contract contract_;
  WorkerProcess judge_;
  CandidateProcess reference_;
  CandidateProcess& candidate_;
  milliseconds deadline_;
};

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

}  // namespace

Result<std::unique_ptr<Examiner>> open_device_examiner(const ReferenceParts& parts,
                                                       const Contract& contract,
                                                       CandidateProcess& candidate,
                                                       const CandidateProcess::Code& code,
                                                       const CallContext& call) {
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  auto spec = worker_spec(parts.place, "judge", *arena_bytes);
  spec.gives_descriptors = true;
  auto judge = WorkerProcess::launch(spec);
  auto reference = CandidateProcess::launch(reference_spec(parts, contract, *arena_bytes),
                                            parts.place.job_deadline);
  const auto ours = judge_library(parts, contract, call);
  const auto theirs = reference_code(parts, contract, call);
  if (auto loaded = candidate.load(code, call); !loaded) return loaded.error();
  if (!judge) return judge.error();
  if (!reference) return reference.error();
  if (!theirs) return theirs.error();
  if (!ours) return ours.error();
  if (auto loaded = reference->load(*theirs, call); !loaded) return loaded.error();
  if (reference->fault()) return reference_failed(*reference->fault());
  if (auto greeted = judge->greet(call); !greeted) return greeted.error();
  auto examiner = std::make_unique<DeviceExaminer>(
      contract, *std::move(judge), *std::move(reference), candidate, parts.place.job_deadline);
  if (auto shared = examiner->share(*ours, *arena_bytes, call); !shared) return shared.error();
  return std::unique_ptr<Examiner>(std::move(examiner));
}

}  // namespace ratchet

// The examiner whose judge sits on the candidate's GPU.

#include <utility>

#include "kernels/device_bench.h"
#include "kernels/examiner.h"
#include "kernels/init.h"

namespace ratchet {
namespace {

class DeviceExaminer : public Examiner {
 public:
  DeviceExaminer(std::unique_ptr<DeviceBench> bench, CandidateProcess& candidate)
      : bench_(std::move(bench)), candidate_(candidate) {}

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    const auto plan = bench_->plan_of(question.dims);
    if (!plan) return plan.error();
    job::Pose pose{{plan->layout, std::string(question.seed), question.distribution,
                    index_limit(question.dims)},
                   shift_of(question.seed),
                   false,
                   {}};
    if (auto posed = bench_->pose(pose, call); !posed) return posed.error();
    if (auto done = bench_->answer(*plan, call); !done) return done.error();
    auto first = weighed(question.dims, *plan, pose.shift, call);
    if (!first) return first.error();
    if (!*first) return std::optional<Examination>{};
    Examination examination{*std::move((*first)->comparison), std::nullopt};
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    pose.again = true;
    pose.shift = shift_of("again");
    if (auto posed = bench_->pose(pose, call); !posed) return posed.error();
    auto second = weighed(question.dims, *plan, pose.shift, call);
    if (!second) return second.error();
    if (*second)
      examination.again = {(*second)->same_bits.value_or(false), std::move((*second)->comparison)};
    return std::optional<Examination>(std::move(examination));
  }

  [[nodiscard]] job::Tolerance tolerance_of(DType type) const override {
    return bench_->tolerance_of(type);
  }

 private:
  /// The candidate's call and what the judge says of it; empty after a fault.
  Result<std::optional<job::Reply>> weighed(const Dims& dims, const CallPlan& plan,
                                            std::int64_t shift, const CallContext& call) {
    if (auto done = candidate_.run_attached(plan, shift, call); !done) return done.error();
    if (candidate_.fault()) return std::optional<job::Reply>{};
    auto reply = bench_->weigh(dims, plan, call);
    if (!reply) return reply.error();
    return std::optional<job::Reply>(*std::move(reply));
  }

  std::unique_ptr<DeviceBench> bench_;
  CandidateProcess& candidate_;
};

}  // namespace

Result<std::unique_ptr<Examiner>> open_device_examiner(const ReferenceParts& parts,
                                                       const Contract& contract,
                                                       CandidateProcess& candidate,
                                                       const CandidateProcess::Code& code,
                                                       const CallContext& call) {
  auto bench = DeviceBench::launch(parts, contract);
  if (auto loaded = candidate.load(code, call); !loaded) return loaded.error();
  if (!bench) return bench.error();
  if (auto loaded = (*bench)->load(parts, call); !loaded) return loaded.error();
  auto memory = (*bench)->share(call);
  if (!memory) return memory.error();
  if (auto done = candidate.attach(memory->get(), (*bench)->arena_bytes(), call); !done)
    return done.error();
  return std::unique_ptr<Examiner>(std::make_unique<DeviceExaminer>(*std::move(bench), candidate));
}

}  // namespace ratchet

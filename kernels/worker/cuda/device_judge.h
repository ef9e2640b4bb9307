#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/measure/device/shared_memory.h"
#include "kernels/measure/device/small_copies.h"
#include "kernels/worker/compare_rules.h"
#include "kernels/worker/cuda/judge_words.h"
#include "kernels/worker/device.h"

namespace ratchet::worker {

/// The judge on one GPU: kernels/cuda/judge.cu processes the bytes, this class decides.
///
/// Inputs other than normal or uniform floats are generated on the host (generate.h) and uploaded.
/// The candidate's memory is copied before it is compared, so later writes by the candidate have no
/// effect. Thread rule: the thread of its `Gpu`, which must outlive it.
class CudaJudge : public DeviceJudge {
 public:
  /// `entry`: the entry function of the library built from judge.cu.
  CudaJudge(measure::Gpu& gpu, void* entry);

  Result<std::vector<Fd>> share(const wire::Share& plan) override;
  [[nodiscard]] std::int64_t free_bytes() const override;
  Result<std::optional<bool>> generate(const wire::GenerateOnDevice& plan) override;
  Result<Compared> compare(const wire::CompareOnDevice& plan) override;
  Result<Roomy> widen(const wire::WidenOnDevice& plan) override;
  Result<Roomy> terms(const wire::TermsOnDevice& plan) override;
  Result<wire::Answered> describe() override;
  Result<std::optional<wire::Comparison>> forge(const wire::ForgeOnDevice& plan) override;

 private:
  /// Overwrites all of the candidates' memory.
  Status blank() const;
  /// The reference's memory and the judge's own; what there is of this size stays.
  Status make_own(std::int64_t arena_bytes);
  Status fill(const wire::Generate& plan);
  /// A new content of `sent_`, and of the reference's memory. Returns as `generate`.
  Result<std::optional<bool>> renew(const wire::GenerateOnDevice& plan);
  /// Takes the given inputs that the reference's process stored. Returns as `generate`.
  Result<bool> adopt(const std::vector<std::string>& given);
  /// Whether the reference wrote every element of its outputs in the current trial.
  Result<bool> writes_all();
  Status change(const wire::Generate& plan, const wire::Changed& changed);
  /// Moves a slice of an input in `sent_`, by way of the host.
  Status move(const wire::Buffer& buffer, const wire::Slice& slice);
  /// Applies the changes of timed calls to `sent_`.
  Status use(const wire::Uses& uses);
  /// The address of this place's arena. Error: it is not within the shared memory.
  Result<std::byte*> find(const wire::Place& place) const;
  Status fill_input(const wire::Buffer& buffer, const wire::Generate& plan, std::uint32_t stream);
  /// Copies a whole arena.
  Status copy(std::byte* to, const std::byte* from) const;
  void run(std::initializer_list<long long> words) const;
  Status clear_result();
  template <class Record>
  Result<Record> result_of() const {
    if (auto failure = gpu_.finish())
      return Error{ErrorCode::internal, "the judge cannot compare: " + *failure};
    static_assert(sizeof(Record) <= kResultBytes);
    std::array<std::byte, sizeof(Record)> bytes{};
    if (auto got = result_.read(0, bytes); !got) return got.error();
    return std::bit_cast<Record>(bytes);
  }
  Result<bool> differ(const std::byte* a, const std::byte* b, std::int64_t bytes);
  Status check_untouched(wire::Comparison& verdict);
  /// Of the reference's answer.
  Result<Squares> squares_of(const wire::Buffer& buffer);
  /// What `atol` is multiplied by, and from where on zeros are counted.
  Status find_scale(const wire::Buffer& buffer, const wire::Tolerance& tolerance,
                    DeviceOutput& output);
  /// From elements of the reference's answer.
  Result<double> typical_of(const wire::Buffer& buffer);
  /// Into `scales_`; `scale`: of the whole output.
  Status find_row_scales(const wire::Buffer& buffer, std::int64_t row, double scale);
  /// Runs an operation that fills `scales_` with `count` values of the reference's answer.
  template <class Value>
  Result<std::vector<Value>> values_of(Operation::Code operation, const wire::Buffer& buffer,
                                       std::int64_t turns, std::int64_t length, std::int64_t count);
  Result<DeviceTally> tally_of(const DeviceOutput& output);
  /// Whether the shadow computes what the reference computes.
  Result<bool> shadowed(const DeviceOutput& output, std::int64_t elements);
  /// Stores the reference's own errors behind the result of an operation.
  Status measure_honesty(DeviceOutput& output);
  /// The verdict on one output in the arena at `from`.
  Status judge_output(const wire::Compare& plan, std::size_t index, const std::byte* from,
                      wire::Comparison& verdict);
  // The steps of wire::TermsStep.
  Status keep_aside();
  Status add_aside(const std::string& tensor);
  Status take_magnitudes();
  Result<wire::Comparison> judge_aside(const wire::Compare& plan);
  Result<std::vector<double>> preview(const std::byte* data, const wire::Buffer& buffer) const;
  Result<bool> same_outputs(const std::byte* a, const std::byte* b);
  /// The verdict on `returned_`.
  Result<wire::Comparison> judged(const wire::Compare& plan);
  /// Writes the control's answer for one output; false when the control is not applicable.
  Result<bool> forge_output(wire::Control control, std::size_t buffer);

  static constexpr std::size_t kResultBytes = 2048;
  static constexpr std::size_t kHonestBytes = kBinades * sizeof(double);

  measure::Gpu& gpu_;
  void (*entry_)(const long long*) = nullptr;
  std::optional<measure::SharedMemory> reference_;
  std::optional<measure::SharedMemory> wide_;  // with the reference; of answers in float64
  std::vector<measure::SharedMemory> candidates_;
  std::int64_t arena_bytes_ = 0;
  std::int64_t candidate_bytes_ = 0;
  std::optional<measure::SmallCopies> copies_;
  // The trial as sent; as returned; as returned the previous time, or the answer to the last
  // unchanged trial; and the result of an operation.
  measure::DeviceMemory sent_, returned_, earlier_, result_;
  measure::DeviceMemory scales_;  // of rows, or values that stand for an output's magnitude
  measure::DeviceMemory aside_;   // see wire::TermsStep; made when it is first needed
  wire::ArenaLayout layout_;
  bool again_ = false;
  bool changed_ = false;
  // First elements of the outputs, by buffer: of the last answer described, and of the one before.
  std::vector<std::uint64_t> firsts_, firsts_before_;
};

}  // namespace ratchet::worker

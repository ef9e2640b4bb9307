// Whether a task's reference works, and whether the task can tell right from wrong.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "kernels/laboratory.h"

namespace ratchet {
namespace {

/// An answer that needs no computing, for one output of one trial. `answer` has the output's size.
/// False when this control has nothing to offer for it.
using Control = std::function<bool(const job::ArenaLayout& layout, const job::Buffer& output,
                                   std::span<const std::byte> arena, std::span<std::byte> answer)>;

bool zeros(const job::ArenaLayout&, const job::Buffer&, std::span<const std::byte>,
           std::span<std::byte> answer) {
  std::ranges::fill(answer, std::byte{0});
  return true;
}

/// The first input of the output's type and size, as it is.
bool identity(const job::ArenaLayout& layout, const job::Buffer& output,
              std::span<const std::byte> arena, std::span<std::byte> answer) {
  for (const auto& buffer : layout.buffers) {
    if (buffer.role == Role::out || buffer.dtype != output.dtype ||
        buffer.elements != output.elements)
      continue;
    std::memcpy(answer.data(), arena.data() + buffer.offset, answer.size());
    return true;
  }
  return false;
}

/// One value everywhere: the first element of the first trial's right answer.
Control constant(std::vector<std::vector<std::byte>> values) {
  return [values = std::move(values)](const job::ArenaLayout& layout, const job::Buffer& output,
                                      std::span<const std::byte>, std::span<std::byte> answer) {
    const auto index = static_cast<std::size_t>(&output - layout.buffers.data());
    const auto& value = values.at(index);
    for (std::size_t at = 0; at < answer.size(); at += value.size())
      std::memcpy(&answer[at], value.data(), value.size());
    return true;
  };
}

std::vector<std::vector<std::byte>> first_elements(const job::ArenaLayout& layout,
                                                   std::span<const std::byte> expected) {
  std::vector<std::vector<std::byte>> values;
  for (const auto& buffer : layout.buffers) {
    const auto element = expected.subspan(static_cast<std::size_t>(buffer.offset),
                                          static_cast<std::size_t>(size_of(buffer.dtype)));
    values.emplace_back(element.begin(), element.end());
  }
  return values;
}

/// The arena that a kernel would return if the control were all it did.
Result<std::optional<MemoryFile>> forged(const Trial& trial, const Control& control) {
  auto file = MemoryFile::create("control", trial.plan.layout.bytes);
  if (!file) return file.error();
  const auto sent = trial.sent.map(Mapping::Access::read);
  if (!sent) return sent.error();
  {
    const auto arena = file->map(Mapping::Access::write);
    if (!arena) return arena.error();
    std::ranges::copy(sent->bytes(), arena->bytes().begin());
    for (const auto& buffer : trial.plan.layout.buffers) {
      if (buffer.role == Role::in) continue;
      const auto answer = arena->bytes().subspan(static_cast<std::size_t>(buffer.offset),
                                                 static_cast<std::size_t>(buffer.bytes()));
      if (!control(trial.plan.layout, buffer, sent->bytes(), answer))
        return std::optional<MemoryFile>{};
    }
  }
  return std::optional<MemoryFile>(*std::move(file));
}

/// Whether the control passes every trial.
Result<bool> passes(Judge& judge, const std::vector<Trial>& trials, const Control& control,
                    const CallContext& call) {
  for (const auto& trial : trials) {
    auto answer = forged(trial, control);
    if (!answer) return answer.error();
    if (!*answer) return false;
    auto verdict = judge.compare(trial, **answer, call);
    if (!verdict) return verdict.error();
    if (!verdict->passed) return false;
  }
  return true;
}

/// An output that the reference left as it was sent, in all of its bytes.
std::optional<std::string> unwritten_output(const Trial& trial, std::span<const std::byte> sent,
                                            std::span<const std::byte> expected) {
  for (const auto& buffer : trial.plan.layout.buffers) {
    if (buffer.role != Role::out) continue;
    const auto from = static_cast<std::size_t>(buffer.offset);
    const auto size = static_cast<std::size_t>(buffer.bytes());
    if (std::ranges::equal(sent.subspan(from, size), expected.subspan(from, size)))
      return buffer.name;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Reason>> Laboratory::admit(const Contract& contract, std::string_view run_secret,
                                              CallContext& call) {
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto judge = Judge::open(parts(contract), contract, call);
  if (!judge) return judge.error();

  std::vector<Trial> trials;
  for (const auto& distribution : distributions_of(contract)) {
    const auto seed = trial_seed(run_secret, "", "admit " + distribution);
    auto trial = (*judge)->make_trial(contract.cases.front().dims, distribution, seed, call);
    if (!trial) return trial.error();
    trials.push_back(*std::move(trial));
  }
  const auto sent = trials.front().sent.map(Mapping::Access::read);
  if (!sent) return sent.error();
  const auto expected = trials.front().expected.map(Mapping::Access::read);
  if (!expected) return expected.error();
  if (const auto name = unwritten_output(trials.front(), sent->bytes(), expected->bytes()))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("the reference writes nothing to the output {}", *name),
                 "Mend the reference, or give the tensor's role as in."};

  std::vector<Reason> weak;
  if (!trials.front().writes_all)
    weak.push_back({"partial_reference",
                    "the reference leaves parts of its outputs unwritten; they are not checked",
                    {}});
  const std::vector<std::pair<std::string, Control>> controls{
      {"zero", zeros},
      {"constant", constant(first_elements(trials.front().plan.layout, expected->bytes()))},
      {"identity", identity}};
  for (const auto& [name, control] : controls) {
    auto passed = passes(**judge, trials, control, call);
    if (!passed) return passed.error();
    if (*passed)
      weak.push_back({"weak_task_" + name,
                      fmt::format("an answer that computes nothing ({}) passes the check: the "
                                  "tolerances or inputs of this task are too weak",
                                  name),
                      {}});
  }
  return weak;
}

}  // namespace ratchet

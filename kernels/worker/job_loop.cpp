#include "kernels/worker/job_loop.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "kernels/confine/walls.h"
#include "kernels/worker/job_replies.h"

namespace ratchet::worker {

namespace {

/// Loading or binding failed in the kernel's own code.
wire::Reply not_loaded(const Error& error) {
  wire::Reply reply;
  reply.fault = Fault{"load_error", error.message};
  return reply;
}

bool runs_kernels(confine::Role role) {
  return role != confine::Role::judge;
}

bool times(confine::Role role) {
  return role == confine::Role::candidate || role == confine::Role::baseline;
}

/// Whether this role accepts the request. Timing and counting never share a process.
bool permitted(confine::Role role, const wire::Request& request) {
  if (request.exercise || role == confine::Role::tool)
    return role == confine::Role::tool && (request.exercise || request.load);
  if (role == confine::Role::profiled) return request.load || request.execute;
  if (request.generate || request.refresh || request.change || request.combine || request.widen ||
      request.describe || request.forge || request.compare || request.ceilings)
    return !runs_kernels(role);
  if (request.share || request.generate_on_device || request.compare_on_device ||
      request.describe_on_device || request.forge_on_device || request.widen_on_device ||
      request.terms_on_device)
    return !runs_kernels(role);
  if ((request.attach && request.attach->wide) || (request.call && request.call->wide))
    return role == confine::Role::baseline;
  if ((request.execute && request.execute->inputs) || (request.call && request.call->inputs))
    return role == confine::Role::baseline;
  if (request.load) return true;  // a judge loads its own library
  if (request.time) return times(role);
  if (request.count) return role == confine::Role::counter;
  return runs_kernels(role);
}

}  // namespace

int JobLoop::run(int device_index, const std::vector<std::string>& readable,
                 const std::function<void()>& opened) {
  wire::Reply ready;
  if (role_ == confine::Role::counter) device_.prepare_to_count();
  std::error_code failed;
  confine::Walls walls(role_, device_.kind(), readable,
                       std::filesystem::current_path(failed).string());
  if (!walls.profile().after_device) walls.enter();
  auto info = device_.open(device_index);
  if (info) {
    if (opened) opened();
    ready.device = *info;
    ready.devices = device_.count();
    if (walls.profile().after_device) walls.enter();
    walls.seal();
    ready.sandbox = walls.text();
    if (const auto lacking = walls.lacking(); !lacking.empty()) ready.error = lacking;
  } else {
    ready.error = info.error().message;
  }
  if (!channel_.send(0, encode(ready)) || ready.error) return 1;
  for (;;) {
    auto message = channel_.receive();
    if (!message) return 0;  // the server closed the channel
    auto request = decode_stored<wire::Request>(message->body);
    auto descriptors = std::move(message->descriptors);
    const wire::Reply reply = request ? answer(*request, descriptors)
                                      : ours("malformed request: " + request.error().message);
    descriptors.clear();
    std::vector<int> given;
    for (const auto& one : given_) given.push_back(one.get());
    const auto sent = channel_.send(message->id, encode(reply), given);
    given_.clear();
    if (!sent) return 0;
  }
}

wire::Reply JobLoop::answer(const wire::Request& request, Descriptors& descriptors) {
  if (!permitted(role_, request)) return ours("this worker's role does not accept the request");
  if (request.load) return load(*request.load, descriptors);
  if (request.execute) return execute(*request.execute, descriptors);
  if (request.prepare) return prepare(*request.prepare, descriptors);
  if (request.time) return time(*request.time);
  if (request.collect) return collect(*request.collect, descriptors);
  if (request.count) return count(*request.count);
  if (request.generate) return generate_arena(*request.generate, descriptors);
  if (request.refresh) return refresh_arena(*request.refresh, descriptors);
  if (request.change) return change_arena(*request.change, descriptors);
  if (request.combine) return combine_arenas(*request.combine, descriptors);
  if (request.widen) return widen_arena(*request.widen, descriptors);
  if (request.describe) return describe_arena(*request.describe, descriptors);
  if (request.forge) return forge_arena(*request.forge, descriptors);
  if (request.compare) return compare_arenas(*request.compare, descriptors);
  if (request.share) return share(*request.share);
  if (request.attach) return attach(*request.attach, descriptors);
  if (request.call) return call(*request.call);
  if (request.generate_on_device) return generate_on_device(*request.generate_on_device);
  if (request.compare_on_device) return compare_on_device(*request.compare_on_device);
  if (request.describe_on_device) return describe_on_device();
  if (request.forge_on_device) return forge_on_device(*request.forge_on_device);
  if (request.widen_on_device) return widen_on_device(*request.widen_on_device);
  if (request.terms_on_device) return terms_on_device(*request.terms_on_device);
  if (request.exercise) return exercise(*request.exercise, descriptors);
  if (request.ceilings) return ceilings();
  return ours("empty request");
}

wire::Reply JobLoop::load(const wire::Load& plan, Descriptors& descriptors) {
  if (descriptors.empty()) return ours("the library is missing from the request");
  const auto loaded = kernel_.load(std::move(descriptors[0]), plan);
  entry_name_ = plan.entry;
  loaded_ = loaded.has_value();
  return loaded_ ? wire::Reply{} : not_loaded(loaded.error());
}

Result<BoundCall> JobLoop::bind(const wire::ArenaLayout& layout,
                                const std::vector<wire::Argument>& arguments,
                                const std::optional<wire::MadeInputs>& inputs, std::byte* base) {
  if (inputs) return kernel_.bind_inputs(layout, arguments, *inputs, base);
  return kernel_.bind(layout, arguments, base, device_.stream());
}

wire::Reply JobLoop::call_once(const BoundCall& bound) {
  wire::Reply reply;
  reply.fault = device_.run([&] {
    bound.call();
    if (bound.settle) bound.settle();
  });
  if (auto failure = kernel_.failure()) reply.fault = std::move(failure);
  return reply;
}

wire::Reply JobLoop::execute(const wire::Execute& plan, const Descriptors& descriptors) {
  if (!loaded_) return ours("no kernel is loaded");
  const auto in = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!in) return ours(in.error());
  auto arena = device_.allocate(plan.layout.bytes, plan.shift);
  if (!arena) return ours(arena.error());
  if (auto copied = device_.upload(**arena, 0, in->bytes()); !copied) return ours(copied.error());
  const auto bound = bind(plan.layout, plan.arguments, plan.inputs, (*arena)->base());
  if (!bound) return not_loaded(bound.error());
  auto reply = call_once(*bound);
  if (reply.fault) return reply;
  // Mapped only now, so that the kernel could not write to the answer's memory file itself.
  const auto out = map_at(descriptors, 1, plan.layout.bytes, Mapping::Access::write);
  if (!out) return ours(out.error());
  if (auto copied = device_.download(**arena, 0, out->bytes()); !copied)
    return ours(copied.error());
  return reply;
}

wire::Reply JobLoop::prepare(const wire::Prepare& plan, const Descriptors& descriptors) {
  if (!loaded_) return ours("no kernel is loaded");
  if (!plan.refresh_seeds.empty() &&
      plan.refresh_seeds.size() != static_cast<std::size_t>(plan.rotation))
    return ours("refresh_seeds needs one seed per arena");
  const bool sent = !descriptors.empty();
  if (!sent && (!attached_ || plan.at.size() != static_cast<std::size_t>(plan.rotation)))
    return ours("no arena was sent and none is attached");
  rotation_.clear();
  next_turn_ = 0;
  if (std::exchange(prepared_bytes_, plan.layout.bytes) != plan.layout.bytes)
    device_.forget_calls();
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.rotation); ++i) {
    if (!sent) {
      auto arena = PreparedArena::adopt(device_, kernel_, plan, i, *attached_);
      if (!arena) return ours(arena.error());
      rotation_.push_back(std::make_unique<PreparedArena>(*std::move(arena)));
      continue;
    }
    auto content = map_at(descriptors, i, plan.layout.bytes, Mapping::Access::read);
    if (!content) return ours(content.error());
    auto arena = PreparedArena::make(device_, kernel_, plan, i, *content);
    if (!arena) return ours(arena.error());
    rotation_.push_back(std::make_unique<PreparedArena>(*std::move(arena)));
  }
  return {};
}

wire::Reply JobLoop::time(const wire::TimeBlock& plan) {
  if (rotation_.empty()) return ours("nothing is prepared");
  std::vector<Turn> turns;
  // Goes on where the block before ended, so that short blocks, too, reach all arenas.
  for (std::size_t i = 0; i < rotation_.size(); ++i)
    turns.push_back(rotation_[(next_turn_ + i) % rotation_.size()]->turn());
  auto timed = device_.time(turns, plan);
  if (!timed) return ours(timed.error());
  next_turn_ += static_cast<std::size_t>(plan.warmup) + timed->samples.elapsed_ns.size();
  wire::Reply reply;
  reply.fault = std::move(timed->fault);
  if (auto failure = kernel_.failure()) reply.fault = std::move(failure);
  reply.samples = std::move(timed->samples);
  return reply;
}

wire::Reply JobLoop::collect(const wire::Collect& plan, const Descriptors& descriptors) {
  const auto index = static_cast<std::size_t>(plan.index);
  if (index >= rotation_.size()) return ours("no arena is prepared at that index");
  const auto& content = *rotation_[index];
  wire::Reply reply;
  reply.uses = content.uses();
  if (descriptors.empty()) return reply;
  const auto out = map_at(descriptors, 0, content.bytes(), Mapping::Access::write);
  if (!out) return ours(out.error());
  if (auto copied = device_.download(content.arena(), 0, out->bytes()); !copied)
    return ours(copied.error());
  return reply;
}

wire::Reply JobLoop::count(const wire::Count& plan) {
  if (rotation_.empty()) return ours("nothing is prepared");
  std::vector<Turn> turns;
  for (const auto& arena : rotation_) turns.push_back(arena->turn());
  auto counted = device_.count(turns, plan);
  if (!counted) return ours(counted.error());
  wire::Reply reply;
  reply.fault = std::move(counted->fault);
  if (auto failure = kernel_.failure()) reply.fault = std::move(failure);
  // A device that cannot distinguish kernels counts the whole call.
  for (auto& kernel : counted->counters.kernels)
    if (kernel.name.empty()) kernel.name = entry_name_;
  reply.counters = std::move(counted->counters);
  return reply;
}

wire::Reply JobLoop::share(const wire::Share& plan) {
  if (!kernel_.symbol()) return ours("the judge's library is not loaded");
  if (!judge_) {
    auto judge = device_.judge(kernel_.symbol());
    if (!judge) return ours(judge.error());
    judge_ = *std::move(judge);
  }
  auto shared = judge_->share(plan);
  if (!shared) return ours(shared.error());
  for (auto& descriptor : *shared) given_.push_back(std::move(descriptor));
  wire::Reply reply;
  reply.free_bytes = judge_->free_bytes();
  return reply;
}

wire::Reply JobLoop::attach(const wire::Attach& plan, const Descriptors& descriptors) {
  if (!plan.wide) {
    rotation_.clear();  // its arenas may be in the memory that is replaced
    attached_.reset();
    if (descriptors.empty() && plan.bytes == 0) return {};
  }
  if (descriptors.empty()) return ours("the shared memory is missing from the request");
  auto arena = device_.attach(descriptors, plan.bytes);
  if (!arena) return ours(arena.error());
  (plan.wide ? wide_ : attached_) = *std::move(arena);
  return {};
}

wire::Reply JobLoop::call(const wire::Call& plan) {
  if (plan.wide) {
    if (!loaded_ || !wide_) return ours("no reference is loaded or no memory is attached");
    const auto bound = kernel_.bind_wide(plan.layout, plan.arguments, wide_->base() + plan.at);
    if (!bound) return not_loaded(bound.error());
    return call_once(*bound);
  }
  if (!loaded_ || !attached_) return ours("no kernel is loaded or no memory is attached");
  const auto bound = bind(plan.layout, plan.arguments, plan.inputs, attached_->base() + plan.at);
  if (!bound) return not_loaded(bound.error());
  return call_once(*bound);
}

wire::Reply JobLoop::generate_on_device(const wire::GenerateOnDevice& plan) {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  const auto generated = judge_->generate(plan);
  if (!generated) return ours(generated.error());
  wire::Reply reply;
  reply.same_bits = *generated;
  return reply;
}

wire::Reply JobLoop::compare_on_device(const wire::CompareOnDevice& plan) {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  auto compared = judge_->compare(plan);
  if (!compared) return ours(compared.error());
  wire::Reply reply;
  reply.comparison = std::move(compared->comparison);
  reply.same_bits = compared->same_bits;
  return reply;
}

wire::Reply JobLoop::describe_on_device() {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  auto answered = judge_->describe();
  if (!answered) return ours(answered.error());
  wire::Reply reply;
  reply.answered = *std::move(answered);
  return reply;
}

wire::Reply JobLoop::forge_on_device(const wire::ForgeOnDevice& plan) {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  auto verdict = judge_->forge(plan);
  if (!verdict) return ours(verdict.error());
  wire::Reply reply;
  reply.forged = verdict->has_value();
  reply.comparison = *std::move(verdict);
  return reply;
}

wire::Reply JobLoop::widen_on_device(const wire::WidenOnDevice& plan) {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  auto done = judge_->widen(plan);
  if (!done) return ours(done.error());
  wire::Reply reply;
  reply.fits = done->fits;
  for (auto& descriptor : done->memory) given_.push_back(std::move(descriptor));
  return reply;
}

wire::Reply JobLoop::terms_on_device(const wire::TermsOnDevice& plan) {
  if (!judge_) return ours("the judge has no memory shared with the kernel yet");
  auto done = judge_->terms(plan);
  if (!done) return ours(done.error());
  wire::Reply reply;
  reply.fits = done->fits;
  reply.comparison = std::move(done->comparison);
  return reply;
}

wire::Reply JobLoop::exercise(const wire::Exercise& plan, const Descriptors& descriptors) {
  if (!loaded_) return ours("no kernel is loaded");
  const auto in = map_at(descriptors, 0, plan.layout.bytes, Mapping::Access::read);
  if (!in) return ours(in.error());
  std::vector<std::unique_ptr<DeviceArena>> memory;
  auto arguments = plan.arguments;
  for (const auto& buffer : plan.layout.buffers) {
    auto own = device_.allocate(buffer.bytes(), 0);
    if (!own) return ours(own.error());
    const auto content = in->bytes().subspan(static_cast<std::size_t>(buffer.offset),
                                             static_cast<std::size_t>(buffer.bytes()));
    if (buffer.role != Role::out)
      if (auto copied = device_.upload(**own, 0, content); !copied) return ours(copied.error());
    memory.push_back(*std::move(own));
    // Arguments are offsets from a common base, which is the first buffer here.
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind == ParameterKind::tensor && plan.arguments[i].offset == buffer.offset)
        arguments[i].offset = memory.back()->base() - memory.front()->base();
  }
  const auto bound = kernel_.bind(
      plan.layout, arguments, memory.empty() ? nullptr : memory.front()->base(), device_.stream());
  if (!bound) return not_loaded(bound.error());
  wire::Reply reply;
  reply.fault = device_.run(bound->call);
  return reply;
}

wire::Reply JobLoop::ceilings() {
  auto values = device_.ceilings();
  if (!values) return ours(values.error());
  wire::Reply reply;
  reply.ceilings = *std::move(values);
  return reply;
}

}  // namespace ratchet::worker

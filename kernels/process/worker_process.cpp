#include "kernels/process/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "kernels/process/descendants.h"
#include "kernels/process/lasting_spawn.h"
#include "kernels/process/watchdog.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kControlDescriptor = 3;
constexpr std::size_t kMostOutput = std::size_t{1} << 20U;
constexpr std::size_t kTail = 4096;
constexpr std::size_t kShownLines = 12;
constexpr std::size_t kMostFile = std::size_t{256} << 20U;  // of each file in its private folder
constexpr std::size_t kMostFolder = std::size_t{2} << 30U;
constexpr std::size_t kMostNames = 20'000;  // a cold Inductor cache has a few hundred
constexpr int kTicksOfLook = 10;
constexpr milliseconds kTick(50);  // delay before a cancellation or excess memory is noticed

std::vector<std::string> worker_environment(const PrivateFolder& folder,
                                            const std::vector<std::string>& given) {
  auto variables = inherited_environment({"PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH",
                                          "CUDA_VISIBLE_DEVICES", "RATCHET_REQUIRE_SANDBOX"});
  for (const auto& variable : given) {
    const auto name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(variables, [&](const auto& inherited) { return inherited.starts_with(name); });
    variables.push_back(variable);
  }
#if defined(RATCHET_SANITIZER_RUNTIME)
  // Python is not built with the sanitizer, and loads a library that is. A signal that a kernel
  // raises is the finding: it must end the process as it would in a plain build.
  variables.emplace_back("LD_PRELOAD=" RATCHET_SANITIZER_RUNTIME);
  variables.emplace_back(
      "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:"
      "handle_abort=0");
#endif
  variables.push_back("HOME=" + folder.path().string());
  variables.push_back("TMPDIR=" + folder.path().string());
  return variables;
}

std::uint64_t fresh_id() {
  std::uint64_t id = 0;
  const std::string bytes = random_bytes(sizeof id);
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

struct FolderUse {
  std::size_t bytes = 0;
  std::size_t names = 0;
};

/// Of a folder, which its process may be changing. Stops counting at one name too many.
FolderUse use_of(const std::filesystem::path& folder) {
  std::error_code failed;
  FolderUse use;
  for (std::filesystem::recursive_directory_iterator entry(folder, failed), end;
       !failed && entry != end && use.names <= kMostNames; entry.increment(failed)) {
    std::error_code gone;
    ++use.names;
    if (entry->is_regular_file(gone)) use.bytes += entry->file_size(gone);
  }
  return use;
}

/// Recognizes the messages of the C++ runtime, the C library and frameworks; the exit status of a
/// process that aborts for lack of memory does not tell.
bool reports_out_of_memory(const std::string& text) {
  return text.find("bad_alloc") != std::string::npos ||
         text.find("annot allocate memory") != std::string::npos ||
         text.find("ut of memory") != std::string::npos;
}

Error canceled() {
  return Error{ErrorCode::timed_out, "the call was canceled", ""};
}

}  // namespace

WorkerProcess::WorkerProcess(WorkerSpec spec, PrivateFolder folder,
                             std::optional<ControlGroup> group, Process process, Channel channel,
                             Fd output)
    : spec_(std::move(spec)),
      folder_(std::move(folder)),
      group_(std::move(group)),
      process_(std::move(process)),
      channel_(std::move(channel)),
      output_(std::move(output)) {}

Result<WorkerProcess> WorkerProcess::start(const WorkerSpec& spec, const CallContext& call) {
  auto worker = launch(spec);
  if (!worker) return worker;
  if (auto greeted = worker->greet(call); !greeted) return greeted.error();
  return worker;
}

Result<WorkerProcess> WorkerProcess::launch(const WorkerSpec& spec) {
  auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  auto ends = Channel::connected();
  if (!ends) return ends.error();
  auto printed = Pipe::open();
  if (!printed) return printed.error();
  ::fcntl(printed->out.get(), F_SETFL, O_NONBLOCK);
  ProcessSpec child{.argv = spec.argv,
                    .environment = worker_environment(*folder, spec.environment),
                    .folder = folder->path(),
                    .descriptors = {{printed->in.get(), STDOUT_FILENO},
                                    {printed->in.get(), STDERR_FILENO},
                                    {ends->second.get(), kControlDescriptor}},
                    .address_space_bytes = spec.address_space_bytes,
                    .file_size_bytes = kMostFile,
                    .processors = spec.processors};
  auto group = ControlGroup::make({.memory_bytes = spec.memory_bytes});
  if (group) child.joins = group->doors();
  if (spec.furnish)
    if (auto furnished = spec.furnish(folder->path()); !furnished) return furnished.error();
  auto process = spec.spawn ? spec.spawn(child) : spawn_to_last(child);
  if (!process) return process.error();
  ends->second.reset();
  const auto policy = spec.gives_descriptors ? Descriptors::accepted : Descriptors::refused;
  return WorkerProcess(spec, *std::move(folder), std::move(group), *std::move(process),
                       Channel(std::move(ends->first), policy), std::move(printed->out));
}

Status WorkerProcess::greet(const CallContext& call) {
  if (!ready_.is_null()) return {};
  auto ready = await(0, spec_.start_deadline, call);
  if (!ready) return ready.error();
  if (ready->fault)
    return Error{ErrorCode::unavailable,
                 fmt::format("{} did not start: {}", spec_.argv[0], ready->fault->message),
                 "check_env shows what is missing."};
  ready_ = std::move(ready->body);
  const auto said = decode_stored<wire::Reply>(ready_);
  walls_ = with_group(said ? said->sandbox.value_or("") : "", group_ ? &*group_ : nullptr);
  return {};
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : spec_(std::move(other.spec_)),
      folder_(std::move(other.folder_)),
      group_(std::exchange(other.group_, std::nullopt)),
      process_(std::exchange(other.process_, std::nullopt)),
      channel_(std::exchange(other.channel_, std::nullopt)),
      output_(std::move(other.output_)),
      tail_(std::move(other.tail_)),
      printed_bytes_(other.printed_bytes_),
      ticks_(other.ticks_),
      ready_(std::move(other.ready_)),
      walls_(std::move(other.walls_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  spec_ = std::move(other.spec_);
  folder_ = std::move(other.folder_);
  group_ = std::exchange(other.group_, std::nullopt);
  process_ = std::exchange(other.process_, std::nullopt);
  channel_ = std::exchange(other.channel_, std::nullopt);
  output_ = std::move(other.output_);
  tail_ = std::move(other.tail_);
  printed_bytes_ = other.printed_bytes_;
  ticks_ = other.ticks_;
  ready_ = std::move(other.ready_);
  walls_ = std::move(other.walls_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  end();
}

Result<WorkerProcess::Answer> WorkerProcess::ask(const Json& question,
                                                 std::span<const int> descriptors,
                                                 milliseconds deadline, const CallContext& call) {
  if (!process_) return Error{ErrorCode::unavailable, "the worker process has exited", ""};
  const auto waiting = channel_->poll();
  if (waiting && *waiting) {
    end();
    return Answer{nullptr, Fault{"forged_reply", "the kernel wrote to the worker's channel"}};
  }
  const std::uint64_t id = fresh_id();
  // A dead worker is detected, with its last output, by the wait for its answer.
  (void)channel_->send(id, question, descriptors);
  return await(id, deadline, call);
}

Result<wire::Reply> WorkerProcess::run(const wire::Request& request,
                                       std::span<const int> descriptors, milliseconds deadline,
                                       const CallContext& call) {
  auto answer = ask(encode(request), descriptors, deadline, call);
  if (!answer) return answer.error();
  wire::Reply reply;
  if (answer->fault) {
    reply.fault = std::move(answer->fault);
    return reply;
  }
  auto decoded = decode_stored<wire::Reply>(answer->body);
  if (!decoded) {
    end();
    reply.fault =
        Fault{"forged_reply", "the worker's answer is malformed: " + decoded.error().message};
    return reply;
  }
  if (decoded->error) return Error{ErrorCode::unavailable, *decoded->error, ""};
  return decoded;
}

Result<WorkerProcess::Answer> WorkerProcess::await(std::uint64_t id, milliseconds limit,
                                                   const CallContext& call) {
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    auto message = channel_->poll();
    if (!message && message.error().code == ErrorCode::invalid_argument) {
      end();
      return Answer{nullptr,
                    Fault{"forged_reply", "an unexpected message arrived on the worker's channel"}};
    }
    if (!message) return Answer{nullptr, ended()};
    if (*message) {
      if ((*message)->id == id)
        return Answer{std::move((*message)->body), std::nullopt,
                      std::move((*message)->descriptors)};
      end();
      return Answer{nullptr, Fault{"forged_reply", "the kernel wrote to the worker's channel"}};
    }
    if (call.canceled()) {
      end();
      return canceled();
    }
    // Dead, although one of its children may keep the channel open.
    if (process_->poll() && !*message) return Answer{nullptr, ended()};
    if (auto fault = trouble(deadline)) {
      end();
      return Answer{nullptr, std::move(fault)};
    }
    std::array<pollfd, 2> waiting{pollfd{channel_->fd(), POLLIN, 0},
                                  pollfd{output_ ? output_.get() : -1, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(kTick.count()));
  }
}

std::optional<Fault> WorkerProcess::trouble(steady_clock::time_point deadline) {
  read_output();
  if (printed_bytes_ > kMostOutput)
    return Fault{"output_flood",
                 fmt::format("printed more than {} bytes{}", kMostOutput, last_lines())};
  if (spec_.resident_bytes && resident_bytes_of(process_->pid()) > *spec_.resident_bytes)
    return Fault{"out_of_memory",
                 fmt::format("used more than {} bytes of memory", *spec_.resident_bytes)};
  if (++ticks_ % kTicksOfLook == 0)
    if (auto fault = excess()) return fault;
  if (steady_clock::now() >= deadline)
    return Fault{"timeout", "ran past its deadline" + held() + last_lines()};
  return std::nullopt;
}

std::optional<Fault> WorkerProcess::excess() {
  const auto use = use_of(folder_.path());
  if (use.bytes > kMostFolder)
    return Fault{"disk_flood", fmt::format("wrote {} bytes to its folder; {} are allowed",
                                           use.bytes, kMostFolder)};
  if (use.names > kMostNames)
    return Fault{"disk_flood",
                 fmt::format("made more than {} files and folders in its folder", kMostNames)};
  return excess_of(process_->pid(), {.memory_bytes = spec_.memory_bytes},
                   group_ ? &*group_ : nullptr);
}

std::size_t WorkerProcess::allowed_bytes() const {
  const auto counted = memory_limit(spec_.memory_bytes);
  return std::min(counted, spec_.address_space_bytes.value_or(counted));
}

std::string WorkerProcess::held() const {
  const auto bytes = resident_bytes_of(process_->pid());
  if (bytes < allowed_bytes() / 2) return "";
  return fmt::format("; it held {} bytes of memory, and {} are allowed", bytes, allowed_bytes());
}

void WorkerProcess::read_output() {
  std::array<char, 65536> chunk{};
  while (output_ && printed_bytes_ <= kMostOutput) {
    const ssize_t got = ::read(output_.get(), chunk.data(), chunk.size());
    if (got == 0) output_.reset();
    if (got <= 0) return;
    printed_bytes_ += static_cast<std::size_t>(got);
    tail_.append(chunk.data(), static_cast<std::size_t>(got));
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
}

std::string WorkerProcess::last_lines() const {
  std::string_view shown = tail_;
  while (shown.ends_with('\n')) shown.remove_suffix(1);
  std::size_t start = shown.size();
  for (std::size_t lines = 0; lines < kShownLines && start != std::string_view::npos && start > 0;
       ++lines)
    start = shown.rfind('\n', start - 1);
  if (start != std::string_view::npos) shown.remove_prefix(start);
  while (shown.starts_with('\n')) shown.remove_prefix(1);
  return shown.empty() ? "" : fmt::format("; it printed: {}", shown);
}

Fault WorkerProcess::ended() {
  // It closed its channel, so it is dead or about to be. A process that lives on is killed.
  const auto status = process_->wait_for(milliseconds(1000));
  read_output();
  const bool starved = group_ && group_->ran_out_of_memory();
  const std::string said = last_lines();
  end();
  if (!status) return {"exit", "closed the worker's channel but kept running" + said};
  const std::string text = status->text() + said;
  if (status->signal == SIGSYS) return {"forbidden_call", text};
  if (starved || reports_out_of_memory(said))
    return {"out_of_memory",
            fmt::format("{}; {} bytes of memory are allowed", text, allowed_bytes())};
  if (status->signal != 0) return {"crash", text};
  return {"exit", "the kernel ended its process: " + text};
}

bool WorkerProcess::finish(milliseconds limit) {
  if (!process_) return false;
  channel_.reset();
  const auto deadline = steady_clock::now() + limit;
  std::optional<ExitStatus> status;
  // Keeps reading so that its last output cannot fill the pipe.
  while (!(status = process_->wait_for(kTick)) && steady_clock::now() < deadline) read_output();
  end();
  return status.has_value();
}

void WorkerProcess::end() {
  if (!process_) return;
  // Collected before the kill: afterward the parent links are gone.
  const auto below = descendants_of(process_->pid());
  process_->kill();
  end_processes(below);
  // Orphans became our children; they may have forked again in the meantime.
  for (auto orphans = adopted_from(folder_.path()); !orphans.empty();
       orphans = adopted_from(folder_.path()))
    end_processes(orphans);
  process_.reset();
  channel_.reset();
  group_.reset();
}

}  // namespace ratchet

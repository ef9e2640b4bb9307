#include "kernels/labs/lab_connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "kernels/labs/lab_texts.h"
#include "kernels/labs/source_files.h"
#include "server/core/hash.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

namespace wire = lab_wire;
using std::chrono::milliseconds;

constexpr milliseconds kTick{100};
constexpr std::size_t kLastWords = 2000;
constexpr std::size_t kLongestLine = 200;
constexpr std::size_t kIdBytes = 16;
constexpr milliseconds kBetweenTold{500};
constexpr double kMegabyte = 1e6;
constexpr milliseconds kGoodbye{5000};
constexpr milliseconds kHurriedGoodbye{1500};  // a server that ends has three seconds

ErrorCode code_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
    if (name_of(static_cast<ErrorCode>(i)) == name) return static_cast<ErrorCode>(i);
  return ErrorCode::internal;
}

void read_last_words(const Fd& errors, std::string& words) {
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto got = ::read(errors.get(), chunk.data(), chunk.size());
    if (got <= 0) return;
    words.append(chunk.data(), static_cast<std::size_t>(got));
    if (words.size() > kLastWords) words.erase(0, words.size() - kLastWords);
  }
}

/// For progress: without what a terminal would obey.
std::string last_line(std::string_view words) {
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())))
    words.remove_suffix(1);
  if (const auto end = words.find_last_of("\r\n"); end != std::string_view::npos)
    words.remove_prefix(end + 1);
  std::string line(words.substr(0, kLongestLine));
  std::ranges::replace_if(line, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

}  // namespace

LabConnection::LabConnection(RemoteLabOptions options) : options_(std::move(options)), held_("") {
  state_.name = options_.name;
  state_.group = options_.group.empty() ? options_.name : options_.group;
  state_.tags = options_.tags;
  state_.command = options_.command;
  if (const auto& price = options_.price) {
    state_.cost_per_hour = price->per_second * LabPrice::kHour;
    if (!price->currency.empty()) state_.currency = price->currency;
  }
  keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

LabConnection::~LabConnection() {
  keeper_.request_stop();
  changed_.notify_all();
}

/// The error with the lab's name and what its command said.
Error LabConnection::located(Error error, Running* running) const {
  error = error.at("lab " + options_.name);
  error.code = ErrorCode::unavailable;
  if (!running) return error;
  if (const auto ended = running->process.wait_for(kTick))
    error.message += fmt::format("; its command ended with {}", ended->text());
  read_last_words(running->errors, running->last_words);
  const auto& words =
      running->last_words.empty() ? running->stream.greeting() : running->last_words;
  if (!words.empty()) error.message += ", having said: " + behind_fence(words);
  if (error.hint.empty()) error.hint = fmt::format("Try its command alone: {}", options_.command);
  return error;
}

Result<std::shared_ptr<LabConnection::Running>> LabConnection::start(const std::stop_token& stop) {
  auto in = Pipe::open();
  auto out = Pipe::open();
  auto errors = Pipe::open();
  if (!in || !out || !errors) return unavailable("no pipe can be made");
  auto process = Process::spawn(
      {.argv = {"/bin/sh", "-c", options_.command},
       .environment = whole_environment(),
       .descriptors = {{in->out.get(), 0}, {out->in.get(), 1}, {errors->in.get(), 2}}});
  if (!process) return process.error();
  ::fcntl(errors->out.get(), F_SETFL, O_NONBLOCK);
  std::shared_ptr<Running> running(new Running{*std::move(process),
                                               LabStream(std::move(out->out), std::move(in->in)),
                                               std::move(errors->out),
                                               {}});
  // The command's own ends: without them the stream ends with the command.
  in->out.reset();
  out->in.reset();
  errors->in.reset();
  auto greeted = greet(*running, stop);
  if (greeted) return running;
  auto error = located(greeted.error(), running.get());
  end(*running, kHurriedGoodbye);
  return error;
}

Status LabConnection::greet(Running& running, const std::stop_token& stop) {
  const auto until = Clock::now() + options_.start_limit;
  while (Clock::now() < until && !stop.stop_requested()) {
    auto received = running.stream.receive(kTick, stop);
    read_last_words(running.errors, running.last_words);
    if (!received) return received.error();
    if (!*received) {
      const std::scoped_lock lock(mutex_);
      says_ = last_line(running.last_words);
      continue;
    }
    const auto message = decode_stored<wire::Message>(**received);
    if (!message || message->kind != wire::Kind::hello || !message->hello)
      return invalid_argument("its first message is no greeting");
    const auto& hello = *message->hello;
    if (hello.protocol != wire::kProtocol || hello.version != options_.version)
      return invalid_argument(
          fmt::format("version: it is ratchet {} with protocol {}, this is {} with {}",
                      hello.version, hello.protocol, options_.version, wire::kProtocol),
          "Install the same version on both machines.");
    const std::scoped_lock lock(mutex_);
    state_.host = hello.host;
    state_.program = hello.program;
    return {};
  }
  return unavailable(fmt::format("it has not said hello within {:.0f} s",
                                 std::chrono::duration<double>(options_.start_limit).count()));
}

/// Answers and progress, until the connection ends or has been idle.
Error LabConnection::read_from(Running& running, const std::stop_token& stop) {
  auto heard = Clock::now();
  auto spoken = heard;
  std::size_t bytes = 0;
  while (!stop.stop_requested()) {
    auto received = running.stream.receive(kTick, stop);
    if (Clock::now() - spoken >= wire::kAliveEvery) {
      running.stream.say_alive();
      spoken = Clock::now();
    }
    read_last_words(running.errors, running.last_words);
    if (!received) return located(received.error(), &running);
    // A slow line may take longer for one message than a lab may be silent.
    if (std::exchange(bytes, running.stream.received()) != bytes) heard = Clock::now();
    if (*received) {
      if (auto taken = take(std::move(**received)); !taken) return located(taken.error(), &running);
      continue;
    }
    const std::scoped_lock lock(mutex_);
    if (in_use()) used_ = Clock::now();
    if (Clock::now() - heard > options_.silence)
      return located(
          unavailable(fmt::format("it has said nothing for {:.0f} s",
                                  std::chrono::duration<double>(options_.silence).count())),
          nullptr);
    if (Clock::now() - used_ > options_.idle) {
      running_.reset();  // no call may still choose it
      return {};
    }
  }
  return {};
}

Status LabConnection::take(Json json) {
  auto message = decode<wire::Message>(json);
  if (!message) return message.error();
  if (message->kind == wire::Kind::alive) return {};
  const std::scoped_lock lock(mutex_);
  const auto found = waiting_.find(message->id);
  // Also what a program in between may replay: no number is used twice. A call that was canceled
  // is remembered until its answer comes.
  if (found == waiting_.end()) return invalid_argument("it answers a request that nobody made");
  auto& waiting = *found->second;
  switch (message->kind) {
    case wire::Kind::progress:
      if (waiting.call)
        waiting.call->progress(message->done.value_or(0), message->total, message->text);
      return {};
    case wire::Kind::need: {
      const Json body = message->body.value_or(Json::object());
      auto needed = decode<std::vector<std::string>>(body.value("digests", Json()));
      if (!needed) return needed.error().at("need");
      if (auto named = waiting.texts.want(*needed); !named) return named;
      changed_.notify_all();
      return {};
    }
    case wire::Kind::answer:
      if (auto put = put_texts(json, message->places, waiting.texts.all()); !put) return put;
      if (!message->body || !json["body"].contains("value"))
        return invalid_argument("it answers without a value");
      waiting.answer = Result<Json>(std::move(json["body"]["value"]));
      break;
    case wire::Kind::error:
      waiting.answer = Result<Json>(Error{code_of(message->code), message->text, message->hint});
      break;
    default:
      return invalid_argument(fmt::format("a lab sends no {}", name_of(message->kind)));
  }
  waiting_.erase(found);
  ++state_.calls;
  losses_ = 0;
  changed_.notify_all();
  return {};
}

/// Whether somebody waits; a lab that does not answer what was canceled is not held for that.
bool LabConnection::in_use() const {
  return std::ranges::any_of(waiting_, [](const auto& one) { return one.second->call; });
}

/// All calls that wait learn why there will be no answer.
void LabConnection::lose(const Error& why) {
  for (auto& [id, waiting] : waiting_) waiting->answer = Result<Json>(why);
  waiting_.clear();
  failure_ = why;
  ++failures_;
  ++losses_;
  state_.error = why.message;
  changed_.notify_all();
}

/// The end of its input asks the lab to go. An allocation is given back by its own command, such as
/// srun, which a SIGKILL would keep from that.
void LabConnection::end(Running& running, milliseconds patience) {
  running.stream.close_output();
  if (running.process.wait_for(patience)) return;
  ::kill(-running.process.pid(), SIGTERM);
  if (!running.process.wait_for(kHurriedGoodbye)) running.process.kill();
}

void LabConnection::keep(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return wanted_; });
      if (stop.stop_requested()) return;

      up_ = true;
      says_.clear();
      ++state_.starts;
    }
    auto started = start(stop);
    Error ended;
    bool lost = false;
    std::shared_ptr<Running> over;
    if (started) {
      over = *std::move(started);
      {
        const std::scoped_lock lock(mutex_);
        running_ = over;
        held_since_ = used_ = Clock::now();
        state_.error.reset();
        changed_.notify_all();
      }
      if (options_.greeted) options_.greeted();
      ended = read_from(*over, stop);
    } else {
      ended = started.error();
    }
    {
      const std::scoped_lock lock(mutex_);
      running_.reset();
      wanted_ = false;
      ending_ = true;
      if (!in_use()) waiting_.clear();
      lost = !ended.message.empty() || !waiting_.empty();
      if (lost)
        lose(ended.message.empty() ? unavailable("lab " + options_.name + ": the server ends")
                                   : ended);
    }
    if (options_.ended) options_.ended(lost);
    if (over) end(*over, stop.stop_requested() ? kHurriedGoodbye : kGoodbye);
    const std::scoped_lock lock(mutex_);
    ending_ = false;
    if (over) {
      state_.sent += over->stream.sent();
      state_.received += over->stream.received();
    }
    if (held_since_)
      state_.seconds += std::chrono::duration<double>(Clock::now() - *held_since_).count();
    held_since_.reset();
    up_ = false;
  }
}

/// Waits until the lab has said hello.
Result<std::shared_ptr<LabConnection::Running>> LabConnection::reach(
    const CallContext& call, std::unique_lock<std::mutex>& lock) {
  const int failures = failures_;
  const auto began = Clock::now();
  while (!running_) {
    wanted_ = true;
    changed_.notify_all();
    if (call.canceled())
      return Error{ErrorCode::timed_out, "canceled while lab " + options_.name + " was starting",
                   ""};
    if (failures_ != failures) return *failure_;
    if (keeper_.get_stop_token().stop_requested())
      return unavailable("lab " + options_.name + ": the server ends");
    changed_.wait_for(lock, kTick);
    const auto waited = std::chrono::duration<double>(Clock::now() - began).count();
    const auto says = says_.empty() ? "" : ", which says: " + says_;
    lock.unlock();
    if (waited > 1)
      call.progress(waited, std::nullopt, fmt::format("waiting for lab {}{}", options_.name, says));
    lock.lock();
  }
  return running_;
}

Result<Json> LabConnection::ask(const std::string& method, Json body, const CallContext& call) {
  if (call.meter())
    if (auto left = call.meter()->within_budget(); !left) return left.error();
  wire::Message request;
  request.kind = wire::Kind::request;
  const auto drawn = random_bytes(kIdBytes);
  request.id = hex({reinterpret_cast<const unsigned char*>(drawn.data()), drawn.size()});
  request.method = method;
  request.files = files_of(body);
  request.body = std::move(body);
  const auto waiting = std::make_shared<Waiting>();
  waiting->call = &call;
  Json message = encode(request);
  message["places"] = take_texts(message, [&](const auto& digest, const auto& text) {
    waiting->texts.add(digest, text);
    return true;
  });
  std::unique_lock lock(mutex_);
  auto running = reach(call, lock);
  if (!running) return running.error();
  const LabPrice price = options_.price.value_or(LabPrice{});
  const LabMeter::Hold of_run(call.meter(), options_.name, price);
  const LabMeter::Hold of_lab(&held_, options_.name, price);
  waiting_[request.id] = waiting;
  used_ = Clock::now();
  lock.unlock();
  auto sent = (*running)->stream.send(message, [&] { return call.canceled(); });
  lock.lock();
  if (!sent) {
    waiting_.erase(request.id);
    return located(sent.error(), nullptr);
  }
  return wait(*waiting, request.id, (*running)->stream, lock);
}

/// The answer, or why there is none. The lab is told when nobody waits for it any more.
Result<Json> LabConnection::wait(Waiting& waiting, const std::string& id, LabStream& stream,
                                 std::unique_lock<std::mutex>& lock) {
  const CallContext& call = *waiting.call;
  std::optional<Error> over;  // nobody waits any more, and why
  Clock::time_point since;
  while (!waiting.answer) {
    if (over || !waiting.texts.wanted()) {
      changed_.wait_for(lock, kTick);
    } else if (auto sent = send_piece(waiting, id, stream, lock); !sent) {
      waiting.call = nullptr;  // its answer may still come
      return located(sent.error(), nullptr);
    }
    if (waiting.answer) break;
    if (over && Clock::now() - since > kGoodbye) {
      waiting.call = nullptr;
      return *over;
    }
    if (over) continue;
    if (call.canceled()) over = Error{ErrorCode::timed_out, "canceled", ""};
    if (call.meter())
      if (auto left = call.meter()->within_budget(); !left) {
        over = left.error();
        over->message += "; the call was cut off there";
      }
    if (!over) continue;
    since = Clock::now();
    wire::Message cancel;
    cancel.kind = wire::Kind::cancel;
    cancel.id = id;
    lock.unlock();
    (void)stream.send(encode(cancel), [&] { return Clock::now() - since > kTick; });
    lock.lock();
  }
  if (over && over->code == ErrorCode::not_permitted) return *over;
  return *std::move(waiting.answer);
}

/// Sends what comes next of the texts that the lab asks for.
Status LabConnection::send_piece(Waiting& waiting, const std::string& id, LabStream& stream,
                                 std::unique_lock<std::mutex>& lock) {
  auto piece = waiting.texts.next();
  wire::Message message;
  message.kind = wire::Kind::texts;
  message.id = id;
  message.body = Json{{piece.digest, std::move(piece.text)}};
  message.more = piece.sent < piece.total;
  const bool tells = message.more && Clock::now() - waiting.told > kBetweenTold;
  if (tells) waiting.told = Clock::now();
  const CallContext& call = *waiting.call;
  lock.unlock();
  if (tells)
    call.progress(static_cast<double>(piece.sent), static_cast<double>(piece.total),
                  fmt::format("sending {:.1f} MB to lab {}",
                              static_cast<double>(piece.total) / kMegabyte, options_.name));
  auto sent = stream.send(encode(message), [&] { return call.canceled(); });
  lock.lock();
  return sent;
}

int LabConnection::losses() const {
  const std::scoped_lock lock(mutex_);
  return losses_;
}

LabState LabConnection::state() const {
  const std::scoped_lock lock(mutex_);
  auto state = state_;
  if (held_since_)
    state.seconds += std::chrono::duration<double>(Clock::now() - *held_since_).count();
  if (running_) {
    state.sent += running_->stream.sent();
    state.received += running_->stream.received();
  }
  state.used = held_.counted().seconds;
  if (options_.price) state.cost = state.seconds * options_.price->per_second;
  if (!up_)
    state.state = "off";
  else if (!running_)
    state.state = ending_ ? "idle" : "starting";
  else
    state.state = in_use() ? "working" : "idle";
  return state;
}

}  // namespace ratchet

#include "kernels/labs/lab_service.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/labs/lab_calls.h"
#include "kernels/labs/lab_messages.h"
#include "kernels/labs/lab_texts.h"
#include "kernels/labs/source_files.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
namespace wire = lab_wire;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kServiceTick{200};
constexpr milliseconds kBetweenProgress{100};
constexpr std::size_t kMostRequests = 64;
constexpr std::size_t kMostProgram = std::size_t{1} << 28U;

using Texts = std::map<std::string, std::string>;  // by digest

/// Whether a run may be measured here.
using Fits = std::function<Status(const Contract&)>;
struct Method {
  std::function<Result<Json>(Lab&, const Json&, const Fits&, CallContext&)> serve;
  Json (*request)();  ///< its schema
  Json (*answer)();   ///< that of its value
};

template <class Answer>
Json answer_schema() {
  Json schema = schema_of<Answer>();
  if constexpr (requires(Answer answer) { answer.has_value(); })
    schema["type"] = {schema.at("type"), "null"};
  return schema;
}

/// `work` takes a request of its type and answers with a record, which travels as {"value": …}.
template <class Request, class Work>
Method method(Work work) {
  const auto serve = [work](Lab& lab, const Json& body, const Fits& fits,
                            CallContext& call) -> Result<Json> {
    auto request = decode_stored<Request>(body);
    if (!request) return request.error();
    if constexpr (requires { request->contract.device_name; })
      if (auto here = fits(request->contract); !here) return here.error();
    auto answer = work(lab, *request, call);
    if (!answer) return answer.error();
    return Json{{"value", encode(*answer)}};
  };
  using Answer = std::remove_cvref_t<
      decltype(*std::declval<std::invoke_result_t<Work, Lab&, const Request&, CallContext&>>())>;
  return {serve, &schema_of<Request>, &answer_schema<Answer>};
}

const Candidate* pointer(const std::optional<Candidate>& one) {
  return one ? &*one : nullptr;
}
const Profile* pointer(const std::optional<Profile>& one) {
  return one ? &*one : nullptr;
}

Result<ImportedProfile> import(Lab& lab, const wire::Import& request, CallContext& call) {
  const auto content = from_base64(request.content);
  if (!content) return invalid_argument("content: is not base64");
  return lab.import_profile(
      request.contract, {&request.candidate, pointer(request.profile), request.file_name, *content},
      call);
}

Result<std::vector<RaceLine>> race(Lab& lab, const wire::Race& request, CallContext& call) {
  std::vector<Entrant> entrants;
  for (const auto& one : request.entrants) entrants.push_back({one.name, &one.candidate});
  return lab.race(request.contract, entrants, request.race, request.secret, call);
}

const std::map<std::string, Method, std::less<>> kMethods{
    {"environment", method<wire::Environment>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.environment(r.device, call);
     })},
    {"plan", method<wire::Plan>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.plan(r.task, r.kernel, r.reference, call);
     })},
    {"build", method<wire::Build>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.build(r.contract, r.source, call);
     })},
    {"prepare", method<wire::OfContract>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.prepare(r.contract, call);
     })},
    {"validate_task", method<wire::OfContract>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.validate_task(r.contract, r.secret, call);
     })},
    {"refused_size", method<wire::OfCandidate>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.refused_size(r.contract, r.candidate, r.secret, call);
     })},
    {"unanswered_size", method<wire::OfContract>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.unanswered_size(r.contract, r.secret, call);
     })},
    {"check", method<wire::OfCandidate>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.check(r.contract, r.candidate, r.ahead, r.secret, call);
     })},
    {"search_values", method<wire::OfCandidate>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.search_values(r.contract, {&r.candidate, pointer(r.yardstick), r.seconds},
                                r.secret, call);
     })},
    {"profile", method<wire::ProfileOf>([](Lab& lab, const auto& r, CallContext& call) {
       const ProfileRequest request{&r.candidate, pointer(r.parent), pointer(r.v0), pointer(r.best),
                                    r.seconds,    r.search,          r.metrics,     r.names,
                                    r.engine,     r.verify};
       return lab.profile(r.contract, request, r.secret, call);
     })},
    {"import_profile", method<wire::Import>(import)},
    {"benchmark", method<wire::Benchmark>([](Lab& lab, const auto& r, CallContext& call) {
       const BenchmarkRequest request{&r.candidate,    pointer(r.parent), pointer(r.v0),
                                      r.baselines,     r.num_warmup,      r.num_trials,
                                      r.discard_first, r.prewarm_calls,   r.cache_mode,
                                      r.host_time,     r.values};
       return lab.benchmark(r.contract, request, r.secret, call);
     })},
    {"sanitize", method<wire::Sanitize>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.sanitize(r.contract, {&r.candidate, r.tools, r.dims}, call);
     })},
    {"compile", method<CompileRequest>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.compile(r, call);
     })},
    {"disassemble", method<wire::Disassemble>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.disassemble(r.contract, r.candidate, r.request, call);
     })},
    {"check_sass", method<wire::CheckSass>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.check_sass(r.contract, r.candidate, pointer(r.parent), r.ids, call);
     })},
    {"roofline", method<wire::Roofline>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.roofline(r.contract, r.profile, call);
     })},
    {"compare", method<wire::Compare>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.compare(r.contract, {&r.a, pointer(r.profile_a)}, {&r.b, pointer(r.profile_b)},
                          call);
     })},
    {"race", method<wire::Race>(race)},
    {"noise", method<wire::Noise>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.noise(r.kind, r.device, r.time_ns, call);
     })},
    {"ceilings", method<wire::Ceilings>([](Lab& lab, const auto& r, CallContext& call) {
       return lab.ceilings(r.device, r.kind, r.refresh, call);
     })},
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string program_digest() {
  const auto program = read_file("/proc/self/exe", kMostProgram);
  return program ? sha256_hex(*program) : "";
}

/// A folder that other users may read, because workers run as such; removed at the end.
class SourceFolder {
 public:
  SourceFolder() {
    auto pattern = (fs::temp_directory_path() / "ratchet-lab-XXXXXX").string();
    if (::mkdtemp(pattern.data())) path_ = pattern;
    std::error_code none;
    fs::permissions(path_, fs::perms(0755), none);
  }
  SourceFolder(const SourceFolder&) = delete;
  SourceFolder& operator=(const SourceFolder&) = delete;
  ~SourceFolder() {
    std::error_code none;
    if (!path_.empty()) fs::remove_all(path_, none);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The requests under way, one thread each.
class Service {
 public:
  Service(Lab& lab, LabStream& stream, fs::path texts, std::stop_token ending)
      : lab_(lab), stream_(stream), texts_(std::move(texts)), ending_(std::move(ending)) {}

  ~Service() {
    const std::scoped_lock lock(mutex_);
    for (auto& [id, one] : working_) one.thread.request_stop();
  }

  Status take(wire::Message message) {
    if (message.kind == wire::Kind::cancel) {
      const std::scoped_lock lock(mutex_);
      if (const auto one = working_.find(message.id); one != working_.end())
        one->second.thread.request_stop();
      return {};
    }
    if (message.kind == wire::Kind::texts) {
      const std::scoped_lock lock(mutex_);
      const auto pieces = decode_stored<Texts>(message.body.value_or(Json::object()));
      if (!pieces) return pieces.error().at("texts");
      const auto one = working_.find(message.id);
      if (one == working_.end()) return {};
      for (const auto& [digest, piece] : *pieces) one->second.texts[digest] += piece;
      one->second.have_texts = !message.more;
      arrived_.notify_all();
      return {};
    }
    if (message.kind == wire::Kind::alive) return {};
    if (message.kind != wire::Kind::request || message.id.empty())
      return invalid_argument(fmt::format("a lab takes requests, not {}", name_of(message.kind)));
    reap();
    const std::scoped_lock lock(mutex_);
    if (working_.size() >= kMostRequests || working_.contains(message.id)) {
      refuse(message.id,
             {ErrorCode::conflict,
              fmt::format("the lab works on {} requests already", working_.size()), ""});
      return {};
    }
    auto& one = working_[message.id];
    one.thread =
        std::jthread([this, &one, message = std::move(message)](const std::stop_token& stop) {
          answer(message, one, stop);
          one.done = true;
        });
    return {};
  }

  void reap() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(working_, [](const auto& one) { return one.second.done.load(); });
  }

 private:
  struct Working {
    std::atomic<bool> done = false;
    Texts texts;  ///< that it asked for, as far as they have come
    bool have_texts = false;
    std::jthread thread;  // joins before the flag goes
  };

  void refuse(const std::string& id, const Error& error) {
    wire::Message message;
    message.kind = wire::Kind::error;
    message.id = id;
    message.text = error.message;
    message.code = name_of(error.code);
    message.hint = error.hint;
    (void)stream_.send(encode(message));
  }

  void answer(const wire::Message& asked, const Working& own, const std::stop_token& stop) {
    std::optional<wire::Message> filled;
    if (!asked.places.empty()) {
      auto request = with_texts(asked, own, stop);
      if (!request) return refuse(asked.id, request.error());
      filled = *std::move(request);
    }
    auto done = result_of(filled ? *filled : asked, stop);
    // Who ends a lab, as scancel does, sends the signal to its workers too: what looks like a crash
    // of the kernel then is none, and no answer is better than a false one.
    if (ending_.stop_requested()) return;
    if (!done) return refuse(asked.id, done.error());
    wire::Message message;
    message.kind = wire::Kind::answer;
    message.id = asked.id;
    message.body = *std::move(done);
    std::set<std::string> known;
    for (const auto& [place, digest] : asked.places) known.insert(digest);
    Json encoded = encode(message);
    encoded["places"] = take_texts(
        encoded, [&](const auto& digest, const auto&) { return known.contains(digest); });
    if (auto sent = stream_.send(encoded); !sent) refuse(asked.id, sent.error());
  }

  /// The request with its long texts, of which the server sends those that are not here.
  Result<wire::Message> with_texts(const wire::Message& asked, const Working& own,
                                   const std::stop_token& stop) {
    Texts found;
    std::set<std::string> missing;
    for (const auto& [place, digest] : asked.places) {
      if (found.contains(digest)) continue;
      if (auto text = texts_.find(digest))
        found.emplace(digest, *std::move(text));
      else
        missing.insert(digest);
    }
    if (!missing.empty()) {
      auto sent = needed(asked.id, missing, own, stop);
      if (!sent) return sent.error();
      for (const auto& digest : missing)
        if (auto kept = texts_.keep(digest, (*sent)[digest]); !kept) return kept.error();
      found.merge(*sent);
    }
    Json message = encode(asked);
    if (auto put = put_texts(message, asked.places, found); !put) return put.error();
    return decode_stored<wire::Message>(message);
  }

  Result<Texts> needed(const std::string& id, const std::set<std::string>& digests,
                       const Working& own, const std::stop_token& stop) {
    wire::Message message;
    message.kind = wire::Kind::need;
    message.id = id;
    message.body = Json{{"digests", digests}};
    if (auto sent = stream_.send(encode(message)); !sent) return sent.error();
    std::unique_lock lock(mutex_);
    if (!arrived_.wait(lock, stop, [&] { return own.have_texts; }))
      return Error{ErrorCode::timed_out, "canceled", ""};
    return own.texts;
  }

  Result<Json> result_of(const wire::Message& request, const std::stop_token& stop) {
    const auto found = kMethods.find(request.method);
    if (found == kMethods.end())
      return invalid_argument(fmt::format("method: a lab cannot {}", request.method));
    Json body = request.body.value_or(Json::object());
    if (auto done = unpack(request.files, sources_.path(), body); !done) return done.error();
    auto last = steady_clock::time_point{};
    std::mutex reporting;
    CallContext call(
        [&](double done, std::optional<double> total, std::string_view text) {
          const std::scoped_lock lock(reporting);
          if (steady_clock::now() - last < kBetweenProgress) return;
          last = steady_clock::now();
          wire::Message message;
          message.kind = wire::Kind::progress;
          message.id = request.id;
          message.done = done;
          message.total = total;
          message.text = text;
          (void)stream_.send(encode(message));
        },
        stop);
    return found->second.serve(
        lab_, body, [&](const Contract& one) { return fits_this_machine(one, stop); }, call);
  }

  /// A run stays on the kind of device that its contract names.
  Status fits_this_machine(const Contract& contract, const std::stop_token& stop) {
    if (contract.device_name.empty()) return {};  // of a kernel without a run
    const std::scoped_lock lock(probing_);
    if (!devices_) {
      CallContext call({}, stop);
      auto environment = lab_.environment(std::nullopt, call);
      if (!environment) return environment.error();
      devices_ = std::move(environment->devices);
    }
    std::string names;
    for (const auto& device : *devices_) {
      if (device.kind == contract.device_kind && device.name == contract.device_name) return {};
      names += (names.empty() ? "" : ", ") + device.name;
    }
    return unavailable(
        fmt::format("device: the run was created on {}, this lab has {}", contract.device_name,
                    names),
        "Times of different devices cannot be compared: start the lab on such a device again, or "
        "create a run for this one.");
  }

  Lab& lab_;
  LabStream& stream_;
  TextStore texts_;
  const std::stop_token ending_;
  SourceFolder sources_;
  std::mutex probing_;
  std::optional<std::vector<DeviceInfo>> devices_;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::map<std::string, Working> working_;  // last: its threads use the others
};

/// Takes messages until the stream ends, or nothing has come for `silence`.
Status serve_until_end(Service& service, LabStream& stream, milliseconds silence,
                       const std::stop_token& stop) {
  auto last = steady_clock::now();
  auto heard = last;
  std::int64_t bytes = 0;
  while (!stop.stop_requested()) {
    auto received = stream.receive(kServiceTick, stop);
    if (!received)
      return received.error().code == ErrorCode::unavailable ? Status{} : received.error();
    service.reap();
    // A lab that was stopped itself reads first what came meanwhile.
    if (std::exchange(bytes, stream.received()) != bytes) heard = steady_clock::now();
    if (const auto quiet = steady_clock::now() - heard; quiet > silence)
      return unavailable(
          fmt::format("lab: its server has said nothing for {:.0f} s, so it ends",
                      std::chrono::duration<double>(silence).count()),
          "The server, or the network between both, is gone; the next call starts a lab again.");
    if (steady_clock::now() - last >= wire::kAliveEvery) {
      if (auto sent = stream.send(encode(wire::Message{})); !sent) return {};
      last = steady_clock::now();
    }
    if (!*received) continue;
    auto message = decode<wire::Message>(**received);
    if (!message) return message.error();
    if (auto taken = service.take(*std::move(message)); !taken) return taken;
  }
  return {};
}

}  // namespace

std::map<std::string, Json> lab_schemas() {
  std::map<std::string, Json> all{
      {"message", {{"protocol", wire::kProtocol}, {"message", schema_of<wire::Message>()}}}};
  for (const auto& [name, method] : kMethods)
    all[name] = {
        {"protocol", wire::kProtocol}, {"request", method.request()}, {"answer", method.answer()}};
  return all;
}

Status serve_lab(Lab& lab, LabStream& stream, const std::string& version, const fs::path& texts,
                 const std::stop_token& stop, const std::function<void()>& at_end,
                 milliseconds silence) {
  wire::Message hello;
  hello.kind = wire::Kind::hello;
  hello.hello = wire::Hello{wire::kProtocol, version, program_digest(), host_name()};
  if (auto sent = stream.send(encode(hello)); !sent) return sent;
  Service service(lab, stream, texts, stop);
  auto served = serve_until_end(service, stream, silence, stop);
  at_end();
  return served;
}

}  // namespace ratchet

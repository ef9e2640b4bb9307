// A message between a server and a lab is read or refused: each record in it, and what was read,
// written out, reads the same. Files stay in their folder, and texts come back to where they were.
// An input is one message; its method says which records are in it, as request or as answer.

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "kernels/lab.h"
#include "kernels/labs/lab_calls.h"
#include "kernels/labs/lab_messages.h"
#include "kernels/labs/lab_texts.h"
#include "kernels/labs/source_files.h"
#include "server/core/bounded_json.h"
#include "server/core/hash.h"
#include "tests/fuzz/fuzzers.h"

namespace ratchet::fuzz {
namespace {

namespace fs = std::filesystem;
namespace wire = lab_wire;

template <class Record>
void check_record(const Json& json) {
  const auto record = decode_stored<Record>(json);
  if (!record) {
    require(record.error().code != ErrorCode::internal, "a refusal names the rule");
    return;
  }
  const Json written = encode(*record);
  const auto again = decode_stored<Record>(written);
  require(again && encode(*again) == written, "a record that was written out reads the same");
}

/// Readers of the request and of the answer of a method of Lab.
struct Records {
  void (*request)(const Json& json);
  void (*answer)(const Json& json);
};
template <class Request, class Answer>
constexpr Records records{check_record<Request>, check_record<Answer>};

const std::map<std::string, Records, std::less<>> kMethods{
    {"environment", records<wire::Environment, Environment>},
    {"plan", records<wire::Plan, Contract>},
    {"build", records<wire::Build, Candidate>},
    {"prepare", records<wire::OfContract, PreparedTask>},
    {"validate_task", records<wire::OfContract, std::vector<Reason>>},
    {"refused_size", records<wire::OfCandidate, std::optional<Reason>>},
    {"unanswered_size", records<wire::OfContract, std::optional<Reason>>},
    {"check", records<wire::OfCandidate, TimedReport>},
    {"search_values", records<wire::OfCandidate, SearchedValues>},
    {"profile", records<wire::ProfileOf, TimedProfile>},
    {"import_profile", records<wire::Import, ImportedProfile>},
    {"benchmark", records<wire::Benchmark, BenchmarkReport>},
    {"sanitize", records<wire::Sanitize, SanitizerReport>},
    {"compile", records<CompileRequest, CompiledSource>},
    {"disassemble", records<wire::Disassemble, Disassembly>},
    {"check_sass", records<wire::CheckSass, SassCheck>},
    {"roofline", records<wire::Roofline, RooflineReport>},
    {"compare", records<wire::Compare, VersionDiff>},
    {"race", records<wire::Race, std::vector<RaceLine>>},
    {"noise", records<wire::Noise, std::optional<double>>},
    {"ceilings", records<wire::Ceilings, std::vector<Ceiling>>},
};

/// A folder of this process, the same for all inputs. Requests are unpacked in `place()`.
class LabFolder {
 public:
  LabFolder()
      : path_(fs::temp_directory_path() / ("ratchet-fuzz-labs-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
  }
  ~LabFolder() { clear(); }
  LabFolder(const LabFolder&) = delete;
  LabFolder& operator=(const LabFolder&) = delete;

  [[nodiscard]] fs::path place() const { return path_ / "a/b/c/d"; }
  [[nodiscard]] bool is_left() const {
    for (const auto* folder : {"", "a", "a/b", "a/b/c"}) {
      const auto count = std::distance(fs::directory_iterator(path_ / folder), {});
      if (count != 1) return true;
    }
    return false;
  }
  void make() const { fs::create_directories(place()); }
  void clear() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

 private:
  fs::path path_;
};

void check_unpacked(const std::map<std::string, wire::Files>& files, Json body) {
  static const LabFolder folder;
  folder.make();
  const auto done = unpack(files, folder.place(), body);
  require(done || done.error().code != ErrorCode::internal, "a refusal names the rule");
  require(!folder.is_left(), "files stay in their folder");
  if (!files.empty()) folder.clear();
}

void check_texts(const Json& message) {
  Json short_one = message;
  std::map<std::string, std::string> texts;
  const auto places = take_texts(short_one, [&](const auto& digest, const auto& text) {
    texts.emplace(digest, text);
    return true;
  });
  require(static_cast<bool>(put_texts(short_one, places, texts)) && short_one == message,
          "texts come back to where they were");
}

}  // namespace

bool reads_lab_method(std::string_view name) {
  return kMethods.contains(name);
}

void labs(std::string_view bytes) {
  const auto json = bounded_json(bytes);
  if (!json) return;
  check_record<wire::Message>(*json);
  check_texts(*json);
  const auto message = decode<wire::Message>(*json);
  if (!message) return;
  Json changed = *json;
  (void)put_texts(changed, message->places, {{sha256_hex("a text"), "a text"}});
  if (!message->body) return;
  check_unpacked(message->files, *message->body);
  const auto found = kMethods.find(message->method);
  if (found == kMethods.end()) return;
  found->second.request(*message->body);
  if (const auto value = message->body->find("value"); value != message->body->end())
    found->second.answer(*value);
}

}  // namespace ratchet::fuzz

#pragma once

#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "kernels/labs/remote_lab.h"
#include "server/core/files.h"
#include "tests/kernels/lab/lab_fixture.h"

namespace ratchet::test {

/// Says hello, reads a request and then does what follows, with `say`, `request` and `id` at hand.
inline constexpr const char* kScriptedLab = R"py(
import json, sys, time
def frame(message):
    body = json.dumps(message)
    return f"ratchet-lab {len(body)}\n{body}"
def say(message):
    sys.stdout.write(frame(message))
    sys.stdout.flush()
def request():
    while True:
        head = sys.stdin.readline()
        got = json.loads(sys.stdin.read(int(head.split()[1])))
        if got["kind"] != "alive":
            return got
say({"kind": "hello", "hello": {"protocol": 5, "version": "test", "program": "", "host": "far"}})
asked = request()
id = asked["id"]
)py";

/// Labs in Python that do what a test says, beside a real one of this process.
struct ScriptedLabs : LabFixture {
  [[nodiscard]] std::unique_ptr<RemoteLab> lab_at(const std::string& command) const {
    ::signal(SIGPIPE, SIG_IGN);
    return RemoteLab::make({.name = "far",
                            .command = command,
                            .version = "test",
                            .start_limit = std::chrono::seconds(20),
                            .idle = std::chrono::seconds(60),
                            .silence = std::chrono::seconds(2)},
                           *lab);
  }

  [[nodiscard]] std::unique_ptr<RemoteLab> lab_that(const std::string& answers) const {
    REQUIRE(write_file(folder / "lab.py", kScriptedLab + answers));
    return lab_at(fmt::format("exec python3 {}", (folder / "lab.py").string()));
  }

  /// One that answers so, and then waits.
  [[nodiscard]] std::unique_ptr<RemoteLab> lab_answering(const Json& value) const {
    return lab_that(
        fmt::format("say({{'kind': 'answer', 'id': id, 'body': {{'value': json.loads({})}}}})\n"
                    "sys.stdin.read()",
                    Json(value.dump()).dump()));
  }

  /// The error of a call, which must have one.
  std::string refusal(RemoteLab& far) {
    const auto answer = far.ceilings(0, DeviceKind::host, false, call);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::unavailable);
    return answer.error().message + "\n" + answer.error().hint;
  }
  std::string refusal(std::unique_ptr<RemoteLab> far) { return refusal(*far); }
};

inline bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace ratchet::test

// Labs that break the protocol, die or lie. What a real one does: tests/server/labs_test.cpp.

#include "kernels/labs/remote_lab.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "kernels/labs/lab_set.h"
#include "server/core/files.h"
#include "tests/kernels/labs/scripted_lab.h"

using namespace ratchet;
using namespace ratchet::test;
using namespace std::chrono_literals;

TEST_CASE("a lab's command that fails is told with its status, its words and itself", "[labs]") {
  ScriptedLabs labs;

  const auto text = labs.refusal(labs.lab_at("echo no such host >&2; exit 255"));

  has(text, "lab far");
  has(text, "exit code 255");
  has(text, "no such host");
  has(text, "Try its command alone: echo no such host");
}

TEST_CASE("a lab of another version is refused with both", "[labs]") {
  ScriptedLabs labs;
  auto far = RemoteLab::make({.name = "far",
                              .command = "exec python3 " + (labs.folder / "lab.py").string(),
                              .version = "another",
                              .start_limit = 20s},
                             *labs.lab);
  REQUIRE(write_file(labs.folder / "lab.py", kScriptedLab));

  const auto text = labs.refusal(*far);

  has(text, "ratchet test");
  has(text, "another");
  has(text, "same version");
}

TEST_CASE("what a lab prints between its messages ends the connection and is shown",
          "[labs][slow]") {
  ScriptedLabs labs;

  const auto text =
      labs.refusal(labs.lab_that("print('Quota exceeded', flush=True)\ntime.sleep(60)"));

  has(text, "Quota exceeded");
  has(text, "start-up files");
}

TEST_CASE("a lab that ends in the middle of a message gives no answer", "[labs]") {
  ScriptedLabs labs;

  has(labs.refusal(
          labs.lab_that("sys.stdout.write('ratchet-lab 100\\n{\"kind\"'); sys.stdout.flush()")),
      "in the middle of a message");
}

TEST_CASE("an answer that nobody asked for ends the connection, a repeated one too",
          "[labs][slow]") {
  ScriptedLabs labs;

  has(labs.refusal(labs.lab_that("say({'kind': 'answer', 'id': 'x', 'body': {'value': []}})\n"
                                 "time.sleep(60)")),
      "nobody made");
  auto twice = labs.lab_that(
      "for _ in range(2): say({'kind': 'answer', 'id': id, 'body': {'value': []}})\n"
      "time.sleep(60)");
  CHECK(twice->ceilings(0, DeviceKind::host, false, labs.call));
  has(labs.refusal(*twice), "nobody made");
}

TEST_CASE("a lab that falls silent is given up", "[labs][slow]") {
  ScriptedLabs labs;

  has(labs.refusal(labs.lab_that("time.sleep(60)")), "said nothing for 2 s");
}

TEST_CASE("a server says that it is alive while it has nothing else to say", "[labs][slow]") {
  ScriptedLabs labs;
  // Says what came next, as an error that the call shows.
  const auto far = labs.lab_that(
      "import select\n"
      "for _ in range(40):\n"
      "    if select.select([sys.stdin], [], [], 0.5)[0]: break\n"
      "    say({'kind': 'alive'})\n"
      "else: sys.exit()\n"
      "head = sys.stdin.readline()\n"
      "say({'kind': 'error', 'id': id, 'text': sys.stdin.read(int(head.split()[1])), 'code': "
      "'not_found'})\n"
      "time.sleep(60)");

  const auto answer = far->ceilings(0, DeviceKind::host, false, labs.call);

  REQUIRE_FALSE(answer);
  CHECK(answer.error().message == "{\"kind\":\"alive\"}\n");
}

TEST_CASE("a long message over a slow line is no silence", "[labs][slow]") {
  ScriptedLabs labs;
  auto far = labs.lab_that(
      "whole = frame({'kind': 'answer', 'id': id, 'body': {'value': []}})\n"
      "for byte in whole[:30]:\n"
      "    sys.stdout.write(byte); sys.stdout.flush(); time.sleep(0.1)\n"
      "sys.stdout.write(whole[30:]); sys.stdout.flush(); time.sleep(60)");

  CHECK(far->ceilings(0, DeviceKind::host, false, labs.call));
}

TEST_CASE("a lab is not held for a call that was canceled and that it never answers",
          "[labs][slow]") {
  ScriptedLabs labs;
  REQUIRE(write_file(
      labs.folder / "lab.py",
      std::string(kScriptedLab) + "while True: say({'kind': 'alive'}); time.sleep(0.5)"));
  auto far = RemoteLab::make({.name = "far",
                              .command = "exec python3 " + (labs.folder / "lab.py").string(),
                              .version = "test",
                              .start_limit = 20s,
                              .idle = 1s,
                              .silence = 5s},
                             *labs.lab);
  std::stop_source cancel;
  const std::jthread later([&] {
    std::this_thread::sleep_for(3s);
    cancel.request_stop();
  });
  CallContext call({}, cancel.get_token());

  const auto answer = far->ceilings(0, DeviceKind::host, false, call);

  REQUIRE_FALSE(answer);
  CHECK(answer.error().message == "canceled");
  CHECK(far->state().starts == 1);
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (far->state().state != "off" && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(100ms);
  CHECK(far->state().state == "off");
  CHECK_FALSE(far->state().error);
}

TEST_CASE("what a lab's command says while it starts is shown as progress", "[labs][slow]") {
  ScriptedLabs labs;
  REQUIRE(write_file(labs.folder / "lab.py", kScriptedLab));
  auto far = labs.lab_at(fmt::format(
      "echo 'srun: job 7 queued and waiting for resources' >&2; sleep 3; exec python3 {}",
      (labs.folder / "lab.py").string()));
  std::string said;
  CallContext call([&](double, std::optional<double>, std::string_view text) { said = text; }, {});

  CHECK_FALSE(far->ceilings(0, DeviceKind::host, false, call));

  CHECK(said == "waiting for lab far, which says: srun: job 7 queued and waiting for resources");
}

TEST_CASE("a lab that announces more than a message may have is refused", "[labs][slow]") {
  ScriptedLabs labs;

  has(labs.refusal(labs.lab_that("print('ratchet-lab 999999999999', flush=True)\ntime.sleep(60)")),
      "999999999999 bytes");
}

TEST_CASE("an error of a lab comes with its code and hint", "[labs]") {
  ScriptedLabs labs;
  auto far = labs.lab_that(
      "say({'kind': 'error', 'id': id, 'text': 'no such device', 'code': 'not_found', 'hint': "
      "'ask'})\n"
      "time.sleep(60)");

  const auto answer = far->ceilings(7, DeviceKind::cuda, false, labs.call);

  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::not_found);
  CHECK(answer.error().message == "no such device");
  CHECK(answer.error().hint == "ask");
}

TEST_CASE("a lab that says it built another source is not believed", "[labs][slow]") {
  ScriptedLabs labs;
  const auto contract = labs.doubling(doubling_source(kHonestBody));
  const auto honest = labs.built(contract);
  auto other = honest;
  other.build.source_digest = std::string(64, '0');
  const auto answer = [&](const Candidate& one) {
    return fmt::format(
        "say({{'kind': 'answer', 'id': id, 'body': {{'value': json.loads({})}}}})\n"
        "time.sleep(60)",
        Json(encode(one).dump()).dump());
  };

  const auto lied = labs.lab_that(answer(other))->build(contract, contract.kernel, labs.call);
  const auto true_one = labs.lab_that(answer(honest))->build(contract, contract.kernel, labs.call);

  REQUIRE_FALSE(lied);
  has(lied.error().message, "digest");
  REQUIRE(true_one);
  CHECK(true_one->source.text == contract.kernel.text);
}

TEST_CASE("a lab gets the texts that it needs, and only those that the request names",
          "[labs][slow]") {
  ScriptedLabs labs;
  const auto contract = labs.doubling(doubling_source(kHonestBody, "// " + std::string(300, '-')));
  // Says what it got for the kernel's text, as an error that the call shows.
  const std::string asks =
      "digest = asked['places']['/body/source/text']\n"
      "say({'kind': 'need', 'id': id, 'body': {'digests': [digest]}})\n"
      "got = request()\n"
      "say({'kind': 'error', 'id': id, 'text': got['kind'] + ' ' + got['body'][digest], 'code': "
      "'not_found'})\n"
      "time.sleep(60)";

  const auto given = labs.lab_that(asks)->build(contract, contract.kernel, labs.call);
  const auto nosy =
      labs.lab_that(
              "say({'kind': 'need', 'id': id, 'body': {'digests': ['0' * 64]}})\ntime.sleep(60)")
          ->build(contract, contract.kernel, labs.call);

  REQUIRE_FALSE(given);
  CHECK(given.error().message == "texts " + contract.kernel.text);
  REQUIRE_FALSE(nosy);
  has(nosy.error().message, "that nobody named");
  for (const auto* body : {"{'digests': 3}", "{}", "3"}) {
    INFO(body);
    const auto odd =
        labs.lab_that(
                fmt::format("say({{'kind': 'need', 'id': id, 'body': {}}})\ntime.sleep(60)", body))
            ->build(contract, contract.kernel, labs.call);
    REQUIRE_FALSE(odd);
    has(odd.error().message, "must be a");
  }
}

TEST_CASE("an answer with a text that was not sent ends the connection", "[labs][slow]") {
  ScriptedLabs labs;

  has(labs.refusal(labs.lab_that(
          "say({'kind': 'answer', 'id': id, 'body': {'value': ['']}, 'places': {'/body/value/0': "
          "'0' * 64}})\ntime.sleep(60)")),
      "no text has the digest");
}

TEST_CASE("a call that uses up its budget is cut off, and the next one is not sent",
          "[labs][slow]") {
  ScriptedLabs labs;
  auto far = labs.lab_that("while True:\n  say({'kind': 'alive'})\n  time.sleep(0.1)");
  LabMeter meter("Ask the user.");
  meter.set({}, {.max_lab_seconds = 0.5, .max_cost = {}});
  CallContext call = labs.call.metered_by(meter);

  const auto cut = far->ceilings(0, DeviceKind::host, false, call);
  const auto next = far->ceilings(0, DeviceKind::host, false, call);

  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == ErrorCode::not_permitted);
  has(cut.error().message, "max_lab_seconds: the run has used");
  has(cut.error().message, "cut off");
  CHECK(cut.error().hint == "Ask the user.");
  CHECK(meter.unrecorded().seconds >= 0.5);
  REQUIRE_FALSE(next);
  CHECK(next.error().message.find("cut off") == std::string::npos);
}

TEST_CASE("a contract that names a lab which is not there is refused with those that are",
          "[labs]") {
  ScriptedLabs labs;
  auto contract = labs.doubling(doubling_source(kHonestBody));
  contract.lab = "nowhere";
  auto far = parse_lab("far=exit 1");
  REQUIRE(far);
  std::vector<RemoteLabOptions> remote;
  remote.push_back(*std::move(far));
  const auto set = lab_set(std::move(labs.lab), std::move(remote));

  const auto built = set->build(contract, contract.kernel, labs.call);

  REQUIRE_FALSE(built);
  CHECK(built.error().code == ErrorCode::not_found);
  has(built.error().message, "nowhere");
  has(built.error().hint, "far");
  CHECK_FALSE(parse_lab("no command"));
  CHECK_FALSE(parse_lab("bad name=x"));
  CHECK_FALSE(parse_lab("empty="));
}

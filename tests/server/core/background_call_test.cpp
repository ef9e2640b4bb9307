#include "server/core/background_call.h"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <thread>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr auto kForever = std::chrono::steady_clock::time_point::max();

/// The consent as an answer.
ToolAnswer reply_of(Consent consent) {
  return {Json(consent == Consent::granted       ? "granted"
               : consent == Consent::unavailable ? "unavailable"
                                                 : "refused"),
          ""};
}

/// A call that asks one question and returns the reply it got.
struct Asking {
  BackgroundCall job{"job-1", "erase", ""};
  std::jthread thread{[this] {
    job.run([](CallContext& call) { return reply_of(call.confirm("Erase everything?")); });
  }};
};

TEST_CASE("a question goes to the waiting caller", "[jobs]") {
  Asking asking;
  std::string question;
  CallContext caller({}, {}, [&](std::string_view text) {
    question = text;
    return Consent::granted;
  });

  REQUIRE(asking.job.wait(caller, kForever));

  CHECK(question == "Erase everything?");
  CHECK(asking.job.answer()->structured == "granted");
}

TEST_CASE("after the last caller has left, questions are refused", "[jobs]") {
  Asking asking;

  asking.job.detach(BackgroundCall::Questions::refused);

  asking.thread.join();
  CHECK(asking.job.answer()->structured == "unavailable");
}

TEST_CASE("a kept question takes one answer and ignores others", "[jobs]") {
  Asking asking;
  asking.job.detach(BackgroundCall::Questions::kept);
  while (asking.job.questions().empty()) std::this_thread::yield();
  CHECK(asking.job.snapshot().state == CallState::input_required);
  const auto [key, text] = *asking.job.questions().begin();
  CHECK(text == "Erase everything?");

  asking.job.reply("another", Consent::granted);
  CHECK(asking.job.questions().size() == 1);
  asking.job.reply(key, Consent::refused);
  asking.job.reply(key, Consent::granted);

  asking.thread.join();
  CHECK(asking.job.answer()->structured == "refused");
  CHECK(asking.job.questions().empty());
}

TEST_CASE("canceling a call that waits for the user ends it", "[jobs]") {
  Asking asking;
  asking.job.detach(BackgroundCall::Questions::kept);
  while (asking.job.questions().empty()) std::this_thread::yield();

  asking.job.cancel();

  asking.thread.join();
  CHECK(asking.job.answer()->structured == "unavailable");
}

TEST_CASE("work that throws fails without telling the reason to the client", "[jobs]") {
  BackgroundCall job("job-1", "measure", "");

  job.run([](CallContext&) -> ToolAnswer { throw std::runtime_error("a secret path"); });

  CHECK(job.snapshot().state == CallState::failed);
  CHECK(job.answer()->text.starts_with("internal: measure failed"));
  CHECK(job.answer()->text.find("secret") == std::string::npos);
}

TEST_CASE("a tool's error completes the call, unless it was canceled", "[jobs]") {
  const auto fails = [](CallContext&) { return error_answer({ErrorCode::conflict, "taken", ""}); };
  BackgroundCall failed("job-1", "measure", "");
  BackgroundCall canceled("job-2", "measure", "");
  canceled.cancel();

  failed.run(fails);
  canceled.run(fails);

  CHECK(failed.snapshot().state == CallState::completed);
  CHECK(failed.snapshot().error == "conflict: taken");
  CHECK(canceled.snapshot().state == CallState::canceled);
}

TEST_CASE("a caller gets the latest progress on its own thread", "[jobs]") {
  BackgroundCall job("job-1", "measure", "");
  std::vector<double> received;
  std::thread::id thread;
  CallContext caller(
      [&](double done, std::optional<double>, std::string_view) {
        received.push_back(done);
        thread = std::this_thread::get_id();
      },
      {});
  std::jthread worker([&] {
    job.run([](CallContext& call) {
      for (const double done : {1.0, 2.0, 3.0}) call.progress(done, 3, "sampling");
      return ToolAnswer{};
    });
  });

  REQUIRE(job.wait(caller, kForever));

  REQUIRE_FALSE(received.empty());
  CHECK(received.back() == 3);
  CHECK(thread == std::this_thread::get_id());
}

}  // namespace
}  // namespace ratchet

#include "server/core/background_call.h"

#include <catch2/catch_test_macros.hpp>
#include <future>
#include <stdexcept>
#include <thread>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr auto kForever = std::chrono::steady_clock::time_point::max();

ToolAnswer said(Consent consent) {
  return {Json(consent == Consent::granted       ? "granted"
               : consent == Consent::unavailable ? "unavailable"
                                                 : "refused"),
          ""};
}

/// A job that asks one question and answers what it heard.
struct Asking {
  Job job{"job-1", "erase", ""};
  std::jthread thread{[this] {
    job.run([](CallContext& call) { return said(call.confirm("Erase everything?")); });
  }};

  Json heard() {
    CallContext nobody;
    REQUIRE(job.attend(nobody, kForever));
    return job.answer()->structured;
  }
};

TEST_CASE("a question goes to the caller that waits", "[jobs]") {
  Asking asking;
  std::string question;
  CallContext caller({}, {}, [&](std::string_view text) {
    question = text;
    return Consent::granted;
  });

  REQUIRE(asking.job.attend(caller, kForever));

  CHECK(question == "Erase everything?");
  CHECK(asking.job.answer()->structured == "granted");
}

TEST_CASE("nobody can be asked once the last caller has left", "[jobs]") {
  Asking asking;

  asking.job.hand_over(Job::Questions::refused);

  asking.thread.join();
  CHECK(asking.job.answer()->structured == "unavailable");
}

TEST_CASE("a kept question waits for its one answer", "[jobs]") {
  Asking asking;
  asking.job.hand_over(Job::Questions::kept);
  while (asking.job.questions().empty()) std::this_thread::yield();
  CHECK(asking.job.view().state == JobState::input_required);
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

TEST_CASE("cancelling a job that waits for an answer ends it", "[jobs]") {
  Asking asking;
  asking.job.hand_over(Job::Questions::kept);
  while (asking.job.questions().empty()) std::this_thread::yield();

  asking.job.cancel();

  asking.thread.join();
  CHECK(asking.job.answer()->structured == "unavailable");
}

TEST_CASE("work that throws is a failed job and its reason stays inside", "[jobs]") {
  Job job("job-1", "measure", "");

  job.run([](CallContext&) -> ToolAnswer { throw std::runtime_error("a secret path"); });

  CHECK(job.view().state == JobState::failed);
  CHECK(job.answer()->text.starts_with("internal: measure failed"));
  CHECK(job.answer()->text.find("secret") == std::string::npos);
}

TEST_CASE("an error that a tool answers is an answer, unless it was cancelled", "[jobs]") {
  const auto fails = [](CallContext&) { return error_answer({ErrorCode::conflict, "taken", ""}); };
  Job failed("job-1", "measure", "");
  Job cancelled("job-2", "measure", "");
  cancelled.cancel();

  failed.run(fails);
  cancelled.run(fails);

  CHECK(failed.view().state == JobState::completed);
  CHECK(failed.view().error == "conflict: taken");
  CHECK(cancelled.view().state == JobState::cancelled);
}

TEST_CASE("a caller hears the newest progress on its own thread", "[jobs]") {
  Job job("job-1", "measure", "");
  std::vector<double> heard;
  std::thread::id thread;
  CallContext caller(
      [&](double done, std::optional<double>, std::string_view) {
        heard.push_back(done);
        thread = std::this_thread::get_id();
      },
      {});
  std::jthread worker([&] {
    job.run([](CallContext& call) {
      for (const double done : {1.0, 2.0, 3.0}) call.progress(done, 3, "sampling");
      return ToolAnswer{};
    });
  });

  REQUIRE(job.attend(caller, kForever));

  REQUIRE_FALSE(heard.empty());
  CHECK(heard.back() == 3);
  CHECK(thread == std::this_thread::get_id());
}

}  // namespace
}  // namespace ratchet

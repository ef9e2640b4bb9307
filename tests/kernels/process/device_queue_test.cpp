#include "kernels/process/device_queue.h"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

/// A call that signals when it is told to wait.
struct Caller {
  std::promise<void> told;
  std::stop_source stop;
  CallContext call{[this](double, std::optional<double>, std::string_view) { told.set_value(); },
                   stop.get_token()};
};

TEST_CASE("the second job of a device waits, reports it, and then gets its turn", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  Caller first;
  Caller second;
  auto turn = std::make_optional(queue.wait(DeviceKind::host, 0, first.call));
  REQUIRE(*turn);

  auto next = std::async(std::launch::async,
                         [&] { return queue.wait(DeviceKind::host, 0, second.call).has_value(); });
  second.told.get_future().get();
  turn.reset();

  CHECK(next.get());
}

TEST_CASE("each device has its own queue", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  Caller caller;

  const auto host = queue.wait(DeviceKind::host, 0, caller.call);
  const auto gpu = queue.wait(DeviceKind::cuda, 0, caller.call);
  const auto other = queue.wait(DeviceKind::cuda, 1, caller.call);

  CHECK(host);
  CHECK(gpu);
  CHECK(other);
}

TEST_CASE("a device has one queue, by whatever index two servers know it", "[queue]") {
  const test::TempFolder folder;
  const auto seen = [](const char* first, const char* second) {
    return [=](DeviceKind, int index, const CallContext&) -> std::string {
      return index == 0 ? first : second;
    };
  };
  DeviceQueue ours(folder.path(), seen("GPU-1", "GPU-2"));
  DeviceQueue theirs(folder.path(), seen("GPU-2", "GPU-3"));
  Caller first;
  Caller second;
  auto turn = std::make_optional(ours.wait(DeviceKind::cuda, 1, first.call));
  REQUIRE(*turn);

  CHECK(theirs.wait(DeviceKind::cuda, 1, first.call));
  auto next = std::async(std::launch::async,
                         [&] { return theirs.wait(DeviceKind::cuda, 0, second.call).has_value(); });
  second.told.get_future().get();
  turn.reset();

  CHECK(next.get());
}

TEST_CASE("a device's name that is no file's name counts for nothing", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path() / "locks",
                    [](DeviceKind, int, const CallContext&) { return "../outside"; });
  Caller caller;

  REQUIRE(queue.wait(DeviceKind::cuda, 1, caller.call));

  CHECK(std::filesystem::exists(folder.path() / "locks" / "cuda-1.lock"));
}

TEST_CASE("two servers on one state directory share the device", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue ours(folder.path());
  DeviceQueue theirs(folder.path());
  Caller first;
  Caller second;
  auto turn = std::make_optional(ours.wait(DeviceKind::host, 0, first.call));
  REQUIRE(*turn);

  auto next = std::async(std::launch::async,
                         [&] { return theirs.wait(DeviceKind::host, 0, second.call).has_value(); });
  second.told.get_future().get();
  turn.reset();

  CHECK(next.get());
}

TEST_CASE("a call that is canceled while it waits leaves the queue", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  Caller first;
  Caller second;
  const auto turn = queue.wait(DeviceKind::host, 0, first.call);
  REQUIRE(turn);
  auto next =
      std::async(std::launch::async, [&] { return queue.wait(DeviceKind::host, 0, second.call); });
  second.told.get_future().get();

  second.stop.request_stop();

  const auto refused = next.get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::timed_out);
}

TEST_CASE("work in spare time is told when a job wants the device, and gives way", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  std::stop_source wanted;
  auto spare = std::make_optional(queue.wait_for_spare_time(DeviceKind::host, 0, wanted));
  REQUIRE(*spare);
  CHECK_FALSE(wanted.stop_requested());

  Caller job;
  auto next = std::async(std::launch::async,
                         [&] { return queue.wait(DeviceKind::host, 0, job.call).has_value(); });
  job.told.get_future().get();
  CHECK(wanted.stop_requested());
  spare.reset();

  CHECK(next.get());
}

TEST_CASE("work in spare time comes after every job that waits", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  Caller first;
  Caller second;
  auto turn = std::make_optional(queue.wait(DeviceKind::host, 0, first.call));
  std::stop_source wanted;
  std::atomic<bool> second_had_it = false;
  auto spare = std::async(std::launch::async, [&] {
    const auto got = queue.wait_for_spare_time(DeviceKind::host, 0, wanted);
    return got && second_had_it;
  });
  auto next = std::async(std::launch::async, [&] {
    const auto got = queue.wait(DeviceKind::host, 0, second.call);
    second_had_it = true;
    return got.has_value();
  });
  second.told.get_future().get();
  turn.reset();

  CHECK(next.get());
  CHECK(spare.get());
}

TEST_CASE("a wait for spare time can be ended", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  Caller job;
  const auto turn = queue.wait(DeviceKind::host, 0, job.call);
  std::stop_source wanted;
  auto spare = std::async(std::launch::async, [&] {
    return queue.wait_for_spare_time(DeviceKind::host, 0, wanted).has_value();
  });

  wanted.request_stop();

  CHECK_FALSE(spare.get());
}

/// Tells when it is destroyed.
struct Flagged : DeviceQueue::Left {
  explicit Flagged(std::atomic<bool>& gone) : gone_(gone) {}
  ~Flagged() override {
    gone_ = true;
    gone_.notify_all();
  }

  std::atomic<bool>& gone_;
};

TEST_CASE("what a job leaves is handed to the next one that asks, on that device alone",
          "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  const CallContext call;
  std::atomic<bool> gone = false;
  {
    const auto turn = queue.wait(DeviceKind::host, 0, call);
    REQUIRE(turn);
    queue.leave(*turn, std::make_unique<Flagged>(gone));
  }

  std::unique_ptr<DeviceQueue::Left> left;
  REQUIRE(queue.wait(DeviceKind::host, 1, call, &left));
  CHECK_FALSE(left);
  CHECK_FALSE(gone);
  REQUIRE(queue.wait(DeviceKind::host, 0, call, &left));
  CHECK(left);
  CHECK_FALSE(gone);
  REQUIRE(queue.wait(DeviceKind::host, 0, call, &left));
  CHECK_FALSE(left);
}

TEST_CASE("what a job leaves is gone when another job has its turn", "[queue]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  const CallContext call;
  for (const bool in_spare_time : {false, true}) {
    std::atomic<bool> gone = false;
    {
      const auto turn = queue.wait(DeviceKind::host, 0, call);
      REQUIRE(turn);
      queue.leave(*turn, std::make_unique<Flagged>(gone));
    }
    CHECK_FALSE(gone);

    const auto turn = in_spare_time ? queue.wait_for_spare_time(DeviceKind::host, 0, {})
                                    : queue.wait(DeviceKind::host, 0, call);
    REQUIRE(turn);
    CHECK(gone);
  }
}

TEST_CASE("what a job leaves lasts seconds, and no longer than the queue", "[queue][slow]") {
  const test::TempFolder folder;
  std::atomic<bool> first_gone = false;
  std::atomic<bool> last_gone = false;
  {
    DeviceQueue queue(folder.path());
    const CallContext call;
    const auto leave = [&](std::atomic<bool>& gone) {
      const auto turn = queue.wait(DeviceKind::host, 0, call);
      REQUIRE(turn);
      queue.leave(*turn, std::make_unique<Flagged>(gone));
    };
    leave(first_gone);
    first_gone.wait(false);
    leave(last_gone);
    CHECK_FALSE(last_gone);
  }
  CHECK(last_gone);
}

TEST_CASE("what is left stays for a job that has said that it comes", "[queue][slow]") {
  const test::TempFolder folder;
  DeviceQueue queue(folder.path());
  const CallContext call;
  std::atomic<bool> gone = false;
  {
    const auto turn = queue.wait(DeviceKind::host, 0, call);
    REQUIRE(turn);
    queue.leave(*turn, std::make_unique<Flagged>(gone));
  }

  queue.hold(DeviceKind::host, 0, call);
  {
    std::unique_ptr<DeviceQueue::Left> left;
    const auto turn = queue.wait(DeviceKind::host, 0, call, &left);
    REQUIRE(turn);
    queue.give_back(*turn, std::move(left));
  }
  std::this_thread::sleep_for(std::chrono::seconds(4));
  CHECK_FALSE(gone);

  REQUIRE(queue.wait(DeviceKind::host, 0, call));
  CHECK(gone);
}

}  // namespace
}  // namespace ratchet

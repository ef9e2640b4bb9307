#include "kernels/process/worker_process.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "kernels/process/candidate_process.h"
#include "kernels/process/descendants.h"
#include "tests/support/places.h"

using namespace ratchet;

namespace {

/// The output of a shell script that fails to become a worker.
std::string last_words(const std::string& script) {
  const auto worker = WorkerProcess::start({.argv = {"/bin/sh", "-c", script + "; exit 3"}}, {});
  REQUIRE_FALSE(worker);
  CHECK(worker.error().code == ErrorCode::unavailable);
  return worker.error().message;
}

WorkerPlace real_place() {
  return {test::build_dir() / "bin", DeviceKind::host, 0, std::chrono::milliseconds(5000)};
}

}  // namespace

TEST_CASE("a worker that never gets ready is our error, with its last output", "[worker]") {
  const auto message = last_words("echo cannot find libfoo");

  CHECK(message.find("cannot find libfoo") != std::string::npos);
  CHECK(message.find("exit code 3") != std::string::npos);
}

TEST_CASE("a silent worker is abandoned at the start deadline", "[worker]") {
  const auto worker = WorkerProcess::start(
      {.argv = {"/bin/sleep", "30"}, .start_deadline = std::chrono::milliseconds(200)}, {});

  REQUIRE_FALSE(worker);
  CHECK(worker.error().message.find("deadline") != std::string::npos);
}

TEST_CASE("a worker inherits only paths from the server's environment", "[worker]") {
  ::setenv("RATCHET_TEST_SECRET", "hunter2", 1);

  const auto message = last_words("env");

  ::unsetenv("RATCHET_TEST_SECRET");
  CHECK(message.find("PATH=") != std::string::npos);
  CHECK(message.find("hunter2") == std::string::npos);
}

TEST_CASE("a worker sees only its own GPU", "[worker]") {
  CHECK(only_gpu(nullptr, 0) == "CUDA_VISIBLE_DEVICES=0");
  CHECK(only_gpu(nullptr, 3) == "CUDA_VISIBLE_DEVICES=3");
  CHECK(only_gpu("2,GPU-8f1d,5", 0) == "CUDA_VISIBLE_DEVICES=2");
  CHECK(only_gpu("2,GPU-8f1d,5", 1) == "CUDA_VISIBLE_DEVICES=GPU-8f1d");
  CHECK(only_gpu("2,GPU-8f1d,5", 2) == "CUDA_VISIBLE_DEVICES=5");
  CHECK(only_gpu("2,GPU-8f1d,5", 3) == "CUDA_VISIBLE_DEVICES=");
  CHECK(only_gpu("", 0) == "CUDA_VISIBLE_DEVICES=");

  ::setenv("CUDA_VISIBLE_DEVICES", "6,7", 1);
  const auto spec = worker_spec({"bin", DeviceKind::cuda, 1, {}}, "candidate", 0);
  const auto worker = WorkerProcess::start(
      {.argv = {"/bin/sh", "-c", "env; exit 3"}, .environment = spec.environment}, {});
  ::unsetenv("CUDA_VISIBLE_DEVICES");

  CHECK(spec.argv.back() == "0");
  REQUIRE_FALSE(worker);
  CHECK(worker.error().message.find("CUDA_VISIBLE_DEVICES=7\n") != std::string::npos);
  CHECK(worker.error().message.find("CUDA_VISIBLE_DEVICES=6") == std::string::npos);
}

TEST_CASE("a worker is told which GPU's node is its own, where the server knows", "[worker]") {
  const WorkerPlace place{"bin", DeviceKind::cuda, 1, {}, OneGpu{"GPU-8f1d", "/dev/nvidia4"}};

  CHECK(worker_spec(place, "candidate", 0).environment ==
        std::vector<std::string>{"CUDA_VISIBLE_DEVICES=GPU-8f1d", "RATCHET_GPU_NODE=/dev/nvidia4"});
}

TEST_CASE("a worker starts in an empty folder that is removed afterward", "[worker]") {
  const auto message = last_words("ls | wc -l; pwd");

  CHECK(message.find("printed: 0\n") != std::string::npos);
  const auto folder = message.substr(message.rfind("/tmp"));
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("children that left the worker's process group are killed with it", "[worker]") {
  guard_server_process();

  (void)last_words("setsid sleep 60 & echo started");

  // Its parent ended first, so this process has adopted it; nobody may be left.
  CHECK(descendants_of(::getpid()).empty());
}

TEST_CASE("a worker that fills its folder is stopped, by bytes and by names", "[worker][slow]") {
  const auto bytes =
      last_words("for i in 1 2 3 4 5 6 7 8 9; do truncate -s 250M $i; done; sleep 20");
  const auto names = last_words("seq 1 25000 | xargs touch; sleep 20");

  CHECK(bytes.find("bytes to its folder") != std::string::npos);
  CHECK(names.find("more than 20000 files") != std::string::npos);
}

TEST_CASE("a worker may keep a compiler's cache in its folder", "[worker][slow]") {
  const auto message =
      last_words("seq 1 5000 | xargs touch; truncate -s 200M a b c; sleep 1; ls | wc -l");

  CHECK(message.find("5003") != std::string::npos);
}

TEST_CASE("a real worker reports its device and its isolation", "[worker]") {
  const auto worker = WorkerProcess::start(worker_spec(real_place(), "candidate", 0), {});

  REQUIRE(worker);
  const auto ready = decode_stored<wire::Reply>(worker->ready());
  REQUIRE(ready);
  REQUIRE(ready->device);
  CHECK(ready->device->kind == DeviceKind::host);
  CHECK(ready->device->l2_bytes > 0);
  CHECK(ready->sandbox.value_or("").find("seccomp") == 0);
  CHECK(worker->walls().find(ControlGroup::description()) != std::string::npos);
}

TEST_CASE("a candidate's worker refuses a judge's requests", "[worker]") {
  auto worker = WorkerProcess::start(worker_spec(real_place(), "candidate", 0), {});
  REQUIRE(worker);
  wire::Request request;
  request.ceilings = wire::MeasureCeilings{};

  const auto reply = worker->run(request, {}, std::chrono::milliseconds(5000), {});

  REQUIRE_FALSE(reply);
  CHECK(reply.error().message.find("role") != std::string::npos);
}

TEST_CASE("a canceled call ends the worker", "[worker]") {
  std::stop_source stop;
  stop.request_stop();
  const CallContext call({}, stop.get_token());

  const auto worker = WorkerProcess::start({.argv = {"/bin/sleep", "30"}}, call);

  REQUIRE_FALSE(worker);
  CHECK(worker.error().code == ErrorCode::timed_out);
  CHECK(descendants_of(::getpid()).empty());
}

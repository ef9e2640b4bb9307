#include "kernels/worker/embedded/embedded.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/confine/walls.h"
#include "kernels/worker/device.h"
#include "kernels/worker/job_loop.h"
#include "kernels/worker/kernel.h"
#include "server/core/channel.h"

namespace ratchet::worker {
namespace {

constexpr int kControlDescriptor = 3;

/// The JSON plan of the `bind` callback.
struct Binding {
  wire::ArenaLayout layout;
  std::vector<wire::Argument> arguments;
  std::optional<wire::MadeInputs> inputs;
  bool wide = false;

  static constexpr void fields(auto&& visit) {
    visit(required<&Binding::layout>(), required<&Binding::arguments>(),
          optional<&Binding::inputs>(), optional<&Binding::wide>());
  }
};

Fault fault_of(const char* text) {
  auto fault = decode_stored<Fault>(Json::parse(text, nullptr, false));
  return fault ? *std::move(fault) : Fault{"exception", text};
}

Error refused(const char* text) {
  return invalid_argument(fault_of(text).message);
}

/// A kernel in the language of the embedding process.
class EmbeddedKernel : public Kernel {
 public:
  explicit EmbeddedKernel(const ratchet_embedded_calls& calls) : calls_(calls) {}

  Status load(Fd file, const wire::Load& plan) override {
    const char* failed = calls_.load(file.get(), encode(plan).dump().c_str());
    return failed ? Status(refused(failed)) : Status{};
  }

  Result<BoundCall> bind(const wire::ArenaLayout& layout,
                         const std::vector<wire::Argument>& arguments, std::byte* base,
                         void*) override {
    return bound({layout, arguments, std::nullopt, false}, base);
  }

  Result<BoundCall> bind_inputs(const wire::ArenaLayout& layout,
                                const std::vector<wire::Argument>& arguments,
                                const wire::MadeInputs& inputs, std::byte* base) override {
    return bound({layout, arguments, inputs, false}, base);
  }

  Result<BoundCall> bind_wide(const wire::ArenaLayout& layout,
                              const std::vector<wire::Argument>& arguments,
                              std::byte* base) override {
    return bound({layout, arguments, std::nullopt, true}, base);
  }

  std::optional<Fault> failure() override {
    const char* text = calls_.failure();
    return text ? std::optional<Fault>(fault_of(text)) : std::nullopt;
  }

 private:
  Result<BoundCall> bound(const Binding& binding, std::byte* base) {
    const int number = next_slot_++;
    const std::string plan = encode(binding).dump();
    if (const char* failed =
            calls_.bind(number, plan.c_str(), reinterpret_cast<std::uintptr_t>(base)))
      return refused(failed);
    const auto release = [calls = calls_](const int* slot) {
      calls.release(*slot);
      delete slot;
    };
    const std::shared_ptr<const int> slot(new int(number), release);
    BoundCall bound{[calls = calls_, slot] { calls.call(*slot); }, {}};
    if (calls_.settle) bound.settle = [calls = calls_, slot] { calls.settle(*slot); };
    return bound;
  }

  ratchet_embedded_calls calls_;
  int next_slot_ = 0;
};

}  // namespace
}  // namespace ratchet::worker

extern "C" __attribute__((visibility("default"))) int ratchet_embedded_run(
    const char* role, int device, const char* const* readable, int count,
    const ratchet_embedded_calls* calls) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace): a C function outside of it
  const auto part = confine::parse_role(role);
  if (!part) return 2;
  const std::vector<std::string> folders(readable, readable + count);
  Channel channel(Fd(worker::kControlDescriptor), Descriptors::accepted);
  worker::EmbeddedKernel kernel(*calls);
  const auto opened = worker::make_device();
  return worker::JobLoop(*part, *opened, kernel, channel).run(device, folders, [&] {
    calls->opened(device);
  });
}

namespace {

/// Of a process without a job loop.
struct OwnWalls {
  std::optional<ratchet::confine::Walls> walls;
  std::string text;  ///< returned last
};

OwnWalls& own_walls() {
  static OwnWalls one;
  return one;
}

const char* told(std::string text) {
  own_walls().text = std::move(text);
  return own_walls().text.c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* ratchet_embedded_enter(
    const char* role, int cuda, const char* const* readable, int count) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace): a C function outside of it
  const auto part = confine::parse_role(role);
  if (!part) return told("unknown role");
  std::error_code failed;
  auto& walls = own_walls().walls;
  walls.emplace(*part, cuda ? DeviceKind::cuda : DeviceKind::host,
                std::vector<std::string>(readable, readable + count),
                std::filesystem::current_path(failed).string());
  walls->enter();
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) const char* ratchet_embedded_seal() {
  auto& walls = own_walls().walls;
  if (!walls) return told("ratchet_embedded_enter comes first");
  walls->seal();
  auto lacking = walls->lacking();
  return lacking.empty() ? nullptr : told(std::move(lacking));
}

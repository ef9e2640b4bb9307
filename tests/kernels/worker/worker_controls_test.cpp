#include "kernels/worker/controls.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kControlElements = 4;

/// x = 1, 2, 3, 4 and y = x / 3; `other` holds 9 in all elements of y.
struct Forgery {
  wire::Forge plan;
  std::vector<std::byte> sent, expected, other, answer;

  explicit Forgery(wire::Control control, DType type = DType::f32) {
    plan.layout.buffers = {{"x", type, Role::in, "normal", 0, kControlElements},
                           {"y", type, Role::out, "normal", 64, kControlElements}};
    plan.layout.bytes = 128;
    plan.control = control;
    sent.assign(128, std::byte{1});
    for (std::int64_t i = 0; i < kControlElements; ++i)
      set_element(sent.data(), type, i, static_cast<double>(i + 1));
    expected = other = answer = sent;
    for (std::int64_t i = 0; i < kControlElements; ++i) {
      set_element(expected.data() + 64, type, i, static_cast<double>(i + 1) / 3);
      set_element(other.data() + 64, type, i, 9);
    }
  }

  bool run() { return forge(plan, {sent, expected, other}, answer); }
  [[nodiscard]] double value(std::int64_t i) const {
    return element(answer.data() + 64, plan.layout.buffers[1].dtype, i);
  }
};

}  // namespace

TEST_CASE("the zero, constant and identity controls produce what their names say", "[worker]") {
  Forgery zero(wire::Control::zero), constant(wire::Control::constant),
      identity(wire::Control::identity);

  REQUIRE(zero.run());
  REQUIRE(constant.run());
  REQUIRE(identity.run());

  CHECK(zero.value(2) == 0);
  CHECK(constant.value(3) == 9);
  CHECK(identity.value(1) == 2);
}

TEST_CASE("the lower precision of float32 is that of half precision", "[worker]") {
  Forgery forgery(wire::Control::lower_precision);

  REQUIRE(forgery.run());

  // 1/3 = 0x1.555555…p-2; eleven bits of it, rounded: 0x1.554p-2. 4/3 is the same, four times.
  CHECK(forgery.value(0) == 0x1.554p-2);
  CHECK(forgery.value(3) == 0x1.554p0);
  CHECK(forgery.value(2) == 1);
}

TEST_CASE("integers have no lower precision, and an input of another size is no identity",
          "[worker]") {
  Forgery integers(wire::Control::lower_precision, DType::i32);
  Forgery shorter(wire::Control::identity);
  shorter.plan.layout.buffers[0].elements = 3;

  CHECK_FALSE(integers.run());
  CHECK_FALSE(shorter.run());
}

TEST_CASE("the sign control changes every sign, the stale one is another trial's answer",
          "[worker]") {
  Forgery sign(wire::Control::sign), stale(wire::Control::stale);

  REQUIRE(sign.run());
  REQUIRE(stale.run());

  CHECK(sign.value(2) == -1);
  CHECK(stale.value(0) == 9);
}

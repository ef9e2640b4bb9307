#include "kernels/measure/cupti/activity.h"

#include <catch2/catch_test_macros.hpp>

using ratchet::measure::readable_kernel_name;

TEST_CASE("a kernel's name loses its parameters and keeps its template arguments", "[cuda]") {
  CHECK(readable_kernel_name("_Z7softmaxPKfPfi") == "softmax");
  // void scale<4>(float*), and void ns::pick<void (*)(int)>(int): parentheses inside the name stay.
  CHECK(readable_kernel_name("_Z5scaleILi4EEvPf") == "scale<4>");
  CHECK(readable_kernel_name("_ZN2ns4pickIPFviEEEvi") == "ns::pick<void (*)(int)>");
}

TEST_CASE("a name that is not mangled is unchanged", "[cuda]") {
  CHECK(readable_kernel_name("triton_softmax_kernel") == "triton_softmax_kernel");
}

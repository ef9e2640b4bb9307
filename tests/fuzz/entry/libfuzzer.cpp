// The entry that libFuzzer calls, for the one fuzzer that this program is (RATCHET_FUZZER).

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzzers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ratchet::fuzz::RATCHET_FUZZER({reinterpret_cast<const char*>(data), size});
  return 0;
}

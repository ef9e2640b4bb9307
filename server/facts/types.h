#pragma once

// The vocabulary of a contract: implementations, devices, element types, directions.

#include <array>
#include <cstdint>
#include <utility>

#include "server/core/field.h"

namespace ratchet {

enum class Implementation { host_cpp, cuda_cpp, cutlass, cute_dsl, triton, host_python, hip_cpp };
constexpr auto enum_names(Implementation) {
  using enum Implementation;
  return std::array{std::pair{host_cpp, "host-cpp"}, std::pair{cuda_cpp, "cuda-cpp"},
                    std::pair{cutlass, "cutlass"},   std::pair{cute_dsl, "cute-dsl"},
                    std::pair{triton, "triton"},     std::pair{host_python, "host-python"},
                    std::pair{hip_cpp, "hip-cpp"}};
}

/// Whether kernels are `.py` files with `run_kernel(**kwargs)`.
[[nodiscard]] constexpr bool is_python(Implementation implementation) {
  using enum Implementation;
  return implementation == cute_dsl || implementation == triton || implementation == host_python;
}

/// Whether kernels run on the processor.
[[nodiscard]] constexpr bool is_host(Implementation implementation) {
  using enum Implementation;
  return implementation == host_cpp || implementation == host_python;
}

/// Whether kernels are only built: nothing here runs on AMD GPUs.
[[nodiscard]] constexpr bool is_only_built(Implementation implementation) {
  return implementation == Implementation::hip_cpp;
}

/// What a compiled source is written in.
enum class Language { cpp, cuda, hip };

/// Of the code that is compiled for an implementation; for those in Python, of what runs beside it.
[[nodiscard]] constexpr Language language_of(Implementation implementation) {
  if (is_only_built(implementation)) return Language::hip;
  return is_host(implementation) ? Language::cpp : Language::cuda;
}

/// Where a kernel runs: `host` kernels get host pointers, `cuda` kernels device pointers.
enum class DeviceKind { host, cuda };
constexpr auto enum_names(DeviceKind) {
  return as_written<DeviceKind::host, DeviceKind::cuda>();
}

enum class DType {
  f16,
  bf16,
  f32,
  f64,
  f8_e4m3,
  f8_e5m2,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean
};
constexpr auto enum_names(DType) {
  using enum DType;
  return std::array{std::pair{f16, "float16"},
                    std::pair{bf16, "bfloat16"},
                    std::pair{f32, "float32"},
                    std::pair{f64, "float64"},
                    std::pair{f8_e4m3, "float8_e4m3"},
                    std::pair{f8_e5m2, "float8_e5m2"},
                    std::pair{i8, "int8"},
                    std::pair{i16, "int16"},
                    std::pair{i32, "int32"},
                    std::pair{i64, "int64"},
                    std::pair{u8, "uint8"},
                    std::pair{u16, "uint16"},
                    std::pair{u32, "uint32"},
                    std::pair{u64, "uint64"},
                    std::pair{boolean, "bool"}};
}

/// Bytes of one element.
[[nodiscard]] constexpr std::int64_t size_of(DType type) {
  switch (type) {
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    default:
      return 1;
  }
}

[[nodiscard]] constexpr bool is_floating(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64 ||
         type == DType::f8_e4m3 || type == DType::f8_e5m2;
}

enum class Role { in, out, inout };
constexpr auto enum_names(Role) {
  using enum Role;
  return as_written<in, out, inout>();
}

}  // namespace ratchet

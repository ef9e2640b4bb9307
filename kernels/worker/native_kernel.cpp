#include "kernels/worker/native_kernel.h"

#include <dlfcn.h>
#include <ffi.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>

namespace ratchet::worker {
namespace {

/// Storage that libffi reads during a call; must outlive all copies of the Invocation.
struct PreparedCall {
  void (*entry)() = nullptr;
  ffi_cif cif{};
  std::vector<ffi_type*> types;
  std::vector<std::array<std::byte, 8>> values;  // no argument is wider than eight bytes
  std::vector<void*> pointers;
};

ffi_type* ffi_type_of(const wire::Argument& argument) {
  if (argument.kind == ParameterKind::tensor || argument.kind == ParameterKind::stream)
    return &ffi_type_pointer;
  switch (argument.dtype) {
    case DType::f64:
      return &ffi_type_double;
    case DType::f32:
      return &ffi_type_float;
    case DType::i8:
      return &ffi_type_sint8;
    case DType::i16:
      return &ffi_type_sint16;
    case DType::i32:
      return &ffi_type_sint32;
    case DType::u8:
    case DType::boolean:
      return &ffi_type_uint8;
    case DType::u16:
      return &ffi_type_uint16;
    case DType::u32:
      return &ffi_type_uint32;
    case DType::u64:
      return &ffi_type_uint64;
    default:
      return &ffi_type_sint64;
  }
}

template <class T>
void store(std::array<std::byte, 8>& slot, T value) {
  std::memcpy(slot.data(), static_cast<const void*>(&value), sizeof value);
}

void store_value(std::array<std::byte, 8>& slot, const wire::Argument& argument) {
  switch (argument.dtype) {
    case DType::f64:
      return store(slot, argument.real);
    case DType::f32:
      return store(slot, static_cast<float>(argument.real));
    default:
      // Little endian: the low bytes of the wide integer are the narrow integer.
      return store(slot, argument.integer);
  }
}

}  // namespace

Status NativeKernel::load(Fd file, const wire::Load& plan) {
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return invalid_argument(fmt::format("{}: {}", plan.library, ::dlerror()));
  entry_ = ::dlsym(handle, plan.entry.c_str());
  if (!entry_)
    return invalid_argument(
        fmt::format("{} has no function `{}` declared extern \"C\"", plan.library, plan.entry));
  return {};
}

Result<BoundCall> NativeKernel::bind(const wire::ArenaLayout&,
                                     const std::vector<wire::Argument>& arguments, std::byte* base,
                                     void* stream) {
  auto call = std::make_shared<PreparedCall>();
  static_assert(sizeof call->entry == sizeof entry_);
  std::memcpy(static_cast<void*>(&call->entry), static_cast<const void*>(&entry_), sizeof entry_);
  for (const auto& argument : arguments) {
    auto& slot = call->values.emplace_back();
    call->types.push_back(ffi_type_of(argument));
    if (argument.kind == ParameterKind::tensor)
      store(slot, base + argument.offset);
    else if (argument.kind == ParameterKind::stream)
      store(slot, stream);
    else
      store_value(slot, argument);
  }
  for (auto& value : call->values) call->pointers.push_back(value.data());
  ::ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, static_cast<unsigned>(call->types.size()),
                 &ffi_type_void, call->types.data());
  return BoundCall{[call] { ::ffi_call(&call->cif, call->entry, nullptr, call->pointers.data()); },
                   {}};
}

}  // namespace ratchet::worker

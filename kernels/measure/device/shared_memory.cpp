#include "kernels/measure/device/shared_memory.h"

#include <cstdint>
#include <string>

namespace ratchet::measure {
namespace {

Error cannot(const char* what, CUresult result) {
  return {ErrorCode::unavailable, std::string("cannot ") + what +
                                      " shared device memory: driver error " +
                                      std::to_string(static_cast<int>(result))};
}

CUmemAllocationProp properties_of(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

Result<std::size_t> rounded(const Sharing& driver, int device, std::size_t bytes) {
  const auto properties = properties_of(device);
  std::size_t step = 0;
  if (const auto result =
          driver.granularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
      result != CUDA_SUCCESS || step == 0)
    return cannot("determine the granularity of", result);
  return (bytes + step - 1) / step * step;
}

}  // namespace

Result<SharedMemory> SharedMemory::create(const Gpu& gpu, std::size_t bytes) {
  auto driver = Sharing::load();
  if (!driver) return driver.error();
  const int device = gpu.facts().index;
  auto size = rounded(*driver, device, bytes);
  if (!size) return size.error();
  const auto properties = properties_of(device);
  CUmemGenericAllocationHandle handle = 0;
  if (const auto result = driver->create(&handle, *size, &properties, 0); result != CUDA_SUCCESS)
    return cannot("allocate", result);
  SharedMemory memory(*driver, handle, *size);
  if (auto mapped = memory.map(device); !mapped) return mapped.error();
  return memory;
}

Result<SharedMemory> SharedMemory::adopt(const Gpu& gpu, int descriptor, std::size_t bytes) {
  auto driver = Sharing::load();
  if (!driver) return driver.error();
  const int device = gpu.facts().index;
  auto size = rounded(*driver, device, bytes);
  if (!size) return size.error();
  CUmemGenericAllocationHandle handle = 0;
  // The driver's interface takes a descriptor as a pointer.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const given = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor));
  if (const auto result =
          driver->import_handle(&handle, given, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
      result != CUDA_SUCCESS)
    return cannot("import", result);
  SharedMemory memory(*driver, handle, *size);
  if (auto mapped = memory.map(device); !mapped) return mapped.error();
  return memory;
}

Status SharedMemory::map(int device) {
  CUdeviceptr address = 0;
  if (const auto result = driver_.reserve(&address, reserved_, 0, 0, 0); result != CUDA_SUCCESS)
    return cannot("reserve addresses for", result);
  if (const auto result = driver_.map(address, reserved_, 0, handle_, 0); result != CUDA_SUCCESS) {
    driver_.free_address(address, reserved_);
    return cannot("map", result);
  }
  address_ = address;
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (const auto result = driver_.set_access(address_, reserved_, &access, 1);
      result != CUDA_SUCCESS)
    return cannot("set the access rights of", result);
  return {};
}

SharedMemory::~SharedMemory() {
  if (address_) {
    driver_.unmap(address_, reserved_);
    driver_.free_address(address_, reserved_);
  }
  if (handle_) driver_.release(handle_);
}

Result<Fd> SharedMemory::descriptor() const {
  int descriptor = -1;
  if (const auto result =
          driver_.export_handle(&descriptor, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
      result != CUDA_SUCCESS)
    return cannot("export", result);
  return Fd(descriptor);
}

std::byte* SharedMemory::data() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are numbers
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address_));
}

}  // namespace ratchet::measure

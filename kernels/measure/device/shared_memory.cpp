#include "kernels/measure/device/shared_memory.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
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

/// The least that can be allocated.
Result<std::size_t> step_of(const Sharing& driver, int device) {
  const auto properties = properties_of(device);
  std::size_t step = 0;
  if (const auto result =
          driver.granularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
      result != CUDA_SUCCESS || step == 0)
    return cannot("determine the granularity of", result);
  return step;
}

/// What is allocated for pieces of these sizes.
Result<std::vector<std::size_t>> rounded(const Sharing& driver, int device,
                                         std::span<const std::int64_t> pieces) {
  const auto step = step_of(driver, device);
  if (!step) return step.error();
  std::vector<std::size_t> sizes;
  for (const auto piece : pieces)
    sizes.push_back((static_cast<std::size_t>(piece) + *step - 1) / *step * *step);
  return sizes;
}

}  // namespace

Result<SharedMemory> SharedMemory::create(const Gpu& gpu, std::size_t bytes) {
  const auto piece = static_cast<std::int64_t>(bytes);
  auto made = deal(gpu, {&piece, 1}, 1);
  if (!made) return made.error();
  return std::move(made->front());
}

Result<std::vector<SharedMemory>> SharedMemory::deal(const Gpu& gpu,
                                                     std::span<const std::int64_t> pieces,
                                                     std::size_t count) {
  auto driver = Sharing::load();
  if (!driver) return driver.error();
  const int device = gpu.facts().index;
  const auto sizes = rounded(*driver, device, pieces);
  if (!sizes) return sizes.error();
  std::vector<SharedMemory> memories;
  std::vector<SharedMemory*> turn;
  memories.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    memories.push_back(SharedMemory(*driver, *sizes));
    turn.push_back(&memories.back());
  }
  std::random_device random;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::ranges::shuffle(turn, random);
    for (auto* const memory : turn)
      if (auto added = memory->add_piece(device); !added) return added.error();
  }
  for (auto& memory : memories)
    if (auto mapped = memory.map(device); !mapped) return mapped.error();
  return memories;
}

Result<SharedMemory> SharedMemory::adopt(const Gpu& gpu, std::span<const Fd> descriptors,
                                         std::span<const std::int64_t> pieces) {
  if (descriptors.size() != pieces.size())
    return Error{ErrorCode::internal, "the judge's memory has another number of pieces"};
  auto driver = Sharing::load();
  if (!driver) return driver.error();
  const int device = gpu.facts().index;
  auto sizes = rounded(*driver, device, pieces);
  if (!sizes) return sizes.error();
  SharedMemory memory(*driver, *std::move(sizes));
  for (const auto& descriptor : descriptors) {
    Handle handle = 0;
    // The driver's interface takes a descriptor as a pointer.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* const given = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor.get()));
    if (const auto result =
            driver->import_handle(&handle, given, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        result != CUDA_SUCCESS)
      return cannot("import", result);
    memory.handles_.push_back(handle);
  }
  if (auto mapped = memory.map(device); !mapped) return mapped.error();
  return memory;
}

Status SharedMemory::add_piece(int device) {
  const auto properties = properties_of(device);
  Handle handle = 0;
  if (const auto result = driver_.create(&handle, pieces_.at(handles_.size()), &properties, 0);
      result != CUDA_SUCCESS)
    return cannot("allocate", result);
  handles_.push_back(handle);
  return {};
}

std::size_t SharedMemory::bytes() const {
  return std::accumulate(pieces_.begin(), pieces_.end(), std::size_t{0});
}

Status SharedMemory::map(int device) {
  if (const auto result = driver_.reserve(&address_, bytes(), 0, 0, 0); result != CUDA_SUCCESS) {
    address_ = 0;
    return cannot("reserve addresses for", result);
  }
  auto at = address_;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    if (const auto result = driver_.map(at, pieces_[i], 0, handles_[i], 0); result != CUDA_SUCCESS)
      return cannot("map", result);
    at += pieces_[i];
  }
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (const auto result = driver_.set_access(address_, bytes(), &access, 1); result != CUDA_SUCCESS)
    return cannot("set the access rights of", result);
  return {};
}

SharedMemory::~SharedMemory() {
  if (address_) {
    auto at = address_;
    for (const auto piece : pieces_) {
      driver_.unmap(at, piece);  // fails for what was not mapped
      at += piece;
    }
    driver_.free_address(address_, bytes());
  }
  for (const auto handle : handles_) driver_.release(handle);
}

Result<std::vector<Fd>> SharedMemory::descriptors() const {
  std::vector<Fd> descriptors;
  for (const auto handle : handles_) {
    int descriptor = -1;
    if (const auto result =
            driver_.export_handle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
        result != CUDA_SUCCESS)
      return cannot("export", result);
    descriptors.emplace_back(descriptor);
  }
  return descriptors;
}

std::byte* SharedMemory::data() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are numbers
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address_));
}

}  // namespace ratchet::measure

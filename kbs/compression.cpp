#include "kbs/compression.h"

#include <zstd.h>

#include <memory>

namespace ratchet::kbs {
namespace {

constexpr int kLevel = 6;  // within a few percent of the size of 9 at half the time
constexpr unsigned long long kLargest = 256ULL << 20U;

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string compress(std::string_view bytes) {
  // A context costs more than a small page: one per thread.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeCompressor> context(ZSTD_createCCtx());
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const auto size =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  out.resize(ZSTD_isError(size) != 0U ? 0 : size);
  return out;
}

Result<std::string> decompress(std::string_view frame) {
  if (frame.empty()) return std::string{};
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargest)
    return Error{ErrorCode::internal, "knowledge index: damaged text", "Run `ratchet kbs doctor`."};
  std::string out(size, '\0');
  const auto got =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0U || got != size)
    return Error{ErrorCode::internal, "knowledge index: damaged text", "Run `ratchet kbs doctor`."};
  return out;
}

}  // namespace ratchet::kbs

#include "server/sqlite/compression.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

namespace ratchet {
namespace {

constexpr int kLevel = 1;  // level 3 takes 50 % longer and saves 5 % of the size
constexpr unsigned long long kLargest = 256ULL << 20U;
constexpr std::size_t kMostRoom = std::size_t{4}
                                  << 20U;  // bytes of buffer that a thread keeps for its next text

Error damaged() {
  return {ErrorCode::internal, "a compressed text is damaged", "Run `ratchet kbs doctor`."};
}

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string compress(std::string_view bytes) {
  // Creating a context costs more than compressing a small page, so each thread keeps one.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeCompressor> context(ZSTD_createCCtx());
  thread_local std::string room;
  room.resize(std::max(room.size(), ZSTD_compressBound(bytes.size())));
  const auto size = ZSTD_compressCCtx(context.get(), room.data(), room.size(), bytes.data(),
                                      bytes.size(), kLevel);
  auto frame = room.substr(0, ZSTD_isError(size) != 0U ? 0 : size);
  if (room.size() > kMostRoom) std::string().swap(room);
  return frame;
}

Result<std::string> decompress(std::string_view frame) {
  if (frame.empty()) return std::string{};
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargest)
    return damaged();
  std::string out(size, '\0');
  const auto got =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0U || got != size) return damaged();
  return out;
}

Result<std::string> decompress_file(std::string_view bytes, std::size_t limit) {
  const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  std::string out;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 0;
  while (in.pos < in.size) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(left) != 0U) return invalid_argument("damaged zstd data");
    out.append(piece, 0, to.pos);
    if (out.size() > limit) return Error{ErrorCode::too_large, "unpacks to more than is read"};
  }
  if (left != 0) return invalid_argument("zstd data is truncated");
  return out;
}

}  // namespace ratchet

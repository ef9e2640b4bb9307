#include "kbs/index/posting_list.h"

namespace ratchet::kbs {
namespace {

constexpr unsigned kLow = 0x7F;
constexpr unsigned kMore = 0x80;
constexpr int kLongest = 9;  // bytes of a number; more are no list of ours

void put_number(std::string& bytes, std::uint64_t value) {
  for (; value > kLow; value >>= 7U) bytes += static_cast<char>((value & kLow) | kMore);
  bytes += static_cast<char>(value);
}

}  // namespace

void PostingListWriter::add(std::int64_t row, const FieldCounts& counts) {
  std::uint64_t fields = 0;
  for (std::size_t f = 0; f < kFtsFields; ++f)
    if (counts[f] != 0) fields |= std::uint64_t{1} << f;
  put_number(bytes_, static_cast<std::uint64_t>(row - last_) << kFtsFields | fields);
  for (const auto count : counts)
    if (count != 0) put_number(bytes_, count);
  last_ = row;
}

std::uint64_t PostingListReader::long_number() {
  std::uint64_t value = 0;
  for (int i = 0; i < kLongest && at_ < bytes_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & kLow) << (7U * static_cast<unsigned>(i));
    if ((byte & kMore) == 0) break;
  }
  return value;
}

}  // namespace ratchet::kbs

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "kbs/documents/document.h"

namespace ratchet::kbs {

// The pages that hold one frequent term, as bytes: for each, in the order of rows, the distance
// from the row before with a bit for each field that holds the term, then how often, as varints.

class PostingListWriter {
 public:
  /// Rows ascend.
  void add(std::int64_t row, const FieldCounts& counts);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::int64_t last_ = 0;
};

class PostingListReader {
 public:
  /// Borrows the bytes.
  explicit PostingListReader(std::string_view bytes) : bytes_(bytes) {}

  /// False at the end. Bytes that are no list give other rows, in ascending order.
  bool next() {
    if (at_ >= bytes_.size()) return false;
    const auto head = number();
    row_ += head >> kFtsFields;
    counts_ = {};
    for (auto fields = head & ((1U << kFtsFields) - 1); fields != 0; fields &= fields - 1)
      counts_[static_cast<std::size_t>(std::countr_zero(fields))] =
          static_cast<std::uint16_t>(number());
    return true;
  }
  [[nodiscard]] std::int64_t row() const { return static_cast<std::int64_t>(row_); }
  [[nodiscard]] const FieldCounts& counts() const { return counts_; }

 private:
  std::uint64_t number() {
    if (at_ < bytes_.size() && static_cast<signed char>(bytes_[at_]) >= 0)
      return static_cast<unsigned char>(bytes_[at_++]);
    return long_number();
  }
  std::uint64_t long_number();

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t row_ = 0;
  FieldCounts counts_{};
};

}  // namespace ratchet::kbs

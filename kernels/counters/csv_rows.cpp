#include "kernels/counters/csv_rows.h"

#include <fmt/format.h>

#include <utility>

namespace ratchet {
namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  Result<std::vector<CsvRow>> read() && {
    while (at_ < text_.size()) {
      row_ = {line_, {}};
      if (auto ended = read_row(); !ended) return ended.error();
      if (row_.cells.size() > 1 || !row_.cells.front().empty()) rows_.push_back(std::move(row_));
    }
    return std::move(rows_);
  }

 private:
  /// Up to and including the line break.
  Status read_row() {
    for (;;) {
      auto cell = at_ < text_.size() && text_[at_] == '"' ? quoted() : plain();
      if (!cell) return cell.error();
      row_.cells.push_back(*std::move(cell));
      if (at_ >= text_.size()) return {};
      const char end = text_[at_++];
      if (end == ',') continue;
      ++line_;
      return {};
    }
  }

  Result<std::string> plain() {
    const auto end = std::min(text_.find_first_of(",\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    if (cell.ends_with('\r')) cell.pop_back();
    return cell;
  }

  Result<std::string> quoted() {
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != '"') {
        cell += c;
      } else if (text_.substr(at_).starts_with("\"\"")) {
        cell += c;
        ++at_;
      } else {
        ++at_;
        // Text after a closing quote belongs to no cell.
        at_ = std::min(text_.find_first_of(",\n", at_), text_.size());
        return cell;
      }
    }
    return invalid_argument(
        fmt::format("the quote in line {} is never closed: the file is truncated", row_.line),
        "Export the report again.");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  CsvRow row_;
  std::vector<CsvRow> rows_;
};

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text) {
  return CsvReader(text).read();
}

}  // namespace ratchet

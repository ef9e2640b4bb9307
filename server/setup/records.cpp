#include "server/setup/records.h"

#include <algorithm>

#include "server/core/beneath.h"
#include "server/core/files.h"

namespace ratchet::setup {

Result<Records> Records::open(const std::filesystem::path& state_dir) {
  Records records;
  records.path_ = state_dir / "setup.json";
  auto text = read_file(records.path_);
  if (!text && text.error().code == ErrorCode::not_found) return records;
  if (!text) return text.error();
  auto read = decode<std::vector<Record>>(Json::parse(*text, nullptr, false),
                                          Place{records.path_.string()});
  if (!read) return read.error();
  records.records_ = *std::move(read);
  return records;
}

std::optional<Record> Records::find(const std::filesystem::path& file,
                                    const std::string& name) const {
  const auto found = std::ranges::find_if(
      records_, [&](const Record& one) { return one.file == file && one.name == name; });
  return found == records_.end() ? std::nullopt : std::optional(*found);
}

Status Records::keep(const Record& record) {
  std::erase_if(records_, [&](const Record& one) {
    return one.file == record.file && one.name == record.name;
  });
  records_.push_back(record);
  return save();
}

Status Records::forget(const Record& record) {
  std::erase_if(records_, [&](const Record& one) {
    return one.file == record.file && one.name == record.name;
  });
  return save();
}

Status Records::save() const {
  if (auto own = make_private_folder(path_.parent_path()); !own) return own;
  return write_file(path_, encode(records_).dump(2) + "\n");
}

}  // namespace ratchet::setup

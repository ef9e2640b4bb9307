#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet::setup {

/// What setup put into one file, so that undoing it restores every byte.
struct Record {
  std::string file;
  std::string name;  ///< of the entry
  Json entry;
  std::string text;             ///< as it was put in, with the blanks and comma around
  bool made_file = false;       ///< there was none before
  bool made_container = false;  ///< nor an object of servers
  std::vector<std::string> made_folders;

  static constexpr void fields(auto&& visit) {
    using R = Record;
    visit(required<&R::file>(), required<&R::name>(), required<&R::entry>(), required<&R::text>(),
          required<&R::made_file>(), required<&R::made_container>(), required<&R::made_folders>());
  }
};

/// The records in `setup.json` of the state folder.
class Records {
 public:
  /// Errors: `invalid_argument` for a file that is not ours.
  static Result<Records> open(const std::filesystem::path& state_dir);

  [[nodiscard]] std::optional<Record> find(const std::filesystem::path& file,
                                           const std::string& name) const;
  /// Both write the file. Errors: `unavailable`.
  Status keep(const Record& record);
  Status forget(const Record& record);

 private:
  [[nodiscard]] Status save() const;

  std::filesystem::path path_;
  std::vector<Record> records_;
};

}  // namespace ratchet::setup

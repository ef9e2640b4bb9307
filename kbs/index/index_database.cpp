#include "kbs/index/index_database.h"

#include <fmt/format.h>

#include "kbs/index/fts.h"

namespace ratchet::kbs {

Result<Database> open_index(const std::filesystem::path& path, OpenMode mode) {
  std::error_code ignored;
  if (mode == OpenMode::immutable && !std::filesystem::is_regular_file(path, ignored))
    return not_found(fmt::format("no knowledge index at {}", path.string()),
                     "Run `ratchet kbs add DIR`, or build the project.");
  auto database =
      Database::open(path, mode, {.name = "knowledge index", .hint = "Run `ratchet kbs doctor`."});
  if (!database) return database.error();
  if (auto done = register_functions(database->handle()); !done) return done.error();
  return database;
}

Status prepare_all(Database& database,
                   std::initializer_list<std::pair<Statement*, std::string_view>> statements) {
  for (const auto& [statement, sql] : statements) {
    auto prepared = database.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = *std::move(prepared);
  }
  return {};
}

}  // namespace ratchet::kbs

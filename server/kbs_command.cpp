#include "server/kbs_command.h"

#include <fmt/format.h>

#include "kbs/commands.h"
#include "server/terminal.h"

namespace ratchet {
namespace {

Result<KbsReport> add(const Options& options, const KbsIndexes& indexes,
                      const std::stop_token& stop) {
  ProgressLine line;
  const auto print_progress = [&line](int done, int total) {
    line.show(done, total, fmt::format("{} of {} documents", done, total));
  };
  auto report = kbs_add({.folder = options.kbs_folder,
                         .name = options.kbs_name,
                         .license = options.kbs_license,
                         .user_index = indexes.user,
                         .progress = print_progress,
                         .stop = stop});
  if (!report) return report.error();
  return KbsReport{encode(*report)};
}

/// Calls `inspect` for each index. The user's index does not exist before the first `kbs add`.
template <class Inspect>
Result<KbsReport> inspect_each(const KbsIndexes& indexes, Inspect inspect) {
  KbsReport all{Json::object()};
  for (const auto& [name, path] : {std::pair{"builtin", indexes.builtin}, {"user", indexes.user}}) {
    if (path.empty()) continue;
    auto one = inspect(path);
    if (!one && one.error().code == ErrorCode::not_found && path == indexes.user) {
      all.body[name] = "nothing has been added yet";
      continue;
    }
    if (!one) return one.error();
    all.body[name] = encode(*one);
    if constexpr (requires { one->healthy; }) all.healthy = all.healthy && one->healthy;
  }
  return all;
}

}  // namespace

Result<KbsReport> run_kbs_command(const Options& options, const KbsIndexes& indexes,
                                  const std::stop_token& stop) {
  if (options.kbs_action == "add") return add(options, indexes, stop);
  if (options.kbs_action == "remove") {
    auto removed = kbs_remove(indexes.user, options.kbs_subject);
    if (!removed) return removed.error();
    return KbsReport{encode(*removed)};
  }
  if (options.kbs_action == "stats")
    return inspect_each(indexes, [](const auto& path) { return kbs_stats(path); });
  return inspect_each(indexes, [](const auto& path) { return kbs_doctor(path); });
}

}  // namespace ratchet

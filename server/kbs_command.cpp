#include "server/kbs_command.h"

#include <fmt/format.h>

#include "kbs/commands.h"

namespace ratchet {
namespace {

constexpr int kTellEvery = 1000;  // documents

Result<KbsReport> add(const Options& options, const KbsIndexes& indexes,
                      const std::stop_token& stop) {
  const auto tell = [](int done, int total) {
    if (done % kTellEvery == 0 || done == total)
      fmt::print(stderr, "… {} of {} documents\n", done, total);
  };
  auto report = kbs_add({.folder = options.kbs_folder,
                         .name = options.kbs_name,
                         .license = options.kbs_license,
                         .user_index = indexes.user,
                         .progress = tell,
                         .stop = stop});
  if (!report) return report.error();
  return KbsReport{encode(*report)};
}

/// Asks about each index that there is; the user's comes with the first corpus.
template <class Ask>
Result<KbsReport> of_each(const KbsIndexes& indexes, Ask ask) {
  KbsReport all{Json::object()};
  for (const auto& [name, path] : {std::pair{"builtin", indexes.builtin}, {"user", indexes.user}}) {
    if (path.empty()) continue;
    auto one = ask(path);
    if (!one && one.error().code == ErrorCode::not_found && path == indexes.user) {
      all.body[name] = "nothing was added yet";
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
    return of_each(indexes, [](const auto& path) { return kbs_stats(path); });
  return of_each(indexes, [](const auto& path) { return kbs_doctor(path); });
}

}  // namespace ratchet

#include "server/lab_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/labs/lab_service.h"
#include "kernels/labs/lab_set.h"
#include "server/core/beneath.h"
#include "server/exit_deadline.h"
#include "server/labs_file.h"
#include "server/serve.h"

namespace ratchet {
namespace {

constexpr std::chrono::milliseconds kLongestLeave{2800};  // of the three seconds to end

constexpr std::chrono::milliseconds kLongestGoodbye{3000};

}  // namespace

Result<std::vector<RemoteLabOptions>> remote_labs(const Options& options) {
  std::vector<RemoteLabOptions> remote;
  for (const auto& text : options.labs) {
    auto one = parse_lab(text);
    if (!one) return one.error();
    remote.push_back(*std::move(one));
  }
  for (const auto& file : options.labs_files) {
    auto more = read_labs(file);
    if (!more) return more.error();
    std::ranges::move(*more, std::back_inserter(remote));
  }
  std::set<std::string> names;
  for (auto& one : remote) {
    one.version = RATCHET_VERSION;
    if (!names.insert(one.name).second)
      return invalid_argument(fmt::format("name: two labs are called \"{}\"", one.name),
                              "Rename one of them in --lab or the file of --labs.");
  }
  for (const auto& one : remote)
    if (one.group != one.name && names.contains(one.group))
      return invalid_argument(
          fmt::format("name: \"{}\" is a lab, and the labs of an entry with count are called so",
                      one.group),
          "Rename one of them in --lab or the file of --labs.");
  return remote;
}

Result<std::unique_ptr<Lab>> open_lab(const Options& options) {
  auto remote = remote_labs(options);
  if (!remote) return remote.error();
  auto local = Lab::open({.state_dir = options.state_dir,
                          .worker_dir = options.worker_dir,
                          .data_dir = options.data_dir,
                          .python = options.python,
                          .version = RATCHET_VERSION,
                          .job_deadline = std::chrono::seconds(options.job_deadline_s)});
  if (!local || remote->empty()) return local;
  return lab_set(*std::move(local), *std::move(remote));
}

void end_programs(Lab& lab) {
  end_labs(lab, kLongestLeave);
  end_descendants();
}

int serve_as_lab(const Options& options, const std::stop_token& stop) {
  if (::isatty(STDOUT_FILENO) != 0)  // which would also change the bytes
    return fail(invalid_argument(
        "lab: its stdout must lead to a server, and is a terminal",
        "Name the command where the server starts: ratchet --lab 'NAME=ssh HOST ratchet lab' "
        "serve; without a terminal (ssh -T)."));
  if (auto own = make_private_folder(options.state_dir); !own) return fail(own.error());
  Options alone = options;
  alone.labs.clear();
  alone.labs_files.clear();
  auto lab = open_lab(alone);
  if (!lab) return fail(lab.error());
  LabStream stream(Fd(::dup(STDIN_FILENO)), Fd(::dup(STDOUT_FILENO)));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  // Its server is gone: what ignores its stop token must not hold the device for nobody.
  std::optional<ExitDeadline> deadline;
  const std::chrono::milliseconds silence =
      options.silence_s ? std::chrono::seconds(*options.silence_s) : kServerSilence;
  const auto served = serve_lab(
      **lab, stream, RATCHET_VERSION, options.state_dir / "texts", stop,
      [&] { deadline.emplace(kLongestGoodbye, 0); }, silence);
  end_descendants();
  return served ? 0 : fail(served.error());
}

}  // namespace ratchet

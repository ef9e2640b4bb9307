#include "server/lab_command.h"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "kernels/labs/lab_service.h"
#include "kernels/labs/lab_set.h"
#include "server/core/beneath.h"
#include "server/exit_deadline.h"
#include "server/serve.h"

namespace ratchet {

Result<std::unique_ptr<Lab>> open_lab(const Options& options) {
  std::vector<RemoteLabOptions> remote;
  for (const auto& text : options.labs) {
    auto one = parse_lab(text);
    if (!one) return one.error();
    one->version = RATCHET_VERSION;
    remote.push_back(*std::move(one));
  }
  auto local = Lab::open({.state_dir = options.state_dir,
                          .worker_dir = options.worker_dir,
                          .data_dir = options.data_dir,
                          .python = options.python,
                          .version = RATCHET_VERSION,
                          .job_deadline = std::chrono::seconds(options.job_deadline_s)});
  if (!local || remote.empty()) return local;
  return lab_set(*std::move(local), std::move(remote));
}

int serve_as_lab(const Options& options, const std::stop_token& stop) {
  if (auto own = make_private_folder(options.state_dir); !own) return fail(own.error());
  Options alone = options;
  alone.labs.clear();
  auto lab = open_lab(alone);
  if (!lab) return fail(lab.error());
  LabStream stream(Fd(::dup(STDIN_FILENO)), Fd(::dup(STDOUT_FILENO)));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto served = serve_lab(**lab, stream, RATCHET_VERSION, stop);
  end_descendants();
  return served ? 0 : fail(served.error());
}

}  // namespace ratchet

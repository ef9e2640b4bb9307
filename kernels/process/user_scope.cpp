#include "kernels/process/user_scope.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "kernels/process/control_group.h"
#include "server/core/process.h"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

/// The path of this process's control group of version 2; empty where there is none.
std::string own_group() {
  for (auto& [controller, path] : own_groups())
    if (controller.empty()) return path;
  return "";
}

/// org.freedesktop.systemd1(5): StartTransientUnit(name, mode, properties, auxiliary units).
bool ask_systemd(const std::string& scope) {
  const auto busctl = find_program("busctl");
  if (!busctl) return false;
  const auto pid = std::to_string(::getpid());
  const auto answer = run_program({.argv = {*busctl,
                                            "--user",
                                            "call",
                                            "org.freedesktop.systemd1",
                                            "/org/freedesktop/systemd1",
                                            "org.freedesktop.systemd1.Manager",
                                            "StartTransientUnit",
                                            "ssa(sv)a(sa(sv))",
                                            scope,
                                            "fail",
                                            "4",
                                            "Description",
                                            "s",
                                            "ratchet, which limits what foreign code uses",
                                            "Delegate",
                                            "b",
                                            "true",
                                            "CollectMode",
                                            "s",
                                            "inactive-or-failed",
                                            "PIDs",
                                            "au",
                                            "1",
                                            pid,
                                            "0"},
                                   .environment = inherited_environment(
                                       {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "PATH"})},
                                  2s);
  return answer && answer->status.clean();
}

}  // namespace

bool enter_user_scope() {
  const bool of_a_session = own_group().ends_with(".scope");
  if (::geteuid() == 0 || !of_a_session || ::getenv("XDG_RUNTIME_DIR") == nullptr) return false;
  const auto scope = "ratchet-" + std::to_string(::getpid()) + ".scope";
  if (!ask_systemd(scope)) return false;
  // The answer comes before the job is done.
  for (int tries = 0; tries < 100; ++tries) {
    if (own_group().ends_with(scope)) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

}  // namespace ratchet

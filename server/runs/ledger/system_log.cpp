#include "server/runs/ledger/system_log.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "server/core/fd.h"

namespace ratchet {

void SystemLog::write(std::string_view line) const {
  constexpr int kUserInfo = 8 + 6;  // RFC 3164: facility user, severity informational
  sockaddr_un address{};
  const auto& path = socket_.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return;
  const auto text = fmt::format("<{}>ratchet[{}]: {}", kUserInfo, ::getpid(), line);
  (void)::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

}  // namespace ratchet

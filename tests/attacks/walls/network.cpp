// Ways out of the process: sockets of every kind.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

constexpr int kVirtual = 40;  // AF_VSOCK
constexpr int kCrypto = 38;   // AF_ALG

bool opens(int family, int type, int protocol = 0) {
  const int made = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (made >= 0) ::close(made);
  return made >= 0;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

template <class Address>
bool with_socket(int family, int type, const Address& address, std::size_t size, bool listens) {
  const int made = ::socket(family, type | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  const auto length = static_cast<socklen_t>(size);
  const bool done = listens ? ::bind(made, to, length) == 0 && ::listen(made, 1) == 0
                            : ::connect(made, to, length) == 0;
  const int kept = errno;
  ::close(made);
  errno = kept;
  return done;
}

sockaddr_un named(std::string_view path, std::size_t at = 0) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path + at, sizeof address.sun_path - 1 - at);
  return address;
}

constexpr std::array kProbes{
    Probe{"socket_connect", "TCP to a server of this machine", kSeccomp | kLandlock,
          [](const Prey& prey, const Target&) {
            const auto to = loopback(prey.port);
            return with_socket(AF_INET, SOCK_STREAM, to, sizeof to, false);
          }},
    Probe{"socket_listen", "a TCP server of its own", kSeccomp | kLandlock,
          [](const Prey&, const Target&) {
            const auto at = loopback(0);
            return with_socket(AF_INET, SOCK_STREAM, at, sizeof at, true);
          }},
    Probe{"socket_datagram", "UDP", kSeccomp,
          [](const Prey&, const Target&) { return opens(AF_INET, SOCK_DGRAM); }},
    Probe{"socket_ipv6", "IPv6", kSeccomp,
          [](const Prey&, const Target&) { return opens(AF_INET6, SOCK_STREAM); }},
    Probe{"socket_raw", "raw ICMP", kSeccomp | kUser,
          [](const Prey&, const Target&) { return opens(AF_INET, SOCK_RAW, IPPROTO_ICMP); }, kRoot},
    Probe{"socket_packet", "packets of the network card", kSeccomp | kUser,
          [](const Prey&, const Target&) { return opens(AF_PACKET, SOCK_RAW, 0x300); }, kRoot},
    Probe{"socket_netlink", "netlink", kSeccomp,
          [](const Prey&, const Target&) { return opens(AF_NETLINK, SOCK_RAW); }},
    Probe{"socket_virtual", "vsock to the host of a virtual machine", kSeccomp,
          [](const Prey&, const Target&) { return opens(kVirtual, SOCK_STREAM); }},
    Probe{"socket_crypto", "the kernel's ciphers", kSeccomp,
          [](const Prey&, const Target&) { return opens(kCrypto, SOCK_SEQPACKET); }},
    Probe{"socket_pair", "socketpair", kSeccomp,
          [](const Prey&, const Target&) {
            std::array<int, 2> ends{};
            const bool made = ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0;
            if (made)
              for (const int end : ends) ::close(end);
            return made;
          }},
    Probe{"socket_path", "another's socket in a folder", kSeccomp | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const auto to = named(t.door.data());
            return with_socket(AF_UNIX, SOCK_STREAM, to, sizeof to, false);
          }},
    Probe{"socket_plant", "a socket in another's folder", kSeccomp | kLandlock | kMounts | kUser,
          [](const Prey&, const Target& t) {
            const auto at = named(std::string(t.folder.data()) + "/planted");
            return with_socket(AF_UNIX, SOCK_STREAM, at, sizeof at, true);
          },
          kSeen},
    Probe{"socket_abstract", "another's abstract socket", kSeccomp | kLandlock,
          [](const Prey&, const Target& t) {
            const auto to = named(t.name.data(), 1);
            const auto size = offsetof(sockaddr_un, sun_path) + 1 + std::strlen(t.name.data());
            return with_socket(AF_UNIX, SOCK_STREAM, to, size, false);
          }},
};

}  // namespace

Family network() {
  return {"sockets", kProbes, 2};
}

}  // namespace ratchet::walls

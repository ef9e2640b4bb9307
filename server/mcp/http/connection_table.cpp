#include "server/mcp/http/connection_table.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <tuple>

namespace ratchet::mcp {
namespace {

constexpr std::size_t kAtOnce = 32;       // this part of all
constexpr std::size_t kNetworkBytes = 8;  // a /64, which one IPv6 host usually has to itself

/// Never 0 or negative.
std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// The peer's IPv4 address or IPv6 network; zeros when unknown.
std::array<unsigned char, 16> peer_of(int socket) {
  std::array<unsigned char, 16> peer{};
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return peer;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    std::memcpy(&peer[peer.size() - sizeof four], &four, sizeof four);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool whole = IN6_IS_ADDR_V4MAPPED(&six) || IN6_IS_ADDR_LOOPBACK(&six);
    std::memcpy(peer.data(), &six, whole ? sizeof six : kNetworkBytes);
  }
  return peer;
}

}  // namespace

ConnectionTable::Connection::Connection(ConnectionTable& table, int socket)
    : table_(table), socket_(socket), peer_(peer_of(socket)), since_(now_ns()) {
  table_.at_work_.fetch_add(1);
}

ConnectionTable::Connection::~Connection() {
  const std::lock_guard lock(table_.mutex_);
  table_.open_.erase(socket_);
  table_.size_ = table_.open_.size();
  if (state_.load() == closed) --table_.closing_;
  table_.at_work_.fetch_sub(1);
}

void ConnectionTable::Connection::begin_wait() {
  std::int64_t working = works;
  state_.compare_exchange_strong(working, since_);  // a closed one stays closed
  table_.at_work_.fetch_sub(1);
  if (table_.expected_.load() > 0 || table_.size_.load() > table_.limits_.per_peer)
    table_.make_room(&peer_);
}

bool ConnectionTable::Connection::end_wait() {
  table_.at_work_.fetch_add(1);
  std::int64_t waiting = since_;
  return state_.compare_exchange_strong(waiting, works);
}

void ConnectionTable::Connection::note_progress() {
  since_ = now_ns();
}

void ConnectionTable::expect_one() {
  expected_.fetch_add(1);
  make_room(nullptr);
}

void ConnectionTable::expect_less() {
  expected_.fetch_sub(1);
}

void ConnectionTable::let_in(int socket) {
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(socket); found != open_.end()) found->second->let_in_ = true;
}

std::unique_ptr<ConnectionTable::Connection> ConnectionTable::add(int socket) {
  auto connection = std::make_unique<Connection>(*this, socket);
  const std::lock_guard lock(mutex_);
  open_[socket] = connection.get();
  size_ = open_.size();
  connection->let_in_ = true;  // not one of those that are closed for it
  const bool fits = !is_over(connection->peer_) || close_one(&connection->peer_) != Closed::none;
  connection->let_in_ = false;
  return fits ? std::move(connection) : nullptr;
}

bool ConnectionTable::is_over(const Connection::Peer& peer) const {
  const auto count = std::ranges::count_if(open_, [&](const auto& one) {
    return one.second->peer_ == peer && one.second->state_.load() != Connection::closed;
  });
  return static_cast<std::size_t>(count) > limits_.per_peer;
}

void ConnectionTable::make_room(const Connection::Peer* peer) {
  const std::lock_guard lock(mutex_);
  const bool full = open_.size() >= limits_.connections;
  while (full && closing_ < expected_.load() && close_one(nullptr) == Closed::one) {
  }
  if (peer && is_over(*peer)) close_one(peer);
}

ConnectionTable::Closed ConnectionTable::close_one(const Connection::Peer* peer) {
  while (true) {
    Connection* spared = nullptr;
    std::int64_t since = 0;
    bool strangers = false;
    for (const auto& [socket, one] : open_) {
      const std::int64_t state = one->state_.load();
      if (state == Connection::closed || (peer && one->peer_ != *peer)) continue;
      strangers = strangers || !one->let_in_;
      if (state == Connection::works) continue;
      if (spared && std::tuple(one->let_in_, state) >= std::tuple(spared->let_in_, since)) continue;
      spared = one;
      since = state;
    }
    // Those that were not let in go first: in a moment they wait, are let in, or are gone. So of
    // the others, few go at once.
    const bool enough = strangers || closing_ > limits_.connections / kAtOnce;
    if (enough && (!spared || spared->let_in_)) return Closed::later;
    if (!spared) return Closed::none;
    if (!spared->state_.compare_exchange_strong(since, Connection::closed)) continue;
    ++closing_;
    ::shutdown(spared->socket_, SHUT_RDWR);  // its thread wakes up and ends
    return Closed::one;
  }
}

}  // namespace ratchet::mcp

#include "server/mcp/session/hub.h"

#include <algorithm>
#include <utility>

#include "server/mcp/message/message.h"

namespace ratchet::mcp {
namespace {

std::string_view method_of(Change change) {
  switch (change) {
    case Change::tools:
      return "notifications/tools/list_changed";
    case Change::prompts:
      return "notifications/prompts/list_changed";
    case Change::resources:
      break;
  }
  return "notifications/resources/list_changed";
}

bool wants(const ListenFilter& filter, Change change) {
  switch (change) {
    case Change::tools:
      return filter.tools;
    case Change::prompts:
      return filter.prompts;
    case Change::resources:
      break;
  }
  return filter.resources;
}

Json tagged(Json params, const Json& subscription) {
  params["_meta"][std::string(key::kSubscriptionId)] = subscription;
  return params;
}

}  // namespace

std::shared_ptr<Hub::Listener> Hub::listen(Json id, ListenFilter filter, const Json& honored,
                                           std::shared_ptr<MessageSink> sink) {
  auto listener =
      std::make_shared<Listener>(Listener{std::move(id), std::move(filter), std::move(sink)});
  // Under the lock, so that no notification can come before the acknowledgement.
  const std::lock_guard lock(mutex_);
  listener->sink->send(notification_text("notifications/subscriptions/acknowledged",
                                         tagged(Json{{"notifications", honored}}, listener->id)));
  listeners_.push_back(listener);
  return listener;
}

bool Hub::remove(const std::shared_ptr<Listener>& listener) {
  const std::lock_guard lock(mutex_);
  return std::erase(listeners_, listener) > 0;
}

void Hub::cancel(const Json& id, const MessageSink& sink) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [&](const auto& listener) {
    return listener->sink.get() == &sink && listener->id == id;
  });
}

void Hub::close() {
  std::vector<std::shared_ptr<Listener>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::exchange(listeners_, {});
  }
  for (const auto& listener : ended)
    listener->sink->send(
        result_text(listener->id, tagged(Json{{"resultType", "complete"}}, listener->id)));
}

void Hub::attach(const std::shared_ptr<Session>& session) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [](const auto& known) { return known.expired(); });
  sessions_.push_back(session);
}

std::vector<std::shared_ptr<Hub::Listener>> Hub::listeners() const {
  const std::lock_guard lock(mutex_);
  return listeners_;
}

std::vector<std::shared_ptr<Session>> Hub::sessions() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Session>> living;
  for (const auto& known : sessions_)
    if (auto session = known.lock()) living.push_back(std::move(session));
  return living;
}

void Hub::publish(Change change) {
  const auto method = method_of(change);
  for (const auto& listener : listeners())
    if (wants(listener->filter, change))
      listener->sink->send(notification_text(method, tagged(Json::object(), listener->id)));
  for (const auto& session : sessions())
    if (session->is_open()) session->send(notification_text(method, Json::object()));
}

void Hub::resource_updated(std::string_view uri) {
  constexpr std::string_view kMethod = "notifications/resources/updated";
  const std::string name(uri);
  for (const auto& listener : listeners())
    if (listener->filter.uris.contains(name))
      listener->sink->send(notification_text(kMethod, tagged(Json{{"uri", name}}, listener->id)));
  for (const auto& session : sessions())
    if (session->is_subscribed(name))
      session->send(notification_text(kMethod, Json{{"uri", name}}));
}

}  // namespace ratchet::mcp

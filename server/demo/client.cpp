#include "server/demo/client.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace ratchet::demo {
namespace {

// Every tool of a demo run answers or reports progress within this time.
constexpr std::chrono::milliseconds kSilence{120000};
constexpr std::chrono::seconds kPollInterval{1};

Error dead(const std::string& what) {
  return {ErrorCode::unavailable, "the server " + what, "Its log is above."};
}

std::optional<double> total_in(const Json& report) {
  const auto total = report.find("total");
  return total != report.end() && total->is_number() ? std::optional(total->get<double>())
                                                     : std::nullopt;
}

}  // namespace

Result<Client> Client::start(const std::vector<std::string>& command, Progress progress) {
  auto to = Pipe::open();
  auto from = Pipe::open();
  if (!to || !from) return dead("cannot be started: no pipes");
  auto process = Process::spawn(
      {.argv = command,
       .environment = whole_environment(),
       .descriptors = {{to->out.get(), 0}, {from->in.get(), 1}, {STDERR_FILENO, 2}}});
  if (!process) return process.error();
  to->out.reset();
  from->in.reset();  // else the end of a server that does not start is not seen
  Client client(*std::move(process), std::move(to->in), std::move(from->out), std::move(progress));
  auto hello =
      client.request("initialize", {{"protocolVersion", "2025-11-25"},
                                    {"capabilities", Json::object()},
                                    {"clientInfo", {{"name", "ratchet-demo"}, {"version", "1"}}}});
  if (!hello) return hello.error();
  client.server_name_ = hello->at("serverInfo").value("name", "?");
  auto ready = client.send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  if (!ready) return ready.error();
  return client;
}

Result<ToolReply> Client::call(const std::string& tool, const Json& arguments) {
  auto reply = call_once(tool, arguments);
  if (!reply || !reply->structured.is_object() || tool == "run_status") return reply;
  const Json id = reply->structured.value("job", Json());
  while (id.is_string()) {
    std::this_thread::sleep_for(kPollInterval);
    auto status = call_once("run_status", {{"job", id}});
    if (!status || status->is_error) return status;
    const Json job = status->structured.at("job");
    progress_(job.value("done", 0.0), total_in(job), job.value("message", ""));
    if (job.at("state") == "working") continue;
    return ToolReply{job.contains("error"), job.value("answer", Json()), job.value("error", "")};
  }
  return reply;
}

Result<std::vector<std::string>> Client::tool_names() {
  std::vector<std::string> names;
  for (Json params = Json::object();;) {
    auto page = request("tools/list", params);
    if (!page) return page.error();
    for (const auto& tool : page->value("tools", Json::array()))
      names.push_back(tool.value("name", ""));
    if (!page->contains("nextCursor")) return names;
    params["cursor"] = page->at("nextCursor");
  }
}

Result<ToolReply> Client::call_once(const std::string& tool, const Json& arguments) {
  auto result = request("tools/call", {{"name", tool}, {"arguments", arguments}});
  if (!result) return result.error();
  ToolReply reply;
  reply.is_error = result->value("isError", false);
  reply.structured = result->value("structuredContent", Json());
  for (const auto& block : result->value("content", Json::array()))
    reply.text += block.value("text", "");
  return reply;
}

Result<Json> Client::request(const std::string& method, Json params) {
  const int id = next_id_++;
  params["_meta"]["progressToken"] = id;
  auto sent = send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  if (!sent) return sent.error();
  double part_start = 0;
  double last = 0;
  std::optional<double> part_total;
  for (;;) {
    auto message = receive();
    if (!message) return message.error();
    if (message->value("method", "") == "notifications/progress") {
      const Json& said = message->at("params");
      const auto total = total_in(said);
      // MCP lets progress only grow: another part of the work goes on where the one before ended.
      if (total != part_total) part_start = last;
      part_total = total;
      last = said.value("progress", 0.0);
      progress_(last - part_start, total ? std::optional(*total - part_start) : std::nullopt,
                said.value("message", ""));
      continue;
    }
    if (message->value("id", Json()) != Json(id)) continue;
    if (message->contains("error"))
      return Error{ErrorCode::internal, message->at("error").value("message", "?")};
    return message->at("result");
  }
}

Status Client::send(const Json& message) {
  const std::string line = message.dump() + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::write(to_server_.get(), line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return dead("closed its input");
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Result<Json> Client::receive() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      auto message = Json::parse(buffer_.substr(0, end), nullptr, false);
      buffer_.erase(0, end + 1);
      if (message.is_discarded()) return dead("wrote a line that is not JSON");
      return message;
    }
    pollfd waiting{from_server_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(kSilence.count())) == 0)
      return dead("did not answer for 120 s");
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(from_server_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return dead("ended");
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace ratchet::demo

// A server that offers the fixtures of the official MCP conformance suite, and nothing else.
// It takes the options of `ratchet serve`.

#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "server/serve.h"
#include "tests/support/conformance/fixtures.h"

int main(int argc, char** argv) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "ratchet-test-server", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  ratchet::ServeOptions options;
  CLI::App app("The fixtures of the MCP conformance suite");
  ratchet::add_serve_options(app, options);
  CLI11_PARSE(app, argc, argv);

  ratchet::mcp::ServerOptions offered;
  offered.name = "ratchet-test-server";
  offered.title = "Conformance fixtures";
  offered.version = "1";
  ratchet::test::conformance::add_fixtures(offered);
  std::stop_source stop;
  const auto watcher = ratchet::stop_on_signals(stop);
  const auto jobs = offered.jobs;
  ratchet::mcp::Server server(std::move(offered));
  const int status = ratchet::serve(server, options, "ratchet-test-server", stop.get_token());
  jobs->stop();
  return status;
}

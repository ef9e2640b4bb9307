// The demo's report.html in a real browser: Chromium renders a copy of the page that contains a
// probe, which reports what a reader would see.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<std::string> environment(const fs::path& home) {
  auto variables = inherited_environment({"PATH", "LD_LIBRARY_PATH", "RATCHET_PYTHON"});
  for (const char* name : {"HOME", "TMPDIR", "XDG_STATE_HOME"})
    variables.push_back(name + ("=" + home.string()));
  return variables;
}

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (const auto path = find_program(name)) return path->string();
  SKIP("chromium is not installed; `./dev test --all` installs it if apt-get offers it");
  return "";
}

/// The report of a demo on a lab, made once.
const std::string& report() {
  static const TempFolder folder;
  static const std::string text = [] {
    const auto out = folder / "run";
    const auto ratchet = (build_dir() / "bin" / "ratchet").string();
    const auto demo = run_program(
        {.argv = {ratchet, "--json", "--lab",
                  "here=" + ratchet + " --state-dir " + (folder / "lab").string() + " lab", "demo",
                  "--implementation", "host-cpp", "--output", out.string()},
         .environment = environment(folder.path())},
        300s);
    REQUIRE(demo);
    INFO(demo->out << demo->err);
    REQUIRE(demo->status.clean());
    const auto labs = Json::parse(demo->out)["labs"];
    CHECK(labs["lab"] == "here");
    CHECK(labs["seconds"].get<double>() > 0);
    return read_file(out / "report.html").value();
  }();
  return text;
}

struct Rendered {
  Json page;            ///< the probe's report
  std::string console;  ///< the browser's console messages about the page
};

/// Renders `page` in a window of `width` pixels, with a light or dark color scheme.
Rendered render(const std::string& program, const std::string& page, bool dark, int width) {
  const TempFolder folder;
  const auto probe = read_file(source_dir() / "tests/server/browser/probe.html");
  REQUIRE(probe);
  const auto end = page.rfind("</body>");
  REQUIRE(end != std::string::npos);
  const auto file = folder / "page.html";
  REQUIRE(write_file(file, page.substr(0, end) + *probe + page.substr(end)));
  const auto browsed = run_program(
      {.argv = {program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--no-first-run",
                "--user-data-dir=" + (folder / "profile").string(), "--enable-logging=stderr",
                "--window-size=" + std::to_string(width) + ",900",
                std::string("--blink-settings=preferredColorScheme=") + (dark ? "0" : "1"),
                "--virtual-time-budget=2000", "--dump-dom", "file://" + file.string()},
       .environment = environment(folder.path())},
      120s, {}, std::size_t{8} << 20U);
  REQUIRE(browsed);
  INFO(browsed->err);
  REQUIRE(browsed->status.clean());
  constexpr std::string_view kBegin = "<pre id=\"probe\" hidden=\"\">";
  auto begin = browsed->out.find(kBegin);
  REQUIRE(begin != std::string::npos);
  begin += kBegin.size();
  std::string json = browsed->out.substr(begin, browsed->out.find("</pre>", begin) - begin);
  for (const auto& [name, sign] : {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"},
                                   std::pair{"&nbsp;", " "}, std::pair{"&amp;", "&"}})
    for (auto at = json.find(name); at != std::string::npos; at = json.find(name, at + 1))
      json.replace(at, std::string_view(name).size(), sign);
  Rendered rendered{Json::parse(json, nullptr, false), ""};
  REQUIRE(rendered.page.is_object());
  for (auto at = browsed->err.find("CONSOLE"); at != std::string::npos;
       at = browsed->err.find("CONSOLE", at + 1))
    rendered.console += browsed->err.substr(at, browsed->err.find('\n', at) - at) + "\n";
  return rendered;
}

void check_page(const Json& page, bool dark) {
  CHECK(page.at("requests").empty());
  CHECK(page.at("dark") == dark);
  CHECK(page.at("background") == (dark ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)"));
  CHECK(page.at("contrast").get<double>() >= 4.5);  // WCAG's minimum for text
  CHECK_FALSE(page.at("too_wide").get<bool>());
  const std::string text = page.at("text");
  for (const char* phrase : {"softmax", "Best: v", "OpenMP", "ratchet audit"})
    CHECK(text.find(phrase) != std::string::npos);
  for (const char* heading : {"Result", "Versions", "Under the roofs", "Hypotheses", "Integrity"}) {
    const auto& all = page.at("headings");
    CHECK(std::ranges::find(all, Json(heading)) != all.end());
  }
}

void check_plot(const Json& plot) {
  INFO(plot.dump(2));
  CHECK(plot.at("marks").get<int>() >= 3);  // v0, v1, v2
  CHECK(plot.at("texts").get<int>() > 3);
  CHECK(plot.at("width").get<double>() > 400);
  CHECK(plot.at("height").get<double>() > 30);
  CHECK(plot.at("outside").empty());
  CHECK(plot.at("overlaps").empty());
  CHECK(plot.at("contrast").get<double>() >= 4.5);
}

TEST_CASE(
    "a browser shows the whole report legibly in light and dark without loading anything else",
    "[browser]") {
  const std::string program = browser();
  const bool dark = GENERATE(false, true);
  const int width = GENERATE(1100, 600);
  const auto [page, console] = render(program, report(), dark, width);
  INFO(page.dump(2));

  CHECK(console.empty());
  check_page(page, dark);
  REQUIRE(page.at("plots").size() >= 2);  // versions, and their place under the measured roofs
  for (const auto& plot : page.at("plots")) check_plot(plot);
}

}  // namespace
}  // namespace ratchet::test

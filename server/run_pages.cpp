#include "server/run_pages.h"

#include <fmt/format.h>

#include <cmath>

#include "server/core/figures.h"

namespace ratchet {
namespace {

std::string joined(const Json& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word.get<std::string>();
  return out;
}

/// "a stage of two words" for `two_words`.
std::string spoken(std::string word) {
  for (char& c : word)
    if (c == '_') c = ' ';
  return word;
}

/// Two figures of one speed-up that differ by more are of other values, or of a machine that
/// changed.
constexpr double kApart = 0.15;

/// What the column "vs v0" compares, and where the medians beside it say something else.
std::string about_speedups(const Json& versions) {
  double v0_ns = 0;
  std::string out;
  for (const auto& row : versions) {
    const auto name = row.at("version").get<std::string>();
    if (name == "v0") v0_ns = row.value("median_ns", 0.0);
    if (name == "v0" || !row.contains("speedup_vs_v0")) continue;
    if (out.empty())
      out = "vs v0: timed beside v0, round by round; each median is of its own profile\n";
    const double paired = row.at("speedup_vs_v0");
    const double apart = v0_ns / row.value("median_ns", 1.0);
    if (apart > 0 && std::abs(std::log(apart / paired)) > std::log1p(kApart))
      out += fmt::format(
          "{}: {:.2f}x beside v0, though the medians say {:.2f}x: {}. {:.2f}x counts.\n", name,
          paired, apart,
          row.contains("judged_on")
              ? fmt::format("those are on normal values, and on {} values it is at its worst",
                            row.at("judged_on").get<std::string>())
              : "the load or the clock of the machine changed between the profiles of v0 and " +
                    name,
          paired);
  }
  return out;
}

}  // namespace

std::string versions_table(const Json& status) {
  std::string out = fmt::format("{:<7} {:>10} {:>24} {:>9} {:>13} {:>10}\n", "version", "median",
                                "95 % interval", "vs v0", "verdict", "bound");
  for (const auto& row : status.at("versions")) {
    const auto name = row.at("version").get<std::string>();
    if (!row.contains("median_ns")) {
      out += fmt::format("{:<7} {:>10} {:>24} {:>9} {:>13} {:>10}\n", name, "-", "-", "-",
                         row.value("verdict", "-"), "-");
      continue;
    }
    const std::string interval = fmt::format("{} .. {}", time_text(row.value("ci_low_ns", 0.0)),
                                             time_text(row.value("ci_high_ns", 0.0)));
    out += fmt::format("{:<7} {:>10} {:>24} {:>8.2f}x {:>13} {:>10}\n", name,
                       time_text(row.value("median_ns", 0.0)), interval,
                       row.value("speedup_vs_v0", 1.0), row.value("verdict", "-"),
                       row.value("bound", "-"));
  }
  out += "best: " + status.value("best", "-") + "\n";
  out += "result: " + status.value("headline", "-") + "\n";
  return out + about_speedups(status.at("versions"));
}

std::string run_page(const Json& status) {
  std::string out =
      fmt::format("run: {}\nfolder: {}\nstate: {} is {}, of {} versions\nclaim: {}\n",
                  status.at("run").get<std::string>(), status.value("output_dir", "-"),
                  status.value("version", "-"), spoken(status.value("stage", "-")),
                  status.value("iterations", 0), status.value("claim", "-"));
  for (const auto& weakness : status.value("weaknesses", Json::array()))
    out += "  " + weakness.value("message", "") + "\n";
  for (const auto& broken : status.value("integrity", Json::array()))
    out += "broken: " + broken.value("message", "") + "\n";
  const Json wanted = status.value("open_acceptance", Json::array());
  if (!wanted.empty()) out += "not yet met: " + joined(wanted) + "\n";
  out += "\n" + versions_table(status);
  if (const auto labs = status.value("labs", Json()); labs.is_object()) {
    out += fmt::format("lab: {}, used for {:.0f} s", labs.at("lab").get<std::string>(),
                       labs.value("seconds", 0.0));
    if (labs.contains("max_lab_seconds"))
      out += fmt::format(" of {:.0f} s", labs.value("max_lab_seconds", 0.0));
    out += fmt::format(", cost {:.2f}", labs.value("cost", 0.0));
    if (labs.contains("max_cost")) out += fmt::format(" of {:.2f}", labs.value("max_cost", 0.0));
    out += " " + labs.value("currency", "") + "\n";
  }
  if (status.contains("last_result"))
    out += "last: " + status.at("last_result").get<std::string>() + "\n";
  return out + "next: " + status.value("next", "-") + "\n";
}

std::string runs_table(const Json& list) {
  const Json& runs = list.at("runs");
  if (runs.empty()) return "There are no runs yet. `ratchet demo` makes one.\n";
  std::string out;
  for (const auto& run : runs)
    out += fmt::format("{}  {:.16}  {} {}\n  {} in {}\n", run.at("run").get<std::string>(),
                       run.value("created", "-"), run.value("version", "-"),
                       spoken(run.value("stage", "-")), run.value("kernel", "-"),
                       run.value("output_dir", "-"));
  if (list.contains("next_cursor")) out += "… there are older ones: --limit N\n";
  return out;
}

}  // namespace ratchet

#include "server/setup/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "server/core/process.h"
#include "server/core/text.h"
#include "server/demo/client.h"
#include "server/setup/clients.h"
#include "server/setup/config_edit.h"
#include "server/setup/config_file.h"
#include "server/setup/records.h"

namespace ratchet::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkspace = "${workspaceFolder}";  // VS Code puts the folder in
constexpr std::chrono::seconds kImportLimit(20);

bool is_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
}

/// The entry's command, with what it needs to know in full: a client starts it in another folder
/// and with another PATH.
std::vector<std::string> command_of(const McpClient& client, const Options& options,
                                    std::vector<std::string>& warnings) {
  std::vector<std::string> command{options.program, "serve"};
  auto roots = options.roots;
  if (roots.empty() && client.of_project) roots.emplace_back(kWorkspace);
  if (const char* home = std::getenv("HOME"); roots.empty() && home != nullptr)
    roots.emplace_back(home);
  for (const auto& root : roots)
    command.insert(command.end(),
                   {"--root", root == kWorkspace ? root : fs::absolute(root).string()});
  if (options.keep_state_dir)
    command.insert(command.end(), {"--state-dir", fs::absolute(options.state_dir).string()});
  const auto python = find_program(options.python);
  if (!python) {
    warnings.push_back(
        fmt::format("there is no {} in PATH: references and kernels in Python "
                    "cannot run; give --python FILE",
                    options.python));
    return command;
  }
  command.insert(command.end(), {"--python", fs::absolute(*python).string()});
  const auto numpy = run_program({.argv = {*python, "-c", "import numpy"},
                                  .environment = inherited_environment({"PATH", "HOME"})},
                                 kImportLimit);
  if (!numpy || !numpy->status.clean())
    warnings.push_back(
        fmt::format("{} has no numpy, which references in Python need; install it "
                    "there, or give --python FILE",
                    python->string()));
  return command;
}

/// Starts the server as the client would. Returns how many tools it offers.
Result<int> tried(std::vector<std::string> command) {
  for (auto& word : command)
    if (word == kWorkspace) word = fs::current_path();
  auto client = demo::Client::start(command, [](auto&&...) {});
  if (!client) return client.error();
  auto names = client->tool_names();
  if (!names) return names.error();
  if (names->empty()) return unavailable("the server offers no tools");
  return static_cast<int>(names->size());
}

/// One file of one client while setup works on it.
struct Work {
  McpClient client;
  Options options;
  ConfigFile file;
  Records records;
  std::optional<Record> record;

  [[nodiscard]] Error about(const Error& error) const { return error.at(file.path().string()); }
  [[nodiscard]] Report report(std::string done) const {
    return {.client = std::string(client.name), .file = file.path(), .done = std::move(done)};
  }
};

/// Whether an entry still starts what setup put there. Clients write their files anew in another
/// layout, and people add to entries.
bool still_ours(const Work& work, const std::string& entry) {
  if (!work.record) return false;
  const Json command = work.record->entry.value("command", Json());
  if (work.client.format.syntax == Format::Syntax::toml)
    return entry.find("command = " + command.dump()) != std::string::npos;
  const Json now = Json::parse(entry, nullptr, false, true);
  return now.is_object() && now.value("command", Json()) == command;
}

bool unedited(const Work& work, const std::string& entry) {
  if (!work.record) return false;
  if (work.file.text().find(work.record->text) != std::string::npos) return true;
  return Json::parse(entry, nullptr, false, true) == work.record->entry;
}

Error foreign(const Work& work, const std::string& entry) {
  const auto& name = work.options.name;
  return {
      ErrorCode::conflict,
      fmt::format("{} has a server \"{}\" that {}:\n{}", work.file.path().string(), name,
                  work.record ? "was changed after setup wrote it" : "setup did not write", entry),
      fmt::format("Nothing was changed. {} add another with --name NAME.",
                  work.record ? "Undo first, which removes it with the changes, or"
                              : "Remove it yourself, or")};
}

/// The file's text without what setup put in: exactly, or where others have rearranged it, without
/// the entry.
Result<std::string> undone(const Work& work) {
  const std::string& text = work.file.text();
  const std::string& put = work.record->text;
  const auto& format = work.client.format;
  const auto at = text.find(put);
  if (at != std::string::npos && text.find(put, at + 1) == std::string::npos) {
    std::string out = text;
    out.erase(at, put.size());
    const auto left = entry_in(format, out, work.options.name);
    if (left && !*left) return out;
  }
  return removed_from(format, text, work.options.name, work.record->made_container);
}

Result<Report> take_out(Work& work) {
  if (!work.record)
    return not_found(fmt::format("setup has put no server \"{}\" into {}", work.options.name,
                                 work.file.path().string()),
                     "An entry made in another way is removed in that way.");
  auto entry = entry_in(work.client.format, work.file.text(), work.options.name);
  if (!entry) return work.about(entry.error());
  Report report = work.report(*entry ? "removed" : "gone");
  if (*entry) {
    if (!still_ours(work, **entry)) return foreign(work, **entry);
    if (!unedited(work, **entry))
      report.warnings.emplace_back("the entry had been changed since setup wrote it");
    auto text = undone(work);
    if (!text) return work.about(text.error());
    const bool remove = work.record->made_file && holds_nothing(work.client.format, *text);
    std::vector<fs::path> none;
    const auto& made = work.record->made_folders;
    auto written =
        remove ? work.file.remove({made.begin(), made.end()}) : work.file.replace(*text, none);
    if (!written) return written.error();
  }
  if (auto kept = work.records.forget(*work.record); !kept) return kept.error();
  return report;
}

/// Writes the entry and the record of it, or neither.
Status write(Work& work, const std::string& base, const Json& entry, const Insertion& insertion) {
  const std::string container = Json(std::string(work.client.format.container)).dump();
  Record record = work.record.value_or(Record{});
  record.file = work.file.path();
  record.name = work.options.name;
  record.entry = entry;
  record.text = insertion.text;
  record.made_file = record.made_file || !work.file.exists();
  record.made_container =
      record.made_container || insertion.text.find(container) != std::string::npos;
  std::vector<fs::path> folders;
  const bool existed = work.file.exists();
  if (auto written = work.file.replace(insertion.applied_to(base), folders); !written)
    return written;
  for (const auto& folder : folders) record.made_folders.push_back(folder);
  auto kept = work.records.keep(record);
  if (kept) {
    work.record = record;
    return kept;
  }
  const auto restored = existed ? work.file.replace(base, folders) : work.file.remove(folders);
  return restored ? kept : restored;
}

Result<Report> put_in(Work& work, Report report, const Json& entry) {
  const auto& format = work.client.format;
  auto there = entry_in(format, work.file.text(), work.options.name);
  if (!there) return work.about(there.error());
  if (*there && !unedited(work, **there)) return foreign(work, **there);
  auto base = work.record && *there ? undone(work) : Result<std::string>(work.file.text());
  if (!base) return work.about(base.error());
  auto insertion = insertion_into(format, *base, work.options.name, entry);
  if (!insertion) return work.about(insertion.error());
  auto tools = tried(report.command);
  if (!tools) return tools.error();
  report.tools = *tools;
  report.entry = trimmed(insertion->text, " \t\r\n,");
  report.done = !*there ? "added" : work.record->entry == entry ? "unchanged" : "changed";
  if (report.done == "unchanged") return report;
  if (auto written = write(work, *base, entry, *insertion); !written) return written.error();
  return report;
}

/// Asks the client's own program, and takes the entry out again when it does not accept it.
Result<Report> confirmed(Work& work, Report report) {
  const auto opinion = opinion_of(work.client, work.options.name);
  if (!opinion.asked) return report;
  if (opinion.connected) {
    report.client_says = work.client.word == "claude" ? "connected" : "the entry is read";
    return report;
  }
  const Error refused{
      ErrorCode::unavailable,
      fmt::format("{} does not accept the entry: {}", work.client.program, opinion.says),
      "It was taken out again."};
  if (report.done == "unchanged") return Error{refused.code, refused.message, "It was left."};
  auto file = ConfigFile::open(work.file.path(), {});  // the client may have written it meanwhile
  if (!file) return file.error();
  work.file = *std::move(file);
  if (auto out = take_out(work); !out) return out.error();
  return refused;
}

}  // namespace

Result<Report> run(const Options& options) {
  auto client = client_named(options.client);
  if (!client) return client.error();
  if (!is_name(options.name))
    return invalid_argument(
        fmt::format("--name: clients take letters, digits, - and _, got {}", options.name));
  auto path = config_file_of(*client);
  if (!path) return path.error();
  Report report{.client = std::string(client->name), .file = *path, .done = "printed"};
  Json entry;
  if (!options.undo) {
    report.command = command_of(*client, options, report.warnings);
    entry = entry_for(*client, report.command);
    const std::string text = entry.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (Json::parse(text) != entry)
      return invalid_argument("a path of the entry is not UTF-8, which the client's file must be",
                              "Install or run ratchet under a path in UTF-8.");
  }
  if (options.print) {
    auto whole = insertion_into(client->format, "", options.name, entry);
    if (!whole) return whole.error();
    report.entry = whole->text;
    return report;
  }
  auto file = ConfigFile::open(*path, client->of_project ? fs::current_path() : fs::path());
  if (!file) return file.error();
  auto records = Records::open(options.state_dir);
  if (!records) return records.error();
  Work work{*client, options, *std::move(file), *std::move(records), {}};
  work.record = work.records.find(work.file.path(), options.name);
  if (options.undo) return take_out(work);
  report.file = work.file.path();
  auto put = put_in(work, std::move(report), entry);
  return put ? confirmed(work, *std::move(put)) : put;
}

std::string text_of(const Report& report, const Options& options) {
  std::string out;
  const auto line = [&](std::string_view what, const std::string& text) {
    out += fmt::format("  {:<9}{}\n", what, text);
  };
  if (report.done == "removed" || report.done == "gone") {
    out = fmt::format("{}: \"{}\" {} {}\n", report.client, options.name,
                      report.done == "gone" ? "was no longer in" : "removed from", report.file);
  } else {
    out = fmt::format("{}: \"{}\" {} {}\n", report.client, options.name,
                      report.done == "unchanged" ? "is already in" : report.done + " in",
                      report.file);
    line("starts", fmt::format("{}", fmt::join(report.command, " ")));
    line("tried", fmt::format("the server starts and offers {} tools", report.tools));
    line("client", report.client_says.empty()
                       ? "was not asked; start it again to see its new server"
                       : report.client_says);
    line("undo", fmt::format("ratchet setup {} --undo{}", options.client,
                             options.name == "ratchet" ? "" : " --name " + options.name));
  }
  for (const auto& warning : report.warnings) line("warning", warning);
  return out;
}

}  // namespace ratchet::setup

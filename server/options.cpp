#include "server/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "server/core/nearest.h"
#include "server/core/storage.h"
#include "server/core/tool.h"
#include "server/mcp/server.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// For options that take a size: what is wrong with it, or nothing.
std::string is_size(const std::string& text) {
  const auto size = parse_size(text);
  return size ? "" : size.error().message;
}

/// "There is no KIND "word". Did you mean …? The KINDs are …."
std::string unknown(std::string_view kind, std::string_view word,
                    const std::vector<std::string_view>& names) {
  const auto meant = nearest(word, names);
  return fmt::format("there is no {} \"{}\".{} The {}s are {}.", kind, word,
                     meant.empty() ? "" : fmt::format(" Did you mean {}?", meant), kind,
                     fmt::join(names, ", "));
}

/// For --toolsets: what is wrong with a name, or nothing.
std::string is_toolset(const std::string& text) {
  std::vector<std::string_view> names;
  for (const auto& [toolset, name] : enum_names(Toolset{})) names.push_back(name);
  return std::ranges::find(names, text) != names.end() ? "" : unknown("toolset", text, names);
}

/// "ratchet", "ratchet kbs", "ratchet kbs query".
std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? "ratchet"
             : full_name(*command.get_parent()) + " " + command.get_name();
}

/// What to say about a word that is no command, or about none.
std::string unknown_command(const CLI::App& above, const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const auto* one : above.get_subcommands(nullptr)) names.push_back(one->get_name());
  const auto said = words.empty() ? fmt::format("a command is missing. The commands are {}.",
                                                fmt::join(names, ", "))
                                  : unknown("command", words.front(), names);
  return fmt::format("{}: {}\n`{} --help` describes them.\n", full_name(above), said,
                     full_name(above));
}

/// What to say about an option that neither the command nor the program has.
std::string unknown_option(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const auto* app = &command; app != nullptr; app = app->get_parent())
    for (const auto* option : app->get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  const auto meant = nearest(word, {names.begin(), names.end()});
  return fmt::format(
      "{}: there is no option {}.{}\n`{} --help` describes the options.\n", full_name(command),
      word, meant.empty() ? "" : fmt::format(" Did you mean {}?", meant), full_name(command));
}

/// What to say about a wrong command line: our own words about a command or an option that does not
/// exist, else those of the parser.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  const auto words = app.remaining(true);
  const auto option =
      std::ranges::find_if(words, [](const auto& word) { return word.starts_with("--"); });
  if (option != words.end()) return unknown_option(*chosen, option->substr(0, option->find('=')));
  const bool names_one = words.empty() || !words.front().starts_with('-');
  if (!chosen->get_subcommands(nullptr).empty() && names_one)
    return unknown_command(*chosen, words);
  return fmt::format("{}: {}\n`{} --help` describes it.\n", full_name(*chosen), error.what(),
                     full_name(*chosen));
}

fs::path default_state_dir() {
  if (const auto state = variable("XDG_STATE_HOME"); !state.empty())
    return fs::path(state) / "ratchet";
  if (const auto home = variable("HOME"); !home.empty())
    return fs::path(home) / ".local" / "state" / "ratchet";
  return fs::temp_directory_path() / fmt::format("ratchet-{}", ::getuid());
}

/// What an activated virtual environment holds, else what PATH says.
std::string default_python() {
  const fs::path own = fs::path(variable("VIRTUAL_ENV")) / "bin" / "python3";
  std::error_code failed;
  return own.is_absolute() && fs::exists(own, failed) ? own.string() : "python3";
}

void add_common(CLI::App& app, Options& options) {
  app.add_option("--state-dir", options.state_dir, "Ledger, build cache and calibration")
      ->capture_default_str();
  app.add_option("--data-dir", options.data_dir, "Problems, wiki index and adapters")
      ->capture_default_str();
  app.add_option("--root", options.roots,
                 "Folder whose files tools may read and write (repeatable)");
  app.add_option("--python", options.python,
                 "Interpreter of ref.py and .py kernels; default: of $VIRTUAL_ENV, else in PATH")
      ->envname("RATCHET_PYTHON")
      ->capture_default_str();
  app.add_option("--job-deadline", options.job_deadline_s,
                 "Time limit for one kernel call, in seconds")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_flag("--require-sandbox,!--no-require-sandbox", options.require_sandbox,
               "Run foreign code only where its files and system calls can be limited; "
               "default: as root and over HTTP");
  app.add_option("--toolsets", options.toolsets,
                 "Tools to offer: loop, kbs, analysis, search, memory, review; default all")
      ->delimiter(',')
      ->check(is_toolset);
  app.add_option("--lab", options.labs,
                 "NAME=COMMAND: another place to run kernels, e.g. 'gpu3=ssh gpu3 ratchet lab' "
                 "(repeatable)");
  app.add_option("--labs", options.labs_files, "File of labs (repeatable)")
      ->envname("RATCHET_LABS")
      ->type_name("FILE");
  app.add_flag("--json", options.json, "Print what the command answers as JSON");
  app.add_flag("!--no-builtin-kbs", options.builtin_kbs, "Do not load the bundled knowledge base");
  app.add_flag("!--no-kbs-links", options.kbs_links,
               "Do not rank the sources cited by a matching page higher");
}

void add_serve(CLI::App& app, Options& options) {
  auto* serve = app.add_subcommand("serve", "Serve MCP over stdio, or over HTTP with --http");
  add_serve_options(*serve, options.serve);
  serve
      ->add_option("--disk-quota", options.disk_quota,
                   "Most space of the state folder: above it builds that can be made again are "
                   "removed, then new ones are refused; 0: no limit; default 10G")
      ->envname("RATCHET_DISK_QUOTA")
      ->check(is_size);
}

/// What works with kernels as a client or a lab does.
void add_clients(CLI::App& app, Options& options) {
  auto* lab = app.add_subcommand(
      "lab", "Run kernels for a ratchet server at the other end of stdin and stdout");
  lab->add_option("--silence", options.silence_s,
                  "End after so many seconds without a sign of the server, which gives one every "
                  "five; default 180")
      ->check(CLI::Range(10, 86400));

  auto* call = app.add_subcommand("call", "Call one tool without a client");
  call->add_option("tool", options.tool, "Tool name")->required();
  call->add_option("arguments", options.arguments, "JSON object")->default_str("{}");

  auto* demo =
      app.add_subcommand("demo", "Drive a complete run through the server, as a client would");
  demo->add_option("--output", options.output_dir, "Folder for the artifacts");
  demo->add_option("--implementation", options.implementation,
                   "host-cpp, cuda-cpp, triton or host-python");

  auto* setup = app.add_subcommand(
      "setup", "Connect a client to this server: writes its configuration once the server answers");
  setup->add_option("client", options.client, "claude, codex, cursor, or vscode (this folder)")
      ->required();
  setup->add_option("--name", options.entry_name, "Name of the entry")->default_val("ratchet");
  auto* print = setup->add_flag("--print", options.print, "Only print the entry");
  setup->add_flag("--undo", options.undo, "Take out what setup put in")->excludes(print);
}

/// What reads or changes runs that there are.
void add_runs(CLI::App& app, Options& options) {
  auto* runs = app.add_subcommand("runs", "List the runs, newest first");
  runs->add_option("--limit", options.limit, "How many")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  auto* show =
      app.add_subcommand("show", "Show a run: its versions, the best one, what comes next");
  show->add_option("run", options.run, "Run id")->required();

  auto* budget = app.add_subcommand("budget", "Change how much a run may use of labs");
  budget->add_option("run", options.run, "Run id")->required();
  budget->add_option("--max-lab-seconds", options.max_lab_seconds, "Time that its calls hold labs")
      ->check(CLI::NonNegativeNumber);
  budget->add_option("--max-cost", options.max_cost, "What that costs, by the prices of the labs")
      ->check(CLI::NonNegativeNumber);

  auto* audit = app.add_subcommand("audit", "Verify chain, digests and renderings of runs");
  audit->add_option("run", options.run, "Run id; default: every run");
  audit->add_option("--against", options.against,
                    "A head of the ledger kept earlier, which shows a rollback (repeatable); "
                    "-: take all heads in the text on stdin, such as a log");
  app.add_subcommand("head", "Print the head of the ledger, to keep for audit --against");

  auto* foreign = app.add_subcommand(
      "import", "Report what the results of another workflow prove, and what they only claim");
  foreign->add_option("folder", options.tree, "Contains v0/, state.json or memory/")->required();
}

void add_upkeep(CLI::App& app, Options& options) {
  auto* gc = app.add_subcommand(
      "gc", "Remove what can be made again from the state folder, never what is evidence");
  gc->add_flag("--dry-run", options.dry_run, "Only say what would be removed");
  gc->add_option("--quota", options.disk_quota,
                 "Remove only until the state folder takes at most this: 512M, 10G")
      ->check(is_size);

  auto* docs = app.add_subcommand("docs", "Check the generated files, or with --write update them");
  docs->add_flag("--write", options.write, "Update files that differ");
  docs->add_option("--repository", options.repository, "Root of the source tree")->default_str(".");

  app.add_subcommand("doctor", "Report what this machine supports");
}

void add_kbs(CLI::App& app, Options& options) {
  auto* kbs = app.add_subcommand("kbs", "Add to, check and search the knowledge base");
  kbs->require_subcommand(1);
  const auto action = [&](const std::string& name, const std::string& what) {
    auto* one = kbs->add_subcommand(name, what);
    one->callback([&options, name] { options.kbs_action = name; });
    return one;
  };
  auto* add = action("add", "Index a folder of pages, or update its index");
  add->add_option("folder", options.kbs_folder, "Contains pages, or a folder knowledge/ with pages")
      ->required();
  add->add_option("--name", options.kbs_name, "Name of the corpus; default: the folder's name");
  add->add_option("--license", options.kbs_license, "License of pages that do not state one");
  const auto with_subject = [&](CLI::App* one, const std::string& name, const std::string& what) {
    one->add_option(name, options.kbs_subject, what)->required();
  };
  with_subject(action("remove", "Remove an added corpus"), "corpus", "Name of the corpus");
  action("stats", "Report what is indexed");
  action("doctor", "Check the integrity of the indexes");
  with_subject(action("query", "Search, as query_kbs does"), "words", "Query, in quotes");
  with_subject(action("get", "Print a page, as get_kbs_page does"), "id", "Page id");
  with_subject(action("grep", "Find a pattern, as grep_kbs does"), "pattern",
               "Pattern in RE2 syntax");
}

void add_problem(CLI::App& app, Options& options) {
  auto* problem = app.add_subcommand("problem", "Import, list and try problems for create_run");
  problem->require_subcommand(1);
  const auto action = [&](const std::string& name, const std::string& what) {
    auto* one = problem->add_subcommand(name, what);
    one->callback([&options, name] { options.problem_action = name; });
    return one;
  };
  auto* import = action("import", "Make a folder of a problem of another suite");
  import->add_option("path", options.problem, "File or folder of one problem")->required();
  import->add_option("--output", options.output_dir, "New folder; default: problems/<its name>");
  import->add_option("--format", options.problem_format, "Default: recognized");
  import->add_option("--scale", options.problem_scale,
                     "Most memory of all buffers, such as 4G, or none; default: what this device "
                     "can judge");
  action("list", "List the shipped problems and those in this folder");
  action("show", "Print a problem")
      ->add_option("problem", options.problem, "Name or folder")
      ->required();
  action("check", "Try a problem's reference, and judge the kernel that it brings")
      ->add_option("problem", options.problem, "Name or folder")
      ->required();
}

/// A person's own command line says itself where the problem lies, and where its copy goes.
void add_named_folders(Options& options) {
  std::error_code failed;
  const auto add = [&](const fs::path& folder) {
    if (folder != folder.root_path() && fs::is_directory(folder, failed))
      options.roots.push_back(folder);
  };
  const auto problem = fs::absolute(options.problem, failed);
  add(fs::is_directory(problem, failed) ? problem : problem.parent_path());
  if (!options.output_dir.empty()) add(fs::absolute(options.output_dir, failed).parent_path());
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  options.state_dir = default_state_dir();
  options.worker_dir = program_folder();
  options.python = default_python();
  options.data_dir = program_folder().parent_path() / "share" / "ratchet";
  CLI::App app("ratchet: the tool server for agents that optimize compute kernels", "ratchet");
  app.set_version_flag("--version",
                       fmt::format("ratchet {}\nbuilt with {}, cpp-httplib {}", RATCHET_VERSION,
                                   RATCHET_LIBRARIES, mcp::http_library_version()),
                       "Print the versions of ratchet and its libraries");
  app.footer("Exit status: 0 done; 1 refused, failed or not intact; 2 a wrong command line.");
  app.require_subcommand(1);
  app.fallthrough();
  add_common(app, options);
  add_serve(app, options);
  add_clients(app, options);
  add_runs(app, options);
  add_upkeep(app, options);
  add_kbs(app, options);
  add_problem(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;  // --help and --version come as errors, too
    const bool asked = app.exit(error, out, out) == 0;
    if (asked && app.remaining(true).empty()) return {std::nullopt, {0, out.str()}};
    return {std::nullopt, {2, complaint(app, error)}};
  }
  const auto* chosen = app.get_subcommands().at(0);
  options.command = chosen->get_name();
  options.roots_given = !options.roots.empty();
  options.state_dir_given = app.count("--state-dir") > 0;
  if (!options.roots_given) options.roots.push_back(fs::current_path());
  if (options.problem_action == "import") add_named_folders(options);
  if (options.arguments.empty()) options.arguments = "{}";
  if (options.repository.empty()) options.repository = ".";
  return {options, {}};
}

}  // namespace ratchet

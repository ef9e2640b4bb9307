#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/serve.h"

namespace ratchet {

/// The options of the command line, with their defaults, for all subcommands.
struct Options {
  std::string command;  ///< serve, lab, call, demo, runs, show, kbs, problem, setup, audit, head, …

  std::filesystem::path state_dir;           ///< ledger, build cache, calibration
  std::filesystem::path data_dir;            ///< problems, wiki index, adapters
  std::filesystem::path worker_dir;          ///< the worker programs
  std::vector<std::filesystem::path> roots;  ///< folders whose files tools may read and write
  bool roots_given = false;                  ///< by the user; else it is the current folder
  std::string python = "python3";
  int job_deadline_s = 60;              ///< for one call of a kernel or reference
  std::optional<bool> require_sandbox;  ///< empty: as root, and over HTTP
  bool builtin_kbs = true;
  bool kbs_links = true;
  std::vector<std::string> toolsets;              ///< empty: all
  std::vector<std::string> labs;                  ///< serve, call, demo: NAME=COMMAND
  std::vector<std::filesystem::path> labs_files;  ///< the same: files of labs

  ServeOptions serve;      ///< serve
  std::string disk_quota;  ///< serve: as `parse_size` takes it; gc: empty for none
  bool dry_run = false;    ///< gc

  std::string tool;       ///< call
  std::string arguments;  ///< call: JSON
  bool json = false;      ///< print structured content
  int limit = 20;         ///< runs: how many

  std::string run;                   ///< show, budget, audit; for audit empty: every run
  std::vector<std::string> against;  ///< audit: heads that were kept; "-": read them from stdin
  std::filesystem::path tree;        ///< import
  std::filesystem::path repository;  ///< docs
  bool write = false;                ///< docs
  std::filesystem::path output_dir;  ///< demo
  std::string implementation;        ///< demo: host-cpp, cuda-cpp, triton or host-python

  std::optional<double> max_lab_seconds, max_cost;  ///< budget
  std::optional<int> silence_s;                     ///< lab

  std::string client;            ///< setup: claude, codex, cursor or vscode
  std::string entry_name;        ///< setup
  bool print = false;            ///< setup: the entry, and change nothing
  bool undo = false;             ///< setup
  bool state_dir_given = false;  ///< by the user

  std::string kbs_action;            ///< kbs: add, remove, stats, doctor, query, get or grep
  std::string kbs_subject;           ///< kbs: folder, corpus, words, id or pattern
  std::filesystem::path kbs_folder;  ///< kbs add
  std::string kbs_name;              ///< kbs add: of the corpus; empty: the folder's
  std::string kbs_license;           ///< kbs add: of pages that state none

  std::string problem_action;  ///< problem: import, list, show or check
  std::string problem;         ///< problem: a file or folder, or a shipped problem's name
  std::string problem_format;  ///< problem import: empty: recognized
  std::string problem_scale;   ///< problem import: most memory of all buffers, or none
};

/// The text to print instead of running a command, with the exit status (0 for --help and
/// --version).
struct Usage {
  int code = 0;
  std::string text;
};
struct ParsedOptions {
  std::optional<Options> options;
  Usage usage;
};
[[nodiscard]] ParsedOptions parse_options(int argc, char** argv);

}  // namespace ratchet

#pragma once

// The import of a problem that another suite wrote.

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Files that say what a folder is a problem of, and that are none by themselves.
inline constexpr std::array kProblemMarks{"config_backward.json", "config_forward.json", "def.py",
                                          "definition.json",      "shapes.json",         "task.yml",
                                          "workload.jsonl"};

/// Whether who names this file names the problem that is its folder.
inline bool marks_problem(const std::filesystem::path& file) {
  return std::ranges::find(kProblemMarks, file.filename().string()) != kProblemMarks.end();
}

/// What an import reads and where it goes.
struct ProblemImport {
  std::string name;                          ///< of what was read: a file or folder
  std::map<std::string, std::string> files;  ///< texts by name; "../name": beside the folder
  std::string license;                       ///< file and first line, as found; empty: none
  std::string place;  ///< of a file in a checkout that has `figures`: its path there
  std::map<std::string, std::string> figures;  ///< texts with the suite's own times, by path there
  std::vector<std::string> left_out;           ///< such files that were not read, and why
  /// Files with recorded inputs, in base64, by the path that the problem gives; why others were not
  /// read.
  std::map<std::string, std::string> recorded, unread;
  std::string format;           ///< empty: recognized
  std::int64_t most_bytes = 0;  ///< that all buffers of a case may take
  bool scale = true;            ///< reduce sizes where they take more
  std::string folder;           ///< an absolute path; must be new or empty
};

/// What an import made. Its title and what differs are in words of the suite.
struct ImportedProblem {
  static constexpr std::string_view kOrigin = "imported problem";
  std::string folder;
  std::string format;
  std::string title;
  std::string call;
  int cases = 1;
  int tensors = 0;
  std::int64_t bytes = 0;
  bool kernel = false;
  std::vector<std::string> differences;

  static constexpr void fields(auto&& visit) {
    using I = ImportedProblem;
    visit(required<&I::folder>("For create_run's problem."), required<&I::format>(),
          required<&I::title>(), required<&I::call>("Call style of kernels."),
          required<&I::cases>(), required<&I::tensors>(),
          required<&I::bytes>("Of all buffers of the first case."),
          required<&I::kernel>("Whether it brings a v0."),
          required<&I::differences>("From the suite: scaled sizes and the like."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ImportedProblem>();
}  // namespace ratchet::fields_detail

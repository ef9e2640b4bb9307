#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"

namespace ratchet::kbs {

/// One line of a JSONL file.
struct Record {
  std::string id, title, body, repo, date, license;
  bool is_pull_request = false;  ///< has a `number`
  std::vector<std::string> labels, changed_files;
  std::string place;   ///< file:line
  std::string digest;  ///< SHA-256 of the line
};

/// Reads records line by line. Invalid lines are skipped and reported to `on_problem` with their
/// place.
void read_records(std::string_view text, std::string_view file,
                  const std::function<void(Record)>& on_record,
                  const std::function<void(Problem)>& on_problem);

/// Adds a record's text to the page with the same id.
void join_record(Document& page, Record record);

/// Makes a document from a record that has no page.
[[nodiscard]] Document document_of(Record record);

}  // namespace ratchet::kbs

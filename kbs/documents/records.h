#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/documents/document.h"

namespace ratchet::kbs {

/// One line of a JSONL file: `id`, `title`, `body`, and what else it states.
struct Record {
  std::string id, title, body, repo, date, license;
  bool is_pull_request = false;  ///< has a `number`
  std::vector<std::string> labels, changed_files;
  std::string place;   ///< file:line
  std::string digest;  ///< of the line
};

/// Reads records line by line; bad lines go to `on_problem` with their place and are skipped.
void read_records(std::string_view text, std::string_view file,
                  const std::function<void(Record)>& on_record,
                  const std::function<void(Problem)>& on_problem);

/// Adds the record's text to the page of the same id.
void join_record(Document& page, Record record);

/// A document of its own for a record without a page.
[[nodiscard]] Document document_of(Record record);

}  // namespace ratchet::kbs

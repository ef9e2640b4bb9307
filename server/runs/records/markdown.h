#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/findings.h"

namespace ratchet::markdown {

/// The text on one line: each run of white space becomes one blank. Prose can then never look like
/// a heading of its artifact.
[[nodiscard]] std::string one_line(std::string_view text);

/// One table cell: on one line, pipes escaped.
[[nodiscard]] std::string cell(std::string_view text);

/// A table with a header; short rows are padded with empty cells.
[[nodiscard]] std::string table(const std::vector<std::string>& header,
                                const std::vector<std::vector<std::string>>& rows);

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A table with the columns Field and Value.
[[nodiscard]] std::string field_table(const Fields& fields);

/// "- Name: value" lines.
[[nodiscard]] std::string bullets(const Fields& fields);

/// "- code: message" lines; `none` if there are no reasons.
[[nodiscard]] std::string reasons(const std::vector<Reason>& reasons,
                                  std::string_view none = "None.\n");

/// Appends an item to a list in one line.
void append(std::string& list, std::string_view item, std::string_view separator = ", ");

/// Every line as a block quotation, so that a heading in it is not one of the artifact.
[[nodiscard]] std::string quoted(std::string_view text);

/// Nanoseconds as milliseconds, with six significant digits.
[[nodiscard]] std::string milliseconds(double ns);
[[nodiscard]] std::string number(double value);

/// The number, or `none`.
[[nodiscard]] std::string number_or(const std::optional<double>& value, std::string_view none);

/// A fraction in percent, without the sign; "N/A" if empty.
[[nodiscard]] std::string percent(const std::optional<double>& fraction);

/// JSON text; invalid UTF-8 is replaced instead of failing.
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

/// The value of a JSON text; discarded (`is_discarded`) if it is not JSON.
[[nodiscard]] Json parsed_json(std::string_view text);

/// "m=64, n=128", or "-" when there are none.
[[nodiscard]] std::string dims_text(const std::map<std::string, std::int64_t>& dims);

}  // namespace ratchet::markdown

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

/// A table with a header; rows shorter than the header are filled up.
[[nodiscard]] std::string table(const std::vector<std::string>& header,
                                const std::vector<std::vector<std::string>>& rows);

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Two columns, Field and Value.
[[nodiscard]] std::string field_table(const Fields& fields);

/// "- Name: value" lines.
[[nodiscard]] std::string bullets(const Fields& fields);

/// "- code: message" lines; `none` when there are none.
[[nodiscard]] std::string reasons(const std::vector<Reason>& reasons,
                                  std::string_view none = "None.\n");

/// Appends an item to a list in one line.
void append(std::string& list, std::string_view item, std::string_view separator = ", ");

/// Every line as a quotation, so that headings in it are none of ours.
[[nodiscard]] std::string quoted(std::string_view text);

/// Milliseconds from nanoseconds, six significant digits.
[[nodiscard]] std::string milliseconds(double ns);
[[nodiscard]] std::string number(double value);

/// `none` when there is no value.
[[nodiscard]] std::string number_or(const std::optional<double>& value, std::string_view none);

/// A fraction in per cent, without the sign; "N/A" when there is none.
[[nodiscard]] std::string percent(const std::optional<double>& fraction);

/// JSON text; bytes that are no UTF-8 are replaced, never fatal.
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

/// The value of a JSON text; discarded (`is_discarded`) if it is not JSON.
[[nodiscard]] Json parsed_json(std::string_view text);

/// "m=64, n=128", or "-" when there are none.
[[nodiscard]] std::string dims_text(const std::map<std::string, std::int64_t>& dims);

}  // namespace ratchet::markdown

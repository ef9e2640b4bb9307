#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/fields.h"

namespace ratchet::markdown {

/// Text on one line: line breaks and runs of blanks become one blank. So prose can never look like
/// a heading of the artifact it stands in.
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

/// "m=64, n=128", or "-" when there are none.
[[nodiscard]] std::string dims_text(const std::map<std::string, std::int64_t>& dims);

}  // namespace ratchet::markdown

#pragma once

#include <string_view>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// Relations between the sizes of a task, so that sizes which the server draws make sense:
// "nnz <= m*n", "last == rows - 1", "heads % groups == 0". Each is two expressions (expression.h)
// with one of <= < == != > >= between them. Pure.

/// What expressions of a contract may name: the dims of a case and the scalars that are whole
/// numbers.
[[nodiscard]] Dims names_in(const Contract& contract, const Dims& dims);

/// Whether a relation holds. Errors: `invalid_argument` naming the relation and what is wrong with
/// it: no comparison, unknown name, syntax.
[[nodiscard]] Result<bool> holds(std::string_view relation, const Dims& names);

/// Whether all relations of the contract hold for these dims.
[[nodiscard]] bool keeps_relations(const Contract& contract, const Dims& dims);

/// The dims with sizes changed so that more relations hold: a size that stands alone on one side
/// becomes what the other side allows, and `a % b == c` moves `a` down to the next such size.
/// Others stay. The result may still break a relation: ask `keeps_relations`.
[[nodiscard]] Dims mended(const Contract& contract, Dims dims);

}  // namespace ratchet

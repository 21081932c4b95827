#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/numerics.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {

// Returns the SQNR as text: "17.4", or "same" for equal tensors.
std::string db_text(double db);
// Returns the SQNR as text, or "-" if `figures` is unset.
std::string db_text(const std::optional<TensorDifference>& figures);

// Returns "int8" for a value that the delegate stored quantized. Otherwise, returns the value's
// dtype.
std::string stored_text(const NumericsRow& row);

// Returns the name of the op, with "[1]" for the second of several results.
std::string op_text(const NumericsRow& row, const RowTexts& texts);

bool has_measured_operator(const Numerics& numerics);

// Returns the number, the op and the module of the row: "#6 convolution +4 c1" for a convolution in
// module c1 with 4 folded ops.
std::string row_name(const NumericsRow& row, const RowTexts& texts);

// Groups rows by the reason why their own error (made_here) is missing. Rows are indices in
// Numerics::rows.
std::vector<std::pair<std::string, std::vector<size_t>>> rows_without_figures(
    const Numerics& numerics);

}  // namespace vitrine::inspector

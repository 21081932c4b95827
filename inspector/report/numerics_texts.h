// Texts for the errors of a program's operators in reports.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/numerics.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {

// "17.4", or "same" for equal tensors.
std::string db_text(double db);
// "-" without figures.
std::string db_text(const std::optional<TensorDifference>& figures);

// "int8" for a value that the delegate stored quantized, else its dtype.
std::string stored_text(const NumericsRow& row);

// The op, with "[1]" for the second of several results.
std::string op_text(const NumericsRow& row, const RowTexts& texts);

// "#6 convolution +4 c1"
std::string row_name(const NumericsRow& row, const RowTexts& texts);

// Groups the rows (indices in Numerics::rows) without an error made here by reason.
std::vector<std::pair<std::string, std::vector<size_t>>> rows_without_figures(
    const Numerics& numerics);

}  // namespace vitrine::inspector

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/advise/context.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

struct RowSum {
  std::vector<size_t> numbers;  // rows, from 1
  double ns = 0;                // time per run
  double calls = 0;             // number of calls per run
};

RowSum sum_rows(const Context& context,
                const std::function<bool(const inspector::ProfileRow&)>& counts);

// Describes rows: "rows 3, 9, 14 and 2 more take 1.6 ms (19 %)".
std::string rows_text(const Context& context, const RowSum& rows);

// These functions format a time as "1.4 ms" and a size as "12 kB".
std::string time_text(double ns);
std::string bytes_text(double bytes);

// Returns the row's op without namespace and overload: "convolution". Empty if unknown.
std::string op_of(const inspector::ProfileRow& row);
// Returns the row's op for --exclude-op: "aten.convolution.default". Empty if unknown.
std::string full_op_of(const inspector::ProfileRow& row);

// Returns an operator's time in an XNNPACK delegate divided by its time in Vitrine's optimized
// kernel, as an interval (docs/performance.md, "Operators").
Interval delegate_ratio(const std::string& op);

// Predicts the saving of delegating these rows, based on delegate_ratio().
Interval saved_by_delegating(const Context& context, const RowSum& rows);

}  // namespace vitrine::tools

// Functions that rules use to sum and describe the rows of a profile.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/advise/context.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

struct RowSum {
  std::vector<size_t> numbers;  // of rows, from 1
  double ns = 0;                // per run
  double calls = 0;             // per run
};

RowSum sum_rows(const Context& context,
                const std::function<bool(const inspector::ProfileRow&)>& counts);

// Returns a text such as "rows 3, 9, 14 and 2 more take 1.6 ms (19 %)".
std::string rows_text(const Context& context, const RowSum& rows);

// These functions return texts such as "1.4 ms" and "12 kB".
std::string time_text(double ns);
std::string bytes_text(double bytes);

// The name of the op that a row runs, without namespace and overload: "convolution". Empty if it is
// unknown.
std::string op_of(const inspector::ProfileRow& row);
// The full name of the op that a row runs, in the form that --exclude-op accepts:
// "aten.convolution.default". Empty if it is unknown.
std::string full_op_of(const inspector::ProfileRow& row);

// Returns an operator's time inside an XNNPACK delegate, divided by its time in Vitrine's optimized
// kernel. The result is an interval (docs/performance.md, "Operators").
Interval delegate_ratio(const std::string& op);

// Uses delegate_ratio() to predict the time that is saved if these rows are delegated.
Interval saved_by_delegating(const Context& context, const RowSum& rows);

}  // namespace vitrine::tools

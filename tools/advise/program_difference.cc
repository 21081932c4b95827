#include "tools/advise/program_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "inspector/report/row_texts.h"
#include "tools/advise/rows.h"

namespace vitrine::tools {
namespace {

constexpr double kSameWork = 1e-3;  // relative; texts of numbers are rounded

// Returns all rows except inserted layout changes, which depend on the processor.
std::vector<const inspector::ProfileRow*> compared_rows(const inspector::Profile& profile) {
  std::vector<const inspector::ProfileRow*> rows;
  for (const inspector::ProfileRow& row : profile.rows) {
    if (!row.is_inserted) rows.push_back(&row);
  }
  return rows;
}

// Drops the kernel's variant, which depends on the processor.
std::string name_of(const inspector::ProfileRow& row, bool has_ops) {
  if (row.where == inspector::Where::kKernel) return row.kernel;
  if (has_ops) return full_op_of(row);
  return row.kernel.substr(0, row.kernel.find(" ("));
}

// Returns a row's operations plus its bytes, or nullopt if the cost is unknown.
std::optional<double> work_of(const inspector::ProfileRow& row) {
  return row.cost ? std::optional(row.cost->flops + row.cost->bytes) : std::nullopt;
}

}  // namespace

std::string program_difference(const inspector::Profile& device, const inspector::Profile& here) {
  if (!here.run.model_digest.empty() && device.run.model_digest == here.run.model_digest) return "";
  const auto differ = [](std::string_view what, const std::string& a, const std::string& b) {
    return fmt::format("{} {} on the device, but {} here", what, a.empty() ? "none" : a,
                       b.empty() ? "none" : b);
  };
  if (device.method != here.method) return differ("the method is", device.method, here.method);
  using Texts = std::vector<std::string>;
  for (const auto& [what, a, b] : {std::tuple<const char*, const Texts*, const Texts*>{
                                       "the inputs are", &device.run.inputs, &here.run.inputs},
                                   {"the outputs are", &device.run.outputs, &here.run.outputs}}) {
    if (*a != *b) {
      return differ(what, fmt::format("{}", fmt::join(*a, ", ")),
                    fmt::format("{}", fmt::join(*b, ", ")));
    }
  }
  const auto a = compared_rows(device), b = compared_rows(here);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool has_ops = !a[i]->source_ops.empty() && !b[i]->source_ops.empty();
    const std::string name = name_of(*a[i], has_ops), other = name_of(*b[i], has_ops);
    if (a[i]->where == b[i]->where && name == other) {
      const std::optional<double> work = work_of(*a[i]), other_work = work_of(*b[i]);
      if (!work || !other_work || std::abs(*work - *other_work) <= kSameWork * *other_work)
        continue;
      return differ(fmt::format("operations and bytes of row {} ({}) are",
                                a[i] - device.rows.data() + 1, name),
                    fmt::format("{:.4g}", *work), fmt::format("{:.4g}", *other_work));
    }
    return differ(fmt::format("row {} is", a[i] - device.rows.data() + 1),
                  fmt::format("{} ({})", name, inspector::where_name(a[i]->where)),
                  fmt::format("{} ({})", other, inspector::where_name(b[i]->where)));
  }
  if (a.size() != b.size()) {
    return differ("the number of rows is", std::to_string(a.size()), std::to_string(b.size()));
  }
  return "";
}

}  // namespace vitrine::tools

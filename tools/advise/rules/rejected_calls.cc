// Finds calls that a backend refused, and suggests changes to the model.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "aot/lowering/explain.h"
#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

struct RejectedCalls {
  std::string op;
  std::string rule;
  std::string remedy;
  std::set<uint32_t> handles;
  size_t calls = 0;
};

std::vector<RejectedCalls> rejected_calls(const aot::LoweredModel& lowered,
                                          const std::string& method) {
  std::vector<RejectedCalls> all;
  const auto found = lowered.rejections.find(method);
  if (found == lowered.rejections.end()) return all;
  for (const aot::Rejection& rejection : found->second) {
    if (rejection.node == nullptr || !rejection.node->is_call()) continue;
    // The half_precision rule tries enable_bf16.
    if (rejection.remedy.find("enable_bf16") != std::string::npos) continue;
    const std::string op = rejection.node->target().name();
    auto same = std::ranges::find_if(all, [&](const RejectedCalls& calls) {
      return calls.op == op && calls.remedy == rejection.remedy &&
             (!calls.remedy.empty() || calls.rule == rejection.rule);
    });
    if (same == all.end()) same = all.insert(same, {op, rejection.rule, rejection.remedy, {}, 0});
    same->handles.insert(rejection.node->meta.debug_handle);
    ++same->calls;
  }
  return all;
}

std::string short_op(const std::string& op) {
  const size_t start = op.find('.') + 1;
  return op.substr(start, op.find('.', start) - start);
}

// Lists the source lines of rows: "model.py:28, model.py:40".
std::string lines_of(const Context& context, const RowSum& rows) {
  constexpr size_t kShown = 3;
  std::vector<std::string> lines;
  for (const size_t number : rows.numbers) {
    const inspector::ProfileRow& row = context.profile.rows[number - 1];
    if (row.main_op >= row.model_lines.size() || row.model_lines[row.main_op].empty()) continue;
    std::string line = row.model_lines[row.main_op];
    line = line.substr(line.rfind('/') + 1);
    if (std::ranges::count(lines, line) == 0) lines.push_back(line);
  }
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + lines[i];
  }
  if (lines.size() > kShown) text += fmt::format(" and {} more lines", lines.size() - kShown);
  return text;
}

// Without the exported model, the reasons for the rejections are unknown.
std::vector<Advice> without_reasons(const Context& context) {
  constexpr double kMinShareOfAll = 0.1;
  std::map<std::string, double> times;
  const RowSum rows = sum_rows(context, [&](const inspector::ProfileRow& row) {
    if (row.where != inspector::Where::kKernel) return false;
    times[row.kernel.substr(0, row.kernel.find('.'))] += time_of(context, row);
    return true;
  });
  if (rows.ns < kMinShareOfAll * context.wall_ns()) return {};
  std::vector<std::pair<std::string, double>> kernels(times.begin(), times.end());
  std::ranges::sort(kernels, std::greater(), &std::pair<std::string, double>::second);
  constexpr size_t kShown = 5;
  if (kernels.size() > kShown) kernels.resize(kShown);
  std::string why = rows_text(context, rows);
  for (const auto& [kernel, ns] : kernels) {
    why +=
        fmt::format("{} {} ({:.0f} %)", &kernel == &kernels.front().first ? ", most of it in" : ",",
                    kernel, 100 * ns / context.wall_ns());
  }
  return {{.name = "outside_delegates",
           .what = "operators outside delegates",
           .why = why,
           .rows = rows.numbers,
           .how = "pass --source MODEL.pt2 to get the reasons and to try changes",
           .saved = Interval{0, rows.ns},
           .method = "upper limit: the time of these rows",
           .confidence = Confidence::kModeled}};
}

}  // namespace

std::vector<Advice> advise_rejected_calls(const Context& context) {
  constexpr double kMinShare = 0.03;
  std::vector<Advice> all;
  std::vector<std::pair<double, std::string>> unknown;  // calls without a remedy, with their times
  if (!context.is_delegated()) return all;
  if (context.lowered == nullptr) return without_reasons(context);
  for (const RejectedCalls& calls : rejected_calls(*context.lowered, context.method)) {
    const std::string kernel = "::" + short_op(calls.op) + ".";
    // All calls into which lowering splits one call have the same debug handle. Therefore, the
    // kernel's name must match too.
    const RowSum rows = sum_rows(context, [&](const inspector::ProfileRow& row) {
      return row.where == inspector::Where::kKernel &&
             row.kernel.find(kernel) != std::string::npos &&
             std::ranges::any_of(row.debug_handles,
                                 [&](uint32_t handle) { return calls.handles.contains(handle); });
    });
    if (rows.ns < kMinShare * context.wall_ns()) continue;
    if (calls.remedy.empty()) {
      unknown.emplace_back(rows.ns, fmt::format("{} x{} ({:.0f} %)", short_op(calls.op),
                                                calls.calls, 100 * rows.ns / context.wall_ns()));
      continue;
    }
    const std::string lines = lines_of(context, rows);
    std::string name = "delegate_" + short_op(calls.op);
    const auto same = std::ranges::count_if(
        all, [&](const Advice& advice) { return advice.name.starts_with(name); });
    if (same != 0) name += fmt::format("_{}", same + 1);
    all.push_back({.name = name,
                   .what = fmt::format("{} x{} runs outside delegates: {}", short_op(calls.op),
                                       calls.calls, calls.rule),
                   .why = rows_text(context, rows),
                   .rows = rows.numbers,
                   .how = (lines.empty() ? "" : lines + ": ") + calls.remedy,
                   .saved = saved_by_delegating(context, rows),
                   .method = "measured ratios of kernels and delegates, by operator",
                   .confidence = Confidence::kModeled});
  }
  if (unknown.empty()) return all;
  std::ranges::sort(unknown, std::greater(), &std::pair<double, std::string>::first);
  std::string why;
  for (const auto& [ns, text] : unknown) why += (why.empty() ? "" : ", ") + text;
  all.push_back({.name = "outside_delegates",
                 .why = why + ": the backend does not support them, and Vitrine knows no "
                              "supported replacement"});
  return all;
}

}  // namespace vitrine::tools

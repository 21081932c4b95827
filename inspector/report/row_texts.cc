#include "inspector/report/row_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/text/text_layout.h"
#include "inspector/join/op_names.h"

namespace vitrine::inspector {
namespace {

std::string delegate_name(const ProfileRow& row) {
  const std::string& name = row.delegate_name.empty() ? row.delegate : row.delegate_name;
  return name.empty() ? "delegate" : printable(name);
}

// Shortens a backend's id: "SomeFancyBackend" -> "SomeFanc".
std::string short_delegate_name(const ProfileRow& row) {
  constexpr std::string_view kSuffix = "Backend";
  constexpr size_t kMaxWidth = 8;
  if (!row.delegate_short_name.empty()) return printable(row.delegate_short_name);
  if (row.delegate.empty()) return "delegate";
  std::string_view name = row.delegate;
  if (name.ends_with(kSuffix) && name.size() > kSuffix.size()) {
    name.remove_suffix(kSuffix.size());
  }
  return cut_right(printable(name), kMaxWidth);
}

// Returns the short names of the ops, with a count of consecutive repeats: {"quantize", "dequantize
// x3"}.
std::vector<std::string> short_names(const std::vector<std::string>& ops) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ops.size();) {
    const std::string name = printable(short_name(ops[i]));
    size_t count = 1;
    while (i + count < ops.size() && printable(short_name(ops[i + count])) == name) ++count;
    names.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
    i += count;
  }
  return names;
}

std::string inserted_text(const ProfileRow& row, std::string_view what) {
  if (!row.inserted_for_row.has_value()) return std::string(what);
  return fmt::format("{} for #{}", what, *row.inserted_for_row);
}

// Removes the number that some delegates append to a kernel's name: "Convolution (NHWC, F32) IGEMM
// #3".
std::string without_number(std::string_view kernel) {
  const size_t mark = kernel.rfind(" #");
  if (mark == std::string_view::npos || mark == 0 || mark + 2 == kernel.size()) {
    return std::string(kernel);
  }
  const bool is_number = kernel.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
  return std::string(is_number ? kernel.substr(0, mark) : kernel);
}

// Returns the short name of a row's kernel. For kernels outside of delegates, this is the name
// without its namespace: "add.out".
std::string short_kernel_name(const ProfileRow& row) {
  if (!row.short_kernel.empty()) return printable(row.short_kernel);
  const size_t colons = row.kernel.find("::");
  if (row.where != Where::kKernel || colons == std::string::npos) return printable(row.kernel);
  return printable(std::string_view(row.kernel).substr(colons + 2));
}

}  // namespace

std::string module_of(const ProfileRow& row) {
  std::string own = common_path(row.modules);
  std::vector<std::string> all = row.modules;
  all.insert(all.end(), row.folded_modules.begin(), row.folded_modules.end());
  std::string common = common_path(all);
  if (own.empty()) return common;
  const size_t dot = own.rfind('.');
  const size_t parent = dot == std::string::npos ? own.size() : dot;
  return common.size() < parent ? own : common;
}

std::string common_path(const std::vector<std::string>& paths) {
  std::string common;
  bool is_first = true;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (is_first) {
      common = path;
      is_first = false;
      continue;
    }
    const auto differ = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
    const auto same = static_cast<size_t>(differ.first - common.begin());
    const bool ends_both = (same == common.size() || common[same] == '.') &&
                           (same == path.size() || path[same] == '.');
    if (ends_both) {
      common.resize(same);
    } else {
      const size_t dot = same == 0 ? std::string::npos : common.rfind('.', same - 1);
      common.resize(dot == std::string::npos ? 0 : dot);
    }
  }
  return common;
}

RowTexts row_texts(const ProfileRow& row) {
  RowTexts texts;
  texts.kernel = printable(row.kernel);
  texts.short_kernel = short_kernel_name(row);
  switch (row.where) {
    case Where::kDelegate:
      texts.place = fmt::format("{} {}", short_delegate_name(row), row.partition);
      break;
    case Where::kKernel:
      texts.place = row.library.empty() ? "kernel" : printable(row.library);
      break;
    case Where::kControl:
      texts.place = "control";
      break;
  }
  if (row.is_inserted) {
    texts.op = inserted_text(row, "layout change");
    texts.short_op = inserted_text(row, "layout");
    return texts;
  }
  if (!row.phase.empty()) {
    const std::string phase = printable(row.phase);
    texts.op = texts.short_op = phase;
    if (row.has_all_ops_of_call && !row.source_ops.empty()) {
      texts.op += " for " + counted(row.source_ops.size(), "op");
    }
    texts.module = printable(common_path(row.modules));
    return texts;
  }
  if (row.has_all_ops_of_call) {
    texts.op = fmt::format("one of {} ops", row.source_ops.size());
    texts.short_op = texts.op;
    texts.module = printable(common_path(row.modules));
    return texts;
  }
  const std::vector<std::string> own = short_names(row.source_ops);
  const std::vector<std::string> folded = short_names(row.folded_ops);
  texts.op = fmt::format("{}", fmt::join(own, ", "));
  for (const std::string& name : folded) texts.op += " + " + name;
  if (own.empty()) {
    texts.op = row.where == Where::kControl ? texts.kernel : "?";
    if (row.where == Where::kControl) texts.kernel = texts.short_kernel = "";
  }
  texts.short_op = own.empty() ? texts.op : printable(short_name(row.source_ops[row.main_op]));
  if (row.source_ops.size() > 1) texts.short_op += fmt::format(" (of {})", row.source_ops.size());
  if (!row.folded_ops.empty()) texts.short_op += fmt::format(" +{}", row.folded_ops.size());
  texts.module = printable(module_of(row));
  return texts;
}

Unit row_unit(const Profile& profile) {
  const double wall = profile.typical(profile.wall);
  return profile.has_ticks ? unit_for_ticks(wall) : unit_for_rows(wall);
}

Unit figure_unit(const Profile& profile, double value) {
  return profile.has_ticks ? unit_for_ticks(value) : unit_for(value);
}

std::string op_type(const ProfileRow& row) {
  if (row.is_inserted) return "layout change";
  if (row.where == Where::kControl) return "control flow";
  if (!row.phase.empty()) return printable(row.phase);
  if (row.has_all_ops_of_call) return printable(without_number(row.kernel));
  return row.source_ops.empty() ? "unknown" : printable(short_name(row.source_ops[row.main_op]));
}

const char* where_name(Where where) {
  constexpr const char* kNames[] = {"delegate", "kernel", "control"};
  return kNames[static_cast<size_t>(where)];
}

std::string place_type(const ProfileRow& row) {
  switch (row.where) {
    case Where::kDelegate:
      return delegate_name(row);
    case Where::kKernel:
      return row.library.empty() ? "kernels" : fmt::format("{} kernels", printable(row.library));
    case Where::kControl:
      return "control flow";
  }
  return "";
}

}  // namespace vitrine::inspector

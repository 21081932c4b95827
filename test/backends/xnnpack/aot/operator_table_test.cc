// Compares the operator table with ExecuTorch's configurations and with docs/xnnpack.md.
#include "backends/xnnpack/aot/operator_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support/read_text.h"

namespace vitrine::aot::test {
namespace {

// The precisions that ExecuTorch 1.4 configures for each operator.
struct Config {
  const char* ops;
  uint8_t precisions;
};
constexpr uint8_t kFloatAndStatic = xnnpack::kFloat | xnnpack::kStatic;
constexpr Config kConfigs[] = {
    {"abs.default ceil.default exp.default floor.default log.default neg.default sin.default "
     "cos.default tanh.default sigmoid.default rsqrt.default sqrt.default hardswish.default "
     "leaky_relu.default maximum.default minimum.default div.Tensor bmm.default gelu.default "
     "pow.Tensor_Scalar _softmax.default avg_pool2d.default max.dim upsample_bilinear2d.vec "
     "constant_pad_nd.default clone.default _clone_dim_order.default prelu.default "
     "_native_batch_norm_legit_no_training.default",
     xnnpack::kFloat},
    {"add.Tensor sub.Tensor mul.Tensor relu.default hardtanh.default clamp.default "
     "permute_copy.default max_pool2d.default mean.dim cat.default slice_copy.Tensor "
     "view_copy.default unsqueeze_copy.default _to_dim_order_copy.default",
     kFloatAndStatic},
    {"convolution.default linear.default addmm.default mm.default", xnnpack::kAnyPrecision},
    {"quantize_per_tensor.default dequantize_per_tensor.default", xnnpack::kStatic},
};
// The operators that ExecuTorch does not decompose before it delegates them.
constexpr std::string_view kKept[] = {"hardswish.default", "linear.default", "max_pool2d.default",
                                      "prelu.default", "upsample_bilinear2d.vec"};

TEST(OperatorTable, MatchesExecuTorchConfigurations) {
  std::map<std::string, uint8_t> expected;
  for (const Config& config : kConfigs) {
    std::istringstream ops(config.ops);
    for (std::string op; ops >> op;) expected[op] = config.precisions;
  }
  std::map<std::string, uint8_t> found;
  for (const xnnpack::Operator& each : xnnpack::operators()) {
    if (!each.is_delegated()) continue;
    found[std::string(each.op)] = each.rule.precisions;
    EXPECT_EQ(each.rule.keep, std::ranges::count(kKept, each.op) != 0) << each.op;
  }
  EXPECT_EQ(found, expected);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::string> quoted_words(const std::string& cell) {
  std::vector<std::string> words;
  const std::vector<std::string> parts = split(cell, '`');
  for (size_t i = 1; i < parts.size(); i += 2) {
    for (std::string& word : split(parts[i], ' ')) words.push_back(std::move(word));
  }
  return words;
}

std::string precisions_text(uint8_t precisions) {
  std::string text;
  if ((precisions & xnnpack::kFloat) != 0) text += ", float";
  if ((precisions & xnnpack::kStatic) != 0) text += ", int8";
  if ((precisions & xnnpack::kDynamic) != 0) text += ", dynamic int8";
  return text.substr(2);
}

struct DocsRow {
  std::vector<std::string> ops;    // base names
  std::vector<std::string> nodes;  // that the operators become, in any order
  std::string precisions;
};

// Reads the table of operators in docs/xnnpack.md.
std::vector<DocsRow> docs_rows() {
  std::vector<DocsRow> rows;
  std::istringstream page(
      vitrine::test::read_text(std::string(VITRINE_SOURCE_DIR) + "/docs/xnnpack.md"));
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    const bool is_header = line.starts_with("| operators |");
    inside = is_header || (inside && line.starts_with('|'));
    if (!inside || is_header || line.starts_with("|---")) continue;
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() < 5)
      throw std::runtime_error("the row of docs/xnnpack.md has fewer than four cells: " + line);
    rows.push_back(
        {quoted_words(cells[1]), quoted_words(cells[2]), cells[3].substr(1, cells[3].size() - 2)});
  }
  return rows;
}

// Maps the base name of each operator, such as "add", to the names of its precisions.
using Precisions = std::multimap<std::string, std::string>;

TEST(OperatorTable, PrecisionsMatchTheDocs) {
  Precisions docs;
  for (const DocsRow& row : docs_rows()) {
    for (const std::string& op : row.ops) docs.emplace(op, row.precisions);
  }
  Precisions table;
  for (const xnnpack::Operator& each : xnnpack::operators()) {
    if (!each.is_delegated()) continue;
    table.emplace(each.op.substr(0, each.op.find('.')), precisions_text(each.rule.precisions));
  }
  EXPECT_EQ(docs, table);
}

TEST(OperatorTable, XnnpackNodesMatchTheDocs) {
  for (const DocsRow& row : docs_rows()) {
    std::set<std::string> nodes;
    for (const xnnpack::Operator& each : xnnpack::operators()) {
      const std::string base(each.op.substr(0, each.op.find('.')));
      if (!each.is_delegated() || std::ranges::count(row.ops, base) == 0) continue;
      for (const xnnpack::NodeKind kind : each.kinds) {
        if (kind != xnnpack::NodeKind::NONE) nodes.insert(xnnpack::fb::EnumNameXNodeUnion(kind));
      }
    }
    std::set<std::string> docs;
    for (const std::string& node : row.nodes) docs.insert("XNN" + node);
    EXPECT_EQ(nodes, docs) << row.ops.at(0);
  }
}

}  // namespace
}  // namespace vitrine::aot::test

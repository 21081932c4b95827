#include "backends/xnnpack/aot/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"

namespace vitrine::aot::xnnpack {
namespace {

using Kind = QuantParams::Kind;
enum class Role : uint8_t { kQuantize, kDequantize, kChoose };

// An operator that quantizes, dequantizes or chooses quantization parameters. `scale` and
// `zero_point` are names of its parameters. If has_blocks is true, read_blocks() determines the
// kind.
struct QuantRow {
  std::string_view name;
  Role role;
  Kind kind = Kind::kPerTensor;
  std::string_view scale = "scale";
  std::string_view zero_point = "zero_point";
  bool has_blocks = false;
};
constexpr std::array kQuantRows = {
    QuantRow{"quantized_decomposed.quantize_per_tensor.default", Role::kQuantize},
    QuantRow{"quantized_decomposed.quantize_per_tensor.tensor", Role::kQuantize},
    QuantRow{"quantized_decomposed.quantize_per_channel.default", Role::kQuantize,
             Kind::kPerChannel, "scales", "zero_points"},
    QuantRow{"quantized_decomposed.quantize_per_token.default", Role::kQuantize, Kind::kPerToken,
             "scales", "zero_points"},
    QuantRow{"torchao.quantize_affine.default", Role::kQuantize, Kind::kPerTensor, "scale",
             "zero_point", true},
    QuantRow{"quantized_decomposed.dequantize_per_tensor.default", Role::kDequantize},
    QuantRow{"quantized_decomposed.dequantize_per_tensor.tensor", Role::kDequantize},
    QuantRow{"quantized_decomposed.dequantize_per_channel.default", Role::kDequantize,
             Kind::kPerChannel, "scales", "zero_points"},
    QuantRow{"quantized_decomposed.dequantize_per_channel_group.default", Role::kDequantize,
             Kind::kPerBlock, "scales", "zero_points"},
    QuantRow{"quantized_decomposed.dequantize_per_token.default", Role::kDequantize,
             Kind::kPerToken, "scales", "zero_points"},
    QuantRow{"torchao.dequantize_affine.default", Role::kDequantize, Kind::kPerTensor, "scale",
             "zero_point", true},
    QuantRow{"quantized_decomposed.choose_qparams.tensor", Role::kChoose},
    QuantRow{"quantized_decomposed.choose_qparams_per_token_asymmetric.default", Role::kChoose},
    QuantRow{"torchao.choose_qparams_affine.default", Role::kChoose},
};

const QuantRow* row_of(const Node& node) {
  if (!node.is_call()) return nullptr;
  const auto found = std::ranges::find(kQuantRows, node.target().name(), &QuantRow::name);
  return found == kQuantRows.end() ? nullptr : &*found;
}

bool has_role(const Node& node, Role role) {
  const QuantRow* row = row_of(node);
  return row != nullptr && row->role == role;
}

bool is_computed_param(const Node* node) {
  if (node == nullptr || !node->calls(getitem())) return false;
  const Node* source = operand(*node, 0);
  return source != nullptr && is_choose_params(*source);
}

// Determines the kind from torchao's block sizes. The elements of a block share a scale and a zero
// point.
void read_blocks(const Node& node, QuantParams& params) {
  const Node* input = operand(node, 0);
  const std::vector<int64_t> block = Call(node).integers("block_size");
  if (input == nullptr || input->tensor() == nullptr || block.size() != input->tensor()->rank() ||
      block.empty()) {
    throw AotError(
        fmt::format("node {}: its block_size does not match the rank of its tensor", node.name()));
  }
  const std::vector<SymInt>& sizes = input->tensor()->sizes;
  const auto spans_dim = [&](size_t dim) {
    return sizes[dim].is_static() && sizes[dim].value() == block[dim];
  };
  size_t num_spanned = 0;
  for (size_t dim = 0; dim < block.size(); ++dim) num_spanned += spans_dim(dim) ? 1 : 0;
  if (num_spanned == block.size() && !is_dynamic(node)) return;
  // An int4 weight is always blockwise, even if a row is a single block.
  const bool is_int4 = params.quant_min == -8 && params.quant_max == 7;
  const bool is_per_row =
      std::all_of(block.begin(), block.end() - 1, [](int64_t b) { return b == 1; });
  if (is_dynamic(node) && is_per_row && spans_dim(block.size() - 1)) {
    params.kind = Kind::kPerToken;
  } else if (block.size() == 2 && block[0] == 1 && spans_dim(1) && !is_int4) {
    params.kind = Kind::kPerChannel;
    params.axis = 0;
  } else if (block.size() == 2 && block[0] == 1) {
    params.kind = Kind::kPerBlock;
    params.block_size = block[1];
  } else {
    throw AotError(fmt::format("node {}: its block_size is not supported", node.name()));
  }
}

}  // namespace

bool is_quantize(const Node& node) { return has_role(node, Role::kQuantize); }
bool is_dequantize(const Node& node) { return has_role(node, Role::kDequantize); }
bool is_choose_params(const Node& node) { return has_role(node, Role::kChoose); }

bool is_dynamic(const Node& node) {
  const QuantRow* row = row_of(node);
  if (row == nullptr || row->role == Role::kChoose) return false;
  return is_computed_param(operand(node, row->scale)) &&
         is_computed_param(operand(node, row->zero_point));
}

QuantParams quant_params(const Node& node) {
  const QuantRow* row = row_of(node);
  if (row == nullptr || row->role == Role::kChoose) {
    throw AotError(fmt::format("node {}: it is not a quantize or dequantize call", node.name()));
  }
  const Call call(node);
  QuantParams params;
  params.kind = row->kind;
  params.scales = operand(node, row->scale);
  params.zero_points = operand(node, row->zero_point);
  if (params.scales == nullptr) params.scale = call.real(row->scale, 1.0);
  if (params.zero_points == nullptr) {
    params.zero_point = call.integer(row->zero_point, 0);
  }
  if (params.zero_point < INT32_MIN || params.zero_point > INT32_MAX) {
    throw AotError(fmt::format("node {}: its zero point {} does not fit in 32 bits", node.name(),
                               params.zero_point));
  }
  params.quant_min = call.integer("quant_min", -128);
  params.quant_max = call.integer("quant_max", 127);
  const Node* quantized = row->role == Role::kQuantize ? &node : operand(node, 0);
  if (quantized != nullptr && quantized->tensor() != nullptr) {
    params.dtype = quantized->tensor()->dtype;
  }
  if (row->kind == Kind::kPerChannel) params.axis = call.integer("axis");
  if (row->kind == Kind::kPerBlock) params.block_size = call.integer("group_size");
  if (row->has_blocks) read_blocks(node, params);
  return params;
}

}  // namespace vitrine::aot::xnnpack

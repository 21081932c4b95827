// Decompositions of block-wise quantization, with the same arithmetic as torchao.

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// The shape of a tensor after each of its dims is split into blocks.
struct Blocks {
  Sizes sizes;  // sizes of the tensor after the split
  Dims inside;  // dims that are inside a block
  Sizes
      counts;  // `sizes` with 1 for the dims inside: the sizes of a tensor with one value per block
};

Blocks blocks_of(Decomposition& to, const TensorSpec& spec, const Dims& block) {
  if (block.size() != spec.rank()) to.refuse("block_size must have one item per dim of the tensor");
  Blocks made;
  const auto add = [&](const SymInt& size, bool is_inside) {
    if (is_inside) made.inside.push_back(static_cast<int64_t>(made.sizes.size()));
    made.sizes.push_back(size);
    made.counts.push_back(is_inside ? SymInt(1) : size);
  };
  for (size_t i = 0; i < block.size(); ++i) {
    const SymInt& size = spec.sizes[i];
    if (block[i] == 1 || size == SymInt(block[i])) {
      add(size, block[i] != 1);
      continue;
    }
    if (!size.is_static() || block[i] <= 0 || size.value() % block[i] != 0) {
      to.refuse("block_size must divide the sizes of the tensor");
    }
    add(SymInt(size.value() / block[i]), false);
    add(SymInt(block[i]), true);
  }
  return made;
}

struct Limits {
  int64_t min = 0;
  int64_t max = 0;
};

Limits limits_of(Decomposition& to, ScalarType dtype) {
  const bool is_byte = dtype == ScalarType::kByte;
  const bool is_known = is_byte || dtype == ScalarType::kChar;
  const auto bound = [&](const char* name, int64_t of_dtype) {
    const bool is_missing = to.arg(name).is_none();
    if (is_missing && !is_known) to.refuse("quant_min and quant_max are required for this dtype");
    return is_missing ? of_dtype : static_cast<int64_t>(to.number(name));
  };
  return {bound("quant_min", is_byte ? 0 : -128), bound("quant_max", is_byte ? 255 : 127)};
}

ScalarType dtype_of(Decomposition& to, const char* name, ScalarType fallback) {
  const Argument value = to.value(name);
  return value.get<ScalarType>() == nullptr ? fallback : *value.get<ScalarType>();
}

// Reshapes an argument with one value per block, so that it broadcasts with the split tensor. Null
// if the argument is missing or empty.
Node* values_per_block(Decomposition& to, const char* name, const Blocks& blocks) {
  Node* numbers = to.optional_tensor(name);
  if (numbers == nullptr) return nullptr;
  const SymInt count = product_of(numbers->tensor()->sizes);
  if (count == SymInt(0)) return nullptr;
  const SymInt expected = product_of(blocks.counts);
  if (count.is_static() && expected.is_static() && !(count == expected)) {
    to.refuse(fmt::format("{} has {} values, but there are {} blocks", name, to_text(count),
                          to_text(expected)));
  }
  return to.reshape(numbers, blocks.counts);
}

// Dequantizes: computes (x - zero point) * scale.
void dequantize(Decomposition& to, const Dims& block, const char* scales, const char* zero_points) {
  Node* x = to.self();
  const Sizes sizes = x->tensor()->sizes;
  const ScalarType dtype = dtype_of(to, "output_dtype", ScalarType::kFloat);
  const Blocks blocks = blocks_of(to, *x->tensor(), block);
  Node* value = to.reshape(to.convert(x, dtype), blocks.sizes);
  if (Node* zero = values_per_block(to, zero_points, blocks))
    value = to.sub(value, to.convert(zero, dtype));
  Node* scale = values_per_block(to, scales, blocks);
  if (scale == nullptr) to.refuse("the scales are missing");
  to.replace(to.convert(to.reshape(to.mul(value, scale), sizes), dtype));
}

}  // namespace

void dequantize_affine(Decomposition& to) {
  dequantize(to, to.integers("block_size"), "scale", "zero_point");
}

// A group is `group_size` adjacent elements of a row, which share a scale.
void dequantize_groups(Decomposition& to) {
  dequantize(to, {1, to.integer("group_size")}, "scales", "zero_points");
}

// Quantizes: computes round(x * (1 / scale)) + zero point, clamped to [quant_min, quant_max].
void quantize_affine(Decomposition& to) {
  Node* x = to.self();
  const Sizes sizes = x->tensor()->sizes;
  const ScalarType dtype = dtype_of(to, "output_dtype", ScalarType::kChar);
  const Limits limits = limits_of(to, dtype);
  const Blocks blocks = blocks_of(to, *x->tensor(), to.integers("block_size"));
  Node* scale = values_per_block(to, "scale", blocks);
  if (scale == nullptr) to.refuse("the scales are missing");
  Node* value = to("round", to.mul(to.reshape(x, blocks.sizes), to("reciprocal", scale)));
  if (Node* zero = values_per_block(to, "zero_point", blocks)) value = to.add(value, zero);
  to.replace(to.convert(to.reshape(to("clamp", value, limits.min, limits.max), sizes), dtype));
}

// Computes the scale and zero point of each block from its smallest and largest value.
void choose_affine_parameters(Decomposition& to) {
  const Argument mapping_type = to.arg("mapping_type");
  const auto* kind = mapping_type.get<std::string>();
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  const Limits limits = limits_of(to, dtype_of(to, "target_dtype", ScalarType::kChar));
  const auto steps = static_cast<double>(limits.max - limits.min);
  const double eps = to.number("eps", dtype == ScalarType::kHalf       ? 0x1p-10
                                      : dtype == ScalarType::kBFloat16 ? 0x1p-7
                                      : dtype == ScalarType::kDouble   ? 0x1p-52
                                                                       : 0x1p-23);
  const Blocks blocks = blocks_of(to, *x->tensor(), to.integers("block_size"));
  Node* values = to.reshape(x, blocks.sizes);
  Node* min = blocks.inside.empty() ? values : to.amin(values, blocks.inside);
  Node* max = blocks.inside.empty() ? values : to.amax(values, blocks.inside);
  min = to("clamp", min, Argument(), 0);
  max = to("clamp", max, 0, Argument());

  Node* scale = nullptr;
  Node* zero = nullptr;
  if (kind != nullptr && *kind == "ASYMMETRIC") {
    scale = to("clamp", to.div(to.sub(max, min), steps), eps, Argument());
    Node* steps_below = to("round", to.div(min, scale));
    zero = to("clamp", to.add(to("neg", steps_below), limits.min), limits.min, limits.max);
  } else if (kind != nullptr && *kind == "SYMMETRIC") {
    scale = to.div(to("maximum", to("neg", min), max), steps / 2);
  } else if (kind != nullptr && *kind == "SYMMETRIC_NO_CLIPPING_ERR") {
    scale = to("maximum", to.div(min, static_cast<double>(limits.min)),
               to.div(max, static_cast<double>(limits.max)));
  } else {
    to.refuse("unknown mapping_type");
  }
  const ScalarType zero_dtype = dtype_of(to, "zero_point_dtype", ScalarType::kInt);
  if (zero == nullptr) {
    scale = to("clamp", scale, eps, Argument());
    zero = to.full(scale->tensor()->sizes, (limits.max + limits.min + 1) / 2, zero_dtype);
  }
  to.replace_items(
      {to.convert(scale, dtype_of(to, "scale_dtype", dtype)), to.convert(zero, zero_dtype)});
}

void convert_element_type(Decomposition& to) {
  to.replace(to.convert(to.self(), dtype_of(to, "dtype", ScalarType::kFloat)));
}

}  // namespace vitrine::aot::decompositions

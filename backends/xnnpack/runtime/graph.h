// A delegate's graph as plain data: what its blob says, with every id resolved to an index.
//
// Made by read_graph (graph_reader.h), which has checked all that does not depend on shapes; shapes
// are checked by infer_shapes (shape_inference.h). Only scales refer to the blob's flatbuffer.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "backends/xnnpack/format/identifiers.h"
#include "backends/xnnpack/runtime/datatype.h"
#include "backends/xnnpack/runtime/digest.h"
#include "backends/xnnpack/runtime/shape.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/budget.h"

namespace vitrine::xnnpack {

struct NodeKind;

// "No bias", "not external", "nobody makes it".
inline constexpr uint32_t kNone = UINT32_MAX;

struct Value {
  uint32_t id = kNone;  // as nodes name it in the blob
  const Datatype* datatype = nullptr;
  Shape shape;  // as declared
  bool is_input = false;
  bool is_output = false;
  uint32_t external_id = kNone;
  // An input of early blobs that nodes read dynamically quantised: they mean another value by its
  // id, which read_graph adds with the conversion.
  bool quantised_on_entry = false;

  // Constants: `constant` is 0 for values that are none. The bytes are set by load_constants.
  uint32_t constant = 0;
  const std::byte* data = nullptr;
  Digest content;  // of the bytes, as the weights cache knows them (weights_cache.h); else empty

  // Quantisation; which of these hold is said by the datatype.
  float scale = 0.0f;
  int32_t zero_point = 0;
  uint32_t channel_dim = 0;
  uint32_t block_size = 0;
  uint32_t nonbatch_dims = 0;
  uint32_t scale_count = 0;
  uint32_t scale_constant = 0;  // 0: inline
  // Float, or bfloat16 for blocks, while the delegate is made: inline ones are the blob's, others
  // are set by load_constants.
  const std::byte* scales = nullptr;
  // Blocks' scales that the blob has as floats.
  CheckedVector<uint16_t> rounded_scales;

  uint32_t producer = kNone;     // node index
  uint32_t last_reader = kNone;  // the last live node that reads it
  bool used = false;             // a live node reads it

  bool is_constant() const { return constant != 0; }
};

// Convolutions and poolings.
struct Window {
  uint32_t padding_top = 0;
  uint32_t padding_right = 0;
  uint32_t padding_bottom = 0;
  uint32_t padding_left = 0;
  uint32_t kernel_height = 1;
  uint32_t kernel_width = 1;
  uint32_t stride_height = 1;  // of a transposed convolution: upsampling
  uint32_t stride_width = 1;
  uint32_t dilation_height = 1;
  uint32_t dilation_width = 1;
};

struct DimList {
  size_t count = 0;
  std::array<size_t, kMaxDims> items{};

  size_t operator[](size_t i) const { return items[i]; }
};

struct Node {
  const NodeKind* kind = nullptr;
  uint32_t debug_handle = 0;
  uint32_t flags = 0;
  float output_min = -std::numeric_limits<float>::infinity();
  float output_max = std::numeric_limits<float>::infinity();

  // Value indices; a missing bias has no entry.
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  std::array<uint32_t, 5> inputs{};
  std::array<uint32_t, 2> outputs{};

  Window window;
  uint32_t group_input_channels = 0;
  uint32_t group_output_channels = 0;
  uint32_t groups = 0;
  uint32_t adjustment_height = 0;
  uint32_t adjustment_width = 0;
  DimList list;         // perm, new shape, slice offsets, padding before
  DimList second_list;  // slice sizes, padding after
  uint32_t axis = 0;
  uint32_t new_height = 0;
  uint32_t new_width = 0;
  float parameter = 0.0f;  // alpha, negative slope, padding value

  // Whether an output of the delegate depends on it. Others are not handed to XNNPACK.
  bool live = false;

  std::span<const uint32_t> input_values() const { return {inputs.data(), input_count}; }
  std::span<const uint32_t> output_values() const { return {outputs.data(), output_count}; }
};

// Limits of what a blob may make XNNPACK allocate. Blobs are untrusted, and a few bytes can request
// terabytes.
struct Limits {
  size_t max_tensor_bytes = size_t{1} << 30;
  // Of intermediate values and the tables of operators (operator_tables.h), together.
  size_t max_workspace_bytes = SIZE_MAX >> 1 < (uint64_t{4} << 30) ? SIZE_MAX >> 1
                                                                   : size_t{4} << 30;

  // With the bound of what is left of `memory`, which may be null, beside what is held of it
  // already for what the bound is of.
  Limits within(const Budget* memory, uint64_t held) const;
};

struct Graph {
  CheckedVector<Value> values;
  CheckedVector<Node> nodes;
  uint32_t external_count = 0;
  // By external id: value index, or kNone where the blob has no value for an argument.
  CheckedVector<uint32_t> externals;

  bool needs_definition(const Value& value) const {
    return value.external_id != kNone || value.used ||
           (value.producer != kNone && nodes[value.producer].live);
  }
};

}  // namespace vitrine::xnnpack

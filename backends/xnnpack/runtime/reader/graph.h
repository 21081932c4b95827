// A delegate's graph as plain data: the payload with every id resolved to an index. read_graph
// (graph_reader.h) makes the graph and checks everything that does not depend on shapes.
// infer_shapes (shape_inference.h) checks shapes. Only `scales` points into the payload.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "backends/xnnpack/runtime/reader/datatype.h"
#include "backends/xnnpack/runtime/reader/digest.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/reader/shape.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/budget.h"

namespace vitrine::xnnpack {

struct NodeKind;

// The index or id of something that does not exist, such as the producer of a constant.
inline constexpr uint32_t kNone = UINT32_MAX;

struct Value {
  uint32_t id = kNone;  // id in the payload's nodes
  const Datatype* datatype = nullptr;
  // True for a bf16 value. Its datatype is fp32, because few operators of XNNPACK support bf16.
  // Constants are widened at load, and arguments are converted in each call. Like ExecuTorch 1.5,
  // the backend does not round intermediate values.
  bool is_bf16 = false;
  Shape shape;  // declared shape
  bool is_input = false;
  bool is_output = false;
  uint32_t external_id = kNone;
  // True for an unquantized input that nodes read as dynamically quantized int8. Only early
  // payloads have such inputs. read_graph adds a node that quantizes the input. Nodes that name the
  // input's id read the result of the added node.
  bool quantized_on_entry = false;

  // Index into the payload's list of constants, or 0. Constants::load sets `data`.
  uint32_t constant = 0;
  const std::byte* data = nullptr;
  Digest content;  // identifies the bytes in the weights cache (weights_cache.h); empty without a
                   // cache

  // The datatype decides which of the quantization fields apply.
  float scale = 0.0f;
  int32_t zero_point = 0;
  uint32_t channel_dim = 0;
  uint32_t block_size = 0;
  uint32_t nonbatch_dims = 0;
  uint32_t scale_count = 0;
  uint32_t scale_constant = 0;  // 0 if the scales are inline
  // f32 scales of channels, or bfloat16 scales of blocks. Constants::load sets this pointer unless
  // it points to inline scales in the payload. Valid while the delegate is loaded.
  const std::byte* scales = nullptr;
  // bfloat16 copies of block scales that the payload holds as floats.
  CheckedVector<uint16_t> rounded_scales;

  uint32_t producer = kNone;     // node index
  uint32_t last_reader = kNone;  // last live node that reads the value
  bool used = false;             // true if a live node reads the value

  bool is_constant() const { return constant != 0; }
  // The dtype of the tensors that callers pass. Call only for arguments of the delegate.
  ScalarType argument_type() const { return is_bf16 ? ScalarType::kBFloat16 : *datatype->argument; }
  // The datatype's name in the payload.
  const char* type_name() const { return is_bf16 ? "bf16" : datatype->name; }
};

struct Window {
  uint32_t padding_top = 0;
  uint32_t padding_right = 0;
  uint32_t padding_bottom = 0;
  uint32_t padding_left = 0;
  uint32_t kernel_height = 1;
  uint32_t kernel_width = 1;
  uint32_t stride_height = 1;  // upsampling for a transposed convolution
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

  // Value indices; a missing bias does not have an entry.
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
  DimList list;         // permutation, new shape, slice offsets, or padding before each dim
  DimList second_list;  // slice sizes, or padding after each dim
  uint32_t axis = 0;
  uint32_t new_height = 0;
  uint32_t new_width = 0;
  float parameter = 0.0f;  // alpha, negative slope or padding value

  // True if an output of the delegate depends on the node. Other nodes are not passed to XNNPACK.
  bool live = false;

  // Set by mark_silus() (execution/silu_fusion.h) for the two nodes of a SiLU.
  enum class Fusion : uint8_t { kUnfused, kSigmoid, kProduct };
  Fusion fusion = Fusion::kUnfused;

  // Set by OwnKernels::plan(). kPacked: XNNPACK packs the weights. kOwn: XNNPACK does not pack the
  // weights, because a Vitrine kernel runs the node at all sizes. kOwnWithoutTables: like kOwn, and
  // the kernel does not need XNNPACK's pointer tables (operator_tables.h).
  enum class Weights : uint8_t { kPacked, kOwn, kOwnWithoutTables };
  Weights weights = Weights::kPacked;

  std::span<const uint32_t> input_values() const { return {inputs.data(), input_count}; }
  std::span<const uint32_t> output_values() const { return {outputs.data(), output_count}; }
};

// Limits on XNNPACK's memory. A few untrusted bytes can request terabytes.
struct Limits {
  size_t max_tensor_bytes = size_t{1} << 30;
  // Limit on the total size of intermediate values and operators' tables (operator_tables.h).
  size_t max_workspace_bytes = SIZE_MAX >> 1 < (uint64_t{4} << 30) ? SIZE_MAX >> 1
                                                                   : size_t{4} << 30;

  // Returns a copy of these limits with a lower max_workspace_bytes: at most the bytes that are
  // left in `memory`, plus the `held` bytes that the workspace has already taken from `memory`. A
  // null budget lowers nothing.
  Limits within(const Budget* memory, uint64_t held) const;
};

struct Graph {
  CheckedVector<Value> values;
  CheckedVector<Node> nodes;
  uint32_t external_count = 0;
  // Value index by external id; kNone if the payload does not have a value for an argument.
  CheckedVector<uint32_t> externals;

  bool needs_definition(const Value& value) const {
    if (value.producer != kNone && nodes[value.producer].fusion == Node::Fusion::kSigmoid) {
      return false;
    }
    return value.external_id != kNone || value.used ||
           (value.producer != kNone && nodes[value.producer].live);
  }
};

}  // namespace vitrine::xnnpack

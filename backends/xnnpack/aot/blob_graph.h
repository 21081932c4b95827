// A payload's graph before it is written, as plain data.
//
// Made by `translate`, given its memory layout by `arrange_layouts`, written by `write_blob`.
// Format: docs/formats/xnnpack_blob.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/xnnpack/format/identifiers.h"
#include "schema/xnnpack_graph_generated.h"

namespace vitrine::aot::xnnpack {

namespace fb = schema::xnnpack;
using NodeKind = fb::XNodeUnion;
using Datatype = fb::XNNDatatype;

inline constexpr uint32_t kNoValue = UINT32_MAX;
using vitrine::xnnpack::kInsertedHandle;
// XNNPACK's flags.
inline constexpr uint32_t kTransposeWeights = 0x01;
inline constexpr uint32_t kAlignCorners = 0x08;
inline constexpr uint32_t kKeepDims = 0x40;

struct PerTensor {
  float scale = 1.0f;
  int32_t zero_point = 0;
  friend bool operator==(const PerTensor&, const PerTensor&) = default;
};
struct PerChannel {
  std::vector<float> scales;
  int32_t dim = 0;  // as the bytes lie
};
struct PerBlock {
  std::vector<uint16_t> scales;  // bfloat16, by row
  int32_t size = 0;              // along the last dim
};
struct PerToken {
  int32_t nonbatch_dims = 1;  // that share parameters
};

struct BlobValue {
  Datatype datatype = Datatype::xnn_datatype_fp32;
  std::vector<uint32_t> dims;  // in logical order until layouts are arranged; weights as they lie
  std::variant<std::monostate, PerTensor, PerChannel, PerBlock, PerToken> quantisation;
  std::optional<uint32_t> input;                       // position among the delegate's inputs
  std::optional<uint32_t> output;                      // among its outputs
  std::shared_ptr<const std::vector<std::byte>> data;  // of constants
  std::string external_tag;       // of constants: the .ptd that they go to; empty: the program
  bool is_channels_last = false;  // its four dims are in NHWC order

  bool is_constant() const { return data != nullptr; }
};

struct Bounds {
  float min = 0.0f;
  float max = 0.0f;
};

// In heights and widths; of convolutions and poolings.
struct Window {
  uint32_t padding_top = 0, padding_right = 0, padding_bottom = 0, padding_left = 0;
  uint32_t kernel_height = 1, kernel_width = 1;
  uint32_t stride_height = 1, stride_width = 1;
  uint32_t dilation_height = 1, dilation_width = 1;
};

struct BlobNode {
  NodeKind kind = NodeKind::NONE;
  std::vector<uint32_t> inputs;  // values; kNoValue for no bias
  uint32_t output = kNoValue;
  uint32_t flags = 0;
  std::optional<Bounds> bounds;
  uint32_t handle = kInsertedHandle;  // the identifier that the run-time half logs
  std::vector<uint32_t> handles;      // of all its source nodes

  Window window;
  uint32_t group_input_channels = 0, group_output_channels = 0, groups = 0;
  uint32_t adjustment_height = 0, adjustment_width = 0;
  // perm, new shape, offsets or padding before; sizes or padding after: by logical dims until
  // layouts are arranged.
  std::vector<uint32_t> list, second_list;
  uint32_t axis = 0;
  uint32_t new_height = 0, new_width = 0;
  float parameter = 0.0f;  // slope, alpha, value of padding
  // For a Copy that the model asks for: the layout of its result. It may end as a StaticTranspose.
  std::optional<bool> wants_channels_last;
};

struct BlobOutput {
  uint32_t value = kNoValue;
  // The order of its dims in memory; empty for the logical order.
  std::vector<uint32_t> dim_order;
};

struct BlobGraph {
  std::vector<BlobValue> values;
  std::list<BlobNode> nodes;     // in order of execution
  std::vector<uint32_t> inputs;  // values, by position
  std::vector<BlobOutput> outputs;

  uint32_t add_value(BlobValue value) {
    values.push_back(std::move(value));
    return static_cast<uint32_t>(values.size() - 1);
  }
};

// Gives every value a layout and inserts the transpositions that this takes. Window operators want
// NHWC, reshapes and matrix products the logical order; the others take their inputs' layout, and
// four-dim inputs of mixed layouts become NHWC. Afterwards dims and lists are as the bytes lie,
// outputs are values of the layout that is asked for, and no value is input and output at once.
void arrange_layouts(BlobGraph& graph);

// Takes away nodes whose results nothing uses, and values that no node has; numbers values in the
// order of their first use.
void remove_unused(BlobGraph& graph);

}  // namespace vitrine::aot::xnnpack

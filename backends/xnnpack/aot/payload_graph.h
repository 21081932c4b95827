// The graph of a payload as plain data. translate() makes the graph, arrange_layouts() chooses
// memory layouts, and write_payload() writes the payload. Format: docs/formats/xnnpack_payload.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/xnnpack/runtime/reader/identifiers.h"
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
  int32_t dim = 0;  // in memory order
};
struct PerBlock {
  std::vector<uint16_t> scales;  // bfloat16, row by row
  int32_t size = 0;              // size of a block along the last dim
};
struct PerToken {
  int32_t nonbatch_dims = 1;  // number of trailing dims that share parameters
};

struct PayloadValue {
  Datatype datatype = Datatype::xnn_datatype_fp32;
  std::vector<uint32_t> dims;  // in logical order before arrange_layouts(), in memory order after
                               // it
  std::variant<std::monostate, PerTensor, PerChannel, PerBlock, PerToken> quantization;
  std::optional<uint32_t> input;   // index among the delegate's inputs
  std::optional<uint32_t> output;  // index among the delegate's outputs
  std::shared_ptr<const std::vector<std::byte>> data;
  std::string external_tag;       // name of the .ptd file of a constant; empty: the program stores
                                  // the constant
  bool is_channels_last = false;  // true if the four dims are in NHWC order

  bool is_constant() const { return data != nullptr; }
};

struct Bounds {
  float min = 0.0f;
  float max = 0.0f;
};

struct Window {
  uint32_t padding_top = 0, padding_right = 0, padding_bottom = 0, padding_left = 0;
  uint32_t kernel_height = 1, kernel_width = 1;
  uint32_t stride_height = 1, stride_width = 1;
  uint32_t dilation_height = 1, dilation_width = 1;
};

struct PayloadNode {
  NodeKind kind = NodeKind::NONE;
  std::vector<uint32_t> inputs;  // value ids; kNoValue for a missing bias
  uint32_t output = kNoValue;
  uint32_t flags = 0;
  std::optional<Bounds> bounds;
  uint32_t handle = kInsertedHandle;  // identifier that the run-time half logs
  std::vector<uint32_t> handles;      // debug handles of all source nodes

  Window window;
  uint32_t group_input_channels = 0, group_output_channels = 0, groups = 0;
  uint32_t adjustment_height = 0, adjustment_width = 0;
  // `list` holds a permutation, a new shape, the offsets of a slice, or the padding before each
  // dim. `second_list` holds the sizes of a slice, or the padding after each dim. Before
  // arrange_layouts(), the lists are in logical order.
  std::vector<uint32_t> list, second_list;
  uint32_t axis = 0;
  uint32_t new_height = 0, new_width = 0;
  float parameter = 0.0f;  // slope, alpha or padding value
  // True if the result of a copy operator is channels-last. Empty for other operators.
  std::optional<bool> wants_channels_last;
};

struct PayloadOutput {
  uint32_t value = kNoValue;
  // The order of the output's dims in memory. Empty for the logical order.
  std::vector<uint32_t> dim_order;
};

struct PayloadGraph {
  std::vector<PayloadValue> values;
  std::list<PayloadNode> nodes;  // in order of execution
  std::vector<uint32_t> inputs;  // value ids by argument index
  std::vector<PayloadOutput> outputs;

  uint32_t add_value(PayloadValue value) {
    values.push_back(std::move(value));
    return static_cast<uint32_t>(values.size() - 1);
  }
};

// Chooses a layout for every value and inserts transpositions. Window operators need NHWC; reshapes
// and matrix products need the logical order. Other operators keep the layout of their inputs. If
// the 4-d inputs of an operator have different layouts, all of them become NHWC. Afterward, no
// value is both an input and an output.
void arrange_layouts(PayloadGraph& graph);

// Removes unused values, and nodes whose results are unused. Numbers the remaining values in the
// order of their first use.
void remove_unused(PayloadGraph& graph);

}  // namespace vitrine::aot::xnnpack

#include "backends/xnnpack/runtime/reader/shape_inference.h"

#include <algorithm>

#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/shape_checks.h"
#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {

Error shape_of_first(const Node& node, std::span<Shape> shapes, size_t) {
  set_outputs(node, shapes, input(node, shapes, 0));
  return Error();
}

Error shape_broadcast(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& a = input(node, shapes, 0);
  const Shape& b = input(node, shapes, 1);
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (size_t n = 1; n <= out.rank; ++n) {
    const size_t x = n <= a.rank ? a.back(n) : 1;
    const size_t y = n <= b.rank ? b.back(n) : 1;
    if (x != y && x != 1 && y != 1) {
      return invalid_payload("sizes %zu and %zu of the inputs do not broadcast", x, y);
    }
    out[out.rank - n] = x == 1 ? y : x;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_fully_connected(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  const Shape& filter = input(node, shapes, 1);
  if (filter.rank != 2) return invalid_payload("its filter has rank %zu, not 2", filter.rank);
  const bool transposed = (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0;
  const size_t in_channels = filter[transposed ? 0 : 1];
  const size_t out_channels = filter[transposed ? 1 : 0];
  if (out.back(1) != in_channels) {
    return invalid_payload("its input has %zu channels, but its filter has %zu", out.back(1),
                           in_channels);
  }
  VITRINE_RETURN_IF_ERROR(check_bias(node, shapes, out_channels));
  out[out.rank - 1] = out_channels;
  set_outputs(node, shapes, out);
  return Error();
}

// Multiplies [..., m, k] by [..., k, n] and broadcasts the leading dimensions.
Error shape_matrix_multiply(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& a = input(node, shapes, 0);
  const Shape& b = input(node, shapes, 1);
  if (a.rank < 2 || b.rank < 2)
    return invalid_payload("its inputs have ranks %zu and %zu, expected at least 2", a.rank,
                           b.rank);
  if (a.back(1) != b.back(2)) {
    return invalid_payload("its first input has %zu columns, but its second has %zu rows",
                           a.back(1), b.back(2));
  }
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (size_t n = 3; n <= out.rank; ++n) {
    const size_t x = n <= a.rank ? a.back(n) : 1;
    const size_t y = n <= b.rank ? b.back(n) : 1;
    if (x != y && x != 1 && y != 1)
      return invalid_payload("batch sizes %zu and %zu do not broadcast", x, y);
    out[out.rank - n] = x == 1 ? y : x;
  }
  out[out.rank - 2] = a.back(2);
  out[out.rank - 1] = b.back(1);
  set_outputs(node, shapes, out);
  return Error();
}

// The inputs are query [..., heads, T, C], key [..., heads, U, C], value [..., heads, U, D], scale
// [C] and mask [T, U]. Key and value may lack the dimension of heads.
Error shape_attention(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  const Shape& query = input(node, shapes, 0);
  const Shape& key = input(node, shapes, 1);
  const Shape& value = input(node, shapes, 2);
  if (query.rank < 3)
    return invalid_payload("its query has rank %zu, expected at least 3", query.rank);
  if (key.rank != value.rank || (key.rank != query.rank && key.rank + 1 != query.rank)) {
    return invalid_payload("its query, key and value have incompatible ranks: %zu, %zu and %zu",
                           query.rank, key.rank, value.rank);
  }
  const size_t leading = key.rank - 2;
  for (size_t i = 0; i < leading; ++i) {
    if (key[i] != query[i] || value[i] != query[i]) {
      return invalid_payload("its query, key and value differ in dimension %zu", i);
    }
  }
  const Shape& scale = input(node, shapes, 3);
  const Shape& mask = input(node, shapes, 4);
  if (key.back(1) != query.back(1) || scale.rank != 1 || scale[0] != query.back(1)) {
    return invalid_payload("its query, key and scale have different numbers of channels");
  }
  if (key.back(2) != value.back(2))
    return invalid_payload("its key and value have different numbers of tokens");
  if (mask.rank != 2 || mask[0] != query.back(2) || mask[1] != key.back(2)) {
    return invalid_payload("its mask does not have the shape [%zu, %zu]", query.back(2),
                           key.back(2));
  }
  // XNNPACK packs the keys and values of each head. The sizes are rounded up to tiles.
  constexpr size_t kPackedTile = 64;
  size_t bytes = sizeof(float);
  for (size_t i = 0; i + 2 < query.rank; ++i) {
    if (mul_overflows(bytes, query[i], &bytes)) bytes = SIZE_MAX;
  }
  const size_t tokens = std::max(key.back(2), query.back(2));
  const size_t channels = std::max(key.back(1), value.back(1));
  if (std::max(tokens, channels) > max_bytes ||
      mul_overflows(bytes, tokens + kPackedTile, &bytes) ||
      mul_overflows(bytes, channels + kPackedTile, &bytes) || bytes > max_bytes) {
    return invalid_payload("its packed keys need more than the allowed %zu bytes", max_bytes);
  }
  Shape out = query;
  out[out.rank - 1] = value.back(1);
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_concatenate(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  if (node.axis >= out.rank)
    return invalid_payload("axis is %u, but the rank is %zu", node.axis, out.rank);
  for (size_t i = 1; i < node.input_count; ++i) {
    Shape other = input(node, shapes, i);
    if (other.rank != out.rank)
      return invalid_payload("its inputs have different ranks: %zu and %zu", out.rank, other.rank);
    if (add_overflows(out[node.axis], other[node.axis], &out[node.axis])) {
      return invalid_payload("its output is too large");
    }
    other[node.axis] = out[node.axis];
    if (!(other == out))
      return invalid_payload("its inputs differ in a dimension other than axis %u", node.axis);
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_transpose(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, node.list.count));
  Shape out = in;
  for (size_t i = 0; i < in.rank; ++i) out[i] = in[node.list[i]];
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_reshape(const Node& node, std::span<Shape> shapes, size_t) {
  size_t remaining = 1;
  for (const size_t dim : input(node, shapes, 0).used()) {
    if (mul_overflows(remaining, dim, &remaining)) return invalid_payload("its input is too large");
  }
  const size_t elements = remaining;
  Shape out{node.list.count, node.list.items};
  size_t* free_dim = nullptr;
  for (size_t i = 0; i < out.rank; ++i) {
    if (out[i] == 0) {
      free_dim = &out[i];
      continue;
    }
    if (remaining % out[i] != 0)
      return invalid_payload("its new_shape does not fit %zu elements", elements);
    remaining /= out[i];
  }
  if (free_dim != nullptr) {
    *free_dim = remaining;
  } else if (remaining != 1) {
    return invalid_payload("its new_shape does not fit %zu elements", elements);
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_slice(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, node.list.count));
  Shape out = in;
  for (size_t i = 0; i < in.rank; ++i) {
    const size_t offset = node.list[i];
    const size_t size = node.second_list[i];
    if (size == 0 && offset == 0) continue;  // the entire dimension
    if (size == 0 || !range_fits(offset, size, in[i])) {
      return invalid_payload("offset %zu and size %zu are not inside dimension %zu of size %zu",
                             offset, size, i, in[i]);
    }
    out[i] = size;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_constant_pad(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(out, node.list.count));
  for (size_t i = 0; i < out.rank; ++i) {
    if (add_overflows(out[i], node.list[i], &out[i]) ||
        add_overflows(out[i], node.second_list[i], &out[i])) {
      return invalid_payload("its output is too large");
    }
  }
  set_outputs(node, shapes, out);
  return Error();
}

Limits Limits::within(const Budget* memory, uint64_t held) const {
  Limits bounds = *this;
  if (memory == nullptr) return bounds;
  const uint64_t left = memory->left();
  const uint64_t bytes = std::max(left, left + held);  // the sum may wrap around
  bounds.max_workspace_bytes =
      static_cast<size_t>(std::min<uint64_t>(bounds.max_workspace_bytes, bytes));
  return bounds;
}

Error infer_shapes(const Graph& graph, std::span<Shape> shapes, const Limits& limits) {
  const auto bytes_of = [&](uint32_t value) {
    return tensor_bytes(*graph.values[value].datatype, shapes[value]).value_or(SIZE_MAX);
  };
  const auto in_workspace = [&](uint32_t value) {
    return graph.values[value].external_id == kNone && !graph.values[value].is_constant();
  };
  size_t workspace = 0;
  size_t peak = 0;
  uint64_t tables = 0;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live) continue;
    if (Error error = node.kind->infer_shape(node, shapes, limits.max_tensor_bytes); !error.ok()) {
      return std::move(error).in("xnodes[%u] (%s)", i, node.kind->name);
    }
    if (node.kind->tables != nullptr) {
      const uint64_t bytes = node.kind->tables(graph, node, shapes);
      if (bytes > limits.max_tensor_bytes) {
        return Error::make(ErrorCode::kOutOfResources,
                           "xnodes[%u] (%s): its tables exceed the bound of %zu bytes per tensor",
                           i, node.kind->name, limits.max_tensor_bytes);
      }
      tables += bytes;
    }
    for (const uint32_t value : node.output_values()) {
      const size_t bytes = bytes_of(value);
      if (bytes > limits.max_tensor_bytes) {
        return Error::make(ErrorCode::kOutOfResources,
                           "xnodes[%u] (%s): its output exceeds the bound of %zu bytes per tensor",
                           i, node.kind->name, limits.max_tensor_bytes);
      }
      if (in_workspace(value) && add_overflows(workspace, bytes, &workspace)) workspace = SIZE_MAX;
    }
    peak = std::max(peak, workspace);
    if (tables > limits.max_workspace_bytes || peak > limits.max_workspace_bytes - tables) {
      return Error::make(ErrorCode::kOutOfResources,
                         "xnodes[%u] (%s): the live tensors and the operators' tables exceed "
                         "the bound of %zu bytes (xnnpack::Limits, max_memory_bytes)",
                         i, node.kind->name, limits.max_workspace_bytes);
    }
    for (uint32_t k = 0; k < node.input_count; ++k) {
      const uint32_t value = node.inputs[k];
      const auto earlier = node.input_values().first(k);
      const bool again = std::ranges::find(earlier, value) != earlier.end();
      if (in_workspace(value) && graph.values[value].last_reader == i && !again) {
        workspace -= bytes_of(value);
      }
    }
  }
  return Error();
}

}  // namespace vitrine::xnnpack

// Builds valid and damaged XNNPACK payloads for tests.
//
//   PayloadBuilder b;
//   const uint32_t x = b.input({2, 3}), y = b.output({2, 3});
//   b.unary(Tag::XNNAbs, x, y);
//   std::vector<std::byte> payload = b.build();
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "schema/xnnpack_graph_generated.h"

namespace vitrine::test {

namespace fb = schema::xnnpack;
using Tag = fb::XNodeUnion;
using Type = fb::XNNDatatype;

inline constexpr uint32_t kInvalidId = UINT32_MAX;

struct PerTensor {
  float scale = 1.0f;
  int32_t zero_point = 0;
};

struct PerChannel {
  std::vector<float> scales;
  int32_t channel_dim = 0;
};

// Quantization in blocks of `group_size` elements. A constant contains the bfloat16 scales.
struct PerBlock {
  int32_t group_size = 32;
};

struct PayloadValue {
  Type type = Type::xnn_datatype_fp32;
  std::vector<uint32_t> dims;
  uint32_t id = 0;
  uint32_t constant = 0;
  uint32_t external_id = kInvalidId;
  uint32_t flags = 0;
  std::optional<PerTensor> per_tensor;
  std::optional<PerChannel> per_channel;
  std::optional<PerBlock> per_block;
  std::optional<int32_t> nonbatch_dims;
  Type dq_type = Type::xnn_datatype_invalid;  // for early payloads
  uint32_t scale_count = 0;
  uint32_t scale_constant = 0;
};

struct Bounds {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

struct WindowSpec {
  uint32_t top = 0, right = 0, bottom = 0, left = 0;
  uint32_t kernel_height = 1, kernel_width = 1;
  uint32_t stride_height = 1, stride_width = 1;
  uint32_t dilation_height = 1, dilation_width = 1;
  uint32_t group_in = 1, group_out = 1, groups = 1;
  uint32_t adjustment_height = 0, adjustment_width = 0;

  // padded(), strided() and dilated() return a changed copy.
  constexpr WindowSpec padded(uint32_t new_top, uint32_t new_right, uint32_t new_bottom,
                              uint32_t new_left) const {
    WindowSpec w = *this;
    w.top = new_top, w.right = new_right, w.bottom = new_bottom, w.left = new_left;
    return w;
  }
  constexpr WindowSpec padded(uint32_t sides) const { return padded(sides, sides, sides, sides); }
  constexpr WindowSpec strided(uint32_t height, uint32_t width) const {
    WindowSpec w = *this;
    w.stride_height = height, w.stride_width = width;
    return w;
  }
  constexpr WindowSpec dilated(uint32_t height, uint32_t width) const {
    WindowSpec w = *this;
    w.dilation_height = height, w.dilation_width = width;
    return w;
  }
  // The sizes of the result of a convolution or pooling.
  constexpr uint32_t result_height(uint32_t height) const {
    return (height + top + bottom - (kernel_height - 1) * dilation_height - 1) / stride_height + 1;
  }
  constexpr uint32_t result_width(uint32_t width) const {
    return (width + left + right - (kernel_width - 1) * dilation_width - 1) / stride_width + 1;
  }

  // Calls visit(pixel, tap) for each pixel of an image of `height` x `width` pixels that is in the
  // window of the result's pixel (y, x). Pixels and taps of the window are numbered row by row.
  template <class Visit>
  void for_each_pixel(size_t height, size_t width, size_t y, size_t x, Visit visit) const {
    for (size_t tap = 0; tap < size_t{kernel_height} * kernel_width; ++tap) {
      // Rows and columns before the first wrap around to large numbers.
      const size_t in_y = y * stride_height + tap / kernel_width * dilation_height - top;
      const size_t in_x = x * stride_width + tap % kernel_width * dilation_width - left;
      if (in_y < height && in_x < width) visit(in_y * width + in_x, tap);
    }
  }
};
constexpr WindowSpec window_of(uint32_t height, uint32_t width, uint32_t group_in = 1,
                               uint32_t group_out = 1, uint32_t groups = 1) {
  return {.kernel_height = height,
          .kernel_width = width,
          .group_in = group_in,
          .group_out = group_out,
          .groups = groups};
}

class PayloadBuilder {
 public:
  // The location at which build() stores constants.
  enum class Constants { kInFlatbuffer, kInRegion, kNamed };

  explicit PayloadBuilder(Constants where = Constants::kInRegion) : where_(where) {}

  uint32_t input(std::vector<uint32_t> dims, Type type = Type::xnn_datatype_fp32,
                 std::optional<PerTensor> quant = {});
  uint32_t output(std::vector<uint32_t> dims, Type type = Type::xnn_datatype_fp32,
                  std::optional<PerTensor> quant = {});
  uint32_t internal(std::vector<uint32_t> dims, Type type = Type::xnn_datatype_fp32,
                    std::optional<PerTensor> quant = {});
  template <class T>
  uint32_t constant(std::vector<uint32_t> dims, const std::vector<T>& data,
                    Type type = Type::xnn_datatype_fp32, std::optional<PerTensor> quant = {}) {
    const uint32_t id = internal(std::move(dims), type, quant);
    values[id].constant = add_constant(data);
    return id;
  }
  template <class T>
  uint32_t add_constant(const std::vector<T>& data) {
    std::vector<uint8_t>& bytes = constants.emplace_back(data.size() * sizeof(T));
    if (!data.empty()) std::memcpy(bytes.data(), data.data(), bytes.size());
    return static_cast<uint32_t>(constants.size());
  }

  // Adds a node that quantizes `in` at run time, and returns its result.
  uint32_t dynamically_quantized(uint32_t in, int32_t nonbatch_dims);
  void unary(Tag tag, uint32_t in, uint32_t out, uint32_t flags = 0);
  void binary(Tag tag, uint32_t a, uint32_t b, uint32_t out, std::optional<Bounds> bounds = {});
  void clamp(uint32_t in, uint32_t out, Bounds bounds);
  void elu(uint32_t in, uint32_t out, float alpha);
  void leaky_relu(uint32_t in, uint32_t out, float slope);
  void fully_connected(uint32_t in, uint32_t filter, uint32_t bias, uint32_t out,
                       uint32_t flags = 0, std::optional<Bounds> bounds = {});
  void convolution(Tag tag, const WindowSpec& window, uint32_t in, uint32_t filter, uint32_t bias,
                   uint32_t out, std::optional<Bounds> bounds = {});
  void pooling(Tag tag, const WindowSpec& window, uint32_t in, uint32_t out, uint32_t flags = 0);
  void argmax(const WindowSpec& window, uint32_t in, uint32_t out, uint32_t index);
  void transpose(const std::vector<uint32_t>& perm, uint32_t in, uint32_t out);
  void reshape(const std::vector<uint32_t>& shape, uint32_t in, uint32_t out);
  void slice(const std::vector<uint32_t>& offsets, const std::vector<uint32_t>& sizes, uint32_t in,
             uint32_t out);
  void pad(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after, float value,
           uint32_t in, uint32_t out);
  void resize(uint32_t height, uint32_t width, uint32_t in, uint32_t out, uint32_t flags = 0);
  void attention(const std::vector<uint32_t>& query_key_value_scale_mask, uint32_t out);
  void concatenate(Tag tag, uint32_t axis, std::vector<uint32_t> inputs, uint32_t out);

  // Functions for tests that damage the payload.
  size_t node_count() const { return nodes_.size(); }
  void drop_node(size_t i) { nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i)); }
  void repeat_node(size_t i) { nodes_.push_back(nodes_[i]); }
  void swap_nodes(size_t a, size_t b) { std::swap(nodes_[a], nodes_[b]); }
  void retag_node(size_t i, Tag tag) { nodes_[i].tag = tag; }

  // Builds the payload, 16-byte aligned.
  std::vector<std::byte> build();

  std::vector<PayloadValue> values;
  std::vector<std::vector<uint8_t>> constants;  // constant i+1
  std::vector<uint32_t>
      handles;  // debug handles by node; the default is the index of the node plus 1
  uint32_t external_count = 0;

  // The key of a constant in named data: "constant-<index>".
  static std::string constant_key(uint32_t index) { return "constant-" + std::to_string(index); }
  // If this key is not empty, all named constants have it instead of their constant_key().
  std::string shared_key;

 private:
  struct NodeSpec {
    Tag tag;
    std::optional<Bounds> bounds;
    std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)> make;
  };
  template <class Create>
  void add_node(Tag tag, Create create, std::optional<Bounds> bounds = {});
  flatbuffers::Offset<fb::XValue> make_value(flatbuffers::FlatBufferBuilder& out,
                                             const PayloadValue& spec);

  Constants where_;
  std::vector<NodeSpec> nodes_;
};

// Returns a network that computes x * x + x. The product is an intermediate value.
PayloadBuilder square_plus(const std::vector<uint32_t>& dims);

}  // namespace vitrine::test

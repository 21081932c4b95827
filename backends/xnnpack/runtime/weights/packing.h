// Describes everything that determines how XNNPACK packs the weights of a node. XNNPACK does not
// check the size of a block from a cache, so a lookup also compares the geometry that determines
// the size. A collision of digests can make results wrong, but cannot cause an access outside a
// block.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "backends/xnnpack/runtime/reader/digest.h"
#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// Everything that determines a packing, except the values of the weights. Files contain this struct
// (docs/formats/weights_cache.md).
struct Geometry {
  struct Type {
    uint32_t datatype = 0;
    uint32_t scale = 0;  // bits of a float
    int32_t zero_point = 0;

    bool operator==(const Type&) const = default;
  };
  struct Weights {
    Type type;
    uint32_t channel_dim = 0;
    uint32_t block_size = 0;
    uint32_t scale_count = 0;
    uint32_t rank = 0;
    std::array<uint32_t, kMaxDims> dims{};

    bool operator==(const Weights&) const = default;
  };

  std::array<char, 24> kind{};  // name of the node kind, padded with zeros
  uint32_t seed = 0;            // XNNPACK's identifier of the kernel
  uint32_t flags = 0;
  uint32_t group_input_channels = 0;
  uint32_t group_output_channels = 0;
  uint32_t groups = 0;
  uint32_t adjustment_height = 0;
  uint32_t adjustment_width = 0;
  std::array<uint32_t, 10> window{};  // fields of `Window` in order
  uint32_t weights_count = 0;
  Type input;
  Type output;
  std::array<Weights, 2> weights;  // filter and bias; zeros if missing

  bool operator==(const Geometry&) const = default;
};
static_assert(sizeof(Geometry) == 224 && std::has_unique_object_representations_v<Geometry>);

struct Packing {
  Digest digest;  // digest of geometry and weights; empty if the weights are not identified
  Geometry geometry;

  bool operator==(const Packing&) const = default;
};

// Describes how the weights of `node` (the values after its first input) are packed. Equal packings
// with a digest mean equal packed bytes. The digest is empty if the constants cannot be identified
// or the node cannot be described.
Packing packing_of(const Graph& graph, const Node& node, const DigestSecret& secret);

// Returns a copy that also names the kernel. `seed` is XNNPACK's identifier of the kernel.
Packing packing_for_kernel(const Packing& packing, uint32_t seed, const DigestSecret& secret);

}  // namespace vitrine::xnnpack

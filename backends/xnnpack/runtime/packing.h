// What decides how XNNPACK packs the weights of a node.
//
// XNNPACK takes a block from a cache without comparing its size. So what sizes follow from is kept
// beside each block and compared, number by number: whoever finds two weights with one digest gets
// wrong numbers at most.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "backends/xnnpack/runtime/digest.h"
#include "backends/xnnpack/runtime/graph.h"

namespace vitrine::xnnpack {

// All but the numbers of the weights. Also written to files: docs/formats/weights_cache.md.
struct Geometry {
  struct Type {
    uint32_t datatype = 0;
    uint32_t scale = 0;  // a float's bits
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

  std::array<char, 24> kind{};  // the node's, with zeros
  uint32_t seed = 0;            // by which XNNPACK tells its kernels
  uint32_t flags = 0;
  uint32_t group_input_channels = 0;
  uint32_t group_output_channels = 0;
  uint32_t groups = 0;
  uint32_t adjustment_height = 0;
  uint32_t adjustment_width = 0;
  std::array<uint32_t, 10> window{};  // as `Window`
  uint32_t weights_count = 0;
  Type input;
  Type output;
  std::array<Weights, 2> weights;  // filter and bias; zeros where there is none

  bool operator==(const Geometry&) const = default;
};
static_assert(sizeof(Geometry) == 224 && std::has_unique_object_representations_v<Geometry>);

struct Packing {
  Digest digest;  // of all, also of the weights; empty if they are not known
  Geometry geometry;

  bool operator==(const Packing&) const = default;
};

// How the weights of `node`, which follow its input, are packed. Rather too much than too little.
// The digest is empty if the constants cannot be identified, or if no node that packs is like this.
Packing packing_of(const Graph& graph, const Node& node, const DigestSecret& secret);

// With the kernel, which only XNNPACK knows.
Packing packing_for_kernel(const Packing& packing, uint32_t seed, const DigestSecret& secret);

}  // namespace vitrine::xnnpack

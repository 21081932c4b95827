// Counts the bytes of weights and caches that each instruction reads. Weights are in the program
// and in payloads of XNNPACK delegates. Caches keep keys and values between calls.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vitrine/program.h"

namespace vitrine::llm {

// The bytes that a kernel reads or writes in a call with one token.
struct KernelBytes {
  double weights = 0;             // read; a lookup counts one row of its table
  double cache = 0;               // read or written, independent of the position
  double cache_per_position = 0;  // bytes read for each position up to the token
  bool is_lookup = false;
  bool is_attention = false;
};

struct CacheBuffer {
  std::string name;   // "layers.0.attention.kv_cache.k_cache"; may be empty
  std::string layer;  // "layers.0" or "attention 0"; empty if unknown
  std::string type;   // "f32[1,256,1,16]"
  uint64_t bytes = 0;
  int32_t instruction = 0;  // the first instruction that writes the cache
  int32_t reader = -1;      // the first attention that reads the cache directly, or -1
};

struct MethodBytes {
  std::map<int32_t, KernelBytes> kernels;  // indexed by instruction
  // Bytes of weights that each node of a delegate reads, by instruction and debug handle. Nodes may
  // share a handle.
  std::map<std::pair<int32_t, uint32_t>, std::vector<double>> nodes;
  std::vector<CacheBuffer> caches;
  double weights = 0;  // bytes of constants that no earlier method has counted
};

// Returns "layers.0" for "layers.0.attention.kv_cache", or an empty text if no component is a
// number.
std::string layer_of(const std::string& path);

// Returns one element per method. Payloads that are unreadable or not XNNPACK's count as 0 bytes.
// Only the first method with a shared constant counts the constant in MethodBytes::weights.
std::vector<MethodBytes> read_method_bytes(const Program& program,
                                           std::span<const MethodMeta> methods);

}  // namespace vitrine::llm

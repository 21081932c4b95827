// What the instructions of a method read: weights, by the program and the payloads of XNNPACK's
// delegates, and caches, which are the tensors that the program keeps from call to call.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vitrine/program.h"

namespace vitrine::llm {

// By a kernel, in a call with one token.
struct KernelBytes {
  double weights = 0;           // of lookups: a row
  double cache = 0;             // whatever the position; read or written
  double cache_a_position = 0;  // for each position up to the token's own
  bool is_lookup = false;
  bool is_attention = false;
};

struct CacheBuffer {
  std::string name;   // "layers.0.attention.kv_cache.k_cache"; empty: the program does not say
  std::string layer;  // "layers.0" or "attention 0"; empty: not known
  std::string type;   // "f32[1,256,1,16]"
  uint64_t bytes = 0;
  int32_t instruction = 0;  // the first that writes it
  int32_t reader = -1;      // the first attention that reads it; -1: none does so directly
};

struct MethodBytes {
  std::map<int32_t, KernelBytes> kernels;  // by instruction
  // Weights of the delegates' nodes, by instruction and debug handle; a handle may be that of
  // several nodes.
  std::map<std::pair<int32_t, uint32_t>, std::vector<double>> nodes;
  std::vector<CacheBuffer> caches;
  double weights = 0;  // of the file, without those of the methods before
};

// "layers.0" of "layers.0.attention.kv_cache"; empty if no part of the path is a number.
std::string layer_of(const std::string& path);

// By method. Payloads of other backends, and those that cannot be read, count nothing. Each
// constant counts once, in the weights of the first method that has it.
std::vector<MethodBytes> read_method_bytes(const Program& program,
                                           std::span<const MethodMeta> methods);

}  // namespace vitrine::llm

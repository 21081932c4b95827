// Executable graphs -> a program file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// The .ptd of weights that name no file of their own, without its ending; as ExecuTorch calls it.
inline constexpr char kDefaultExternalTag[] = "_default_external_constant";

using Methods = std::map<std::string, ExportedProgram, std::less<>>;  // by name: "forward"

// A method that gives values known now, and takes nothing: what ExecuTorch calls a constant method.
struct ConstantMethod {
  std::string name;                                         // "get_max_seq_len"
  std::vector<std::variant<int64_t, bool, double>> values;  // one, or a list
  bool is_list = false;
};

// The defaults are ExecuTorch's.
struct EmitOptions {
  bool extract_delegate_segments = true;
  size_t segment_alignment = 128;        // in bytes, powers of two
  size_t constant_tensor_alignment = 0;  // 0: as the format asks
  size_t delegate_alignment = 0;
  bool external_constants = false;  // weights to one .ptd; delegates': tag_external_constants
  bool emit_stacktrace = false;
  std::vector<ConstantMethod> constant_methods;
  bool emit_debug_maps = true;  // as named data, for profiles without a second file
  struct MemoryPlanning {
    bool greedy = true;  // false: naive, no reuse
    // The smaller of ExecuTorch's plan and another one, if `greedy`.
    bool tight = false;
    // Element-wise calls write over an operand that nothing reads later, if the plan takes no more
    // memory for it.
    bool in_place = false;
    bool alloc_graph_input = true;
    bool alloc_graph_output = true;
    size_t alignment = 16;
    // Buffers that methods mutate have one place for all of them, in memory 2: mark_shared_buffers
    // comes before delegation.
    bool share_mutable_buffers = false;
  } memory_planning;
};

// What the ahead-of-time side knows of a method's instructions.
struct MethodDebugInfo {
  std::map<uint32_t, std::vector<uint32_t>> handles;  // instruction -> debug handles
  struct Delegate {
    std::string backend_id;
    DelegateMap map;
  };
  std::map<uint32_t, Delegate> delegates;    // instruction -> what it logs
  std::map<uint32_t, uint32_t> num_outputs;  // instruction of a delegate -> outputs
  size_t planned_bytes = 0;
  size_t naive_bytes = 0;  // what a plan without reuse would take
};

struct EmittedProgram {
  std::vector<std::byte> pte;
  std::map<std::string, std::vector<std::byte>> ptd;  // by tag
  std::map<std::string, MethodDebugInfo, std::less<>> debug_info;
};

// The memory that a method's plan takes, without buffers that methods share. As `to_executable`
// leaves it.
uint64_t planned_bytes(const ExportedProgram& method, const EmitOptions::MemoryPlanning& options);

// Methods as `to_executable` leaves them. Two runs give the same bytes. AotErrors name the node.
EmittedProgram emit(const Methods& methods, const EmitOptions& options = {});

// The same with the program's bytes going to `sink`, piece by piece and in order:
// EmittedProgram::pte stays empty, and weights are not copied. What `sink` throws comes out.
using ByteSink = std::function<void(std::span<const std::byte>)>;
EmittedProgram emit_to(const ByteSink& sink, const Methods& methods,
                       const EmitOptions& options = {});

}  // namespace vitrine::aot

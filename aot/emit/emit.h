// Writes executable graphs as a program file.
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

// ExecuTorch's default name for the file with external weights, without the extension ".ptd".
inline constexpr char kDefaultExternalTag[] = "_default_external_constant";

using Methods = std::map<std::string, ExportedProgram, std::less<>>;  // keyed by name: "forward"

// A method without inputs that returns constants. ExecuTorch calls this a constant method.
struct ConstantMethod {
  std::string name;                                         // "get_max_seq_len"
  std::vector<std::variant<int64_t, bool, double>> values;  // one, unless is_list
  bool is_list = false;
};

// Options of emit(). The defaults are those of ExecuTorch.
struct EmitOptions {
  bool extract_delegate_segments = true;
  // Alignments are powers of two, in bytes.
  size_t segment_alignment = 128;
  size_t constant_tensor_alignment = 0;  // 0: the format's minimum
  size_t delegate_alignment = 0;         // 0: the format's minimum
  // Stores weights in a .ptd file. Has no effect on the weights of delegates, for which callers
  // use tag_external_constants().
  bool external_constants = false;
  bool emit_stacktrace = false;
  std::vector<ConstantMethod> constant_methods;
  // Stores an ETRecord in the program as named data.
  bool emit_debug_maps = true;
  // Stores the record's digest even if the program does not contain the record. Readers can then
  // check that a separate record file matches the program.
  bool emit_record_digest = false;
  struct MemoryPlanning {
    bool greedy = true;  // false: tensors never share memory
    // Uses the smaller of the plans of plan_greedy() and plan_tight(). Has no effect unless
    // `greedy` is set.
    bool tight = false;
    // Lets element-wise calls overwrite an operand that no later node reads, unless this increases
    // planned memory.
    bool in_place = false;
    bool alloc_graph_input = true;
    bool alloc_graph_output = true;
    size_t alignment = 16;
    // Stores a single copy of each mutated buffer for all methods, in the planned memory with id 2.
    // Callers must call mark_shared_buffers() before delegation.
    bool share_mutable_buffers = false;
  } memory_planning;
};

// Debug information about the instructions of a method. The keys are instruction indices.
struct MethodDebugInfo {
  std::map<uint32_t, std::vector<uint32_t>> handles;  // debug handles
  struct Delegate {
    std::string backend_id;
    DelegateMap map;
  };
  std::map<uint32_t, Delegate> delegates;
  std::map<uint32_t, uint32_t> num_outputs;  // for delegate calls
  size_t planned_bytes = 0;
  size_t naive_bytes = 0;  // size of a plan without reuse
};

struct EmittedProgram {
  std::vector<std::byte> pte;
  std::map<std::string, std::vector<std::byte>> ptd;  // keyed by file name without ".ptd"
  std::map<std::string, MethodDebugInfo, std::less<>> debug_info;
  uint64_t record_bytes = 0;  // size of the record inside the program
  std::string record_digest;  // empty if the program has neither a record nor its digest
};

// Returns the size of a method's memory plan, without the buffers that methods share.
// `to_executable` must have processed the method.
uint64_t planned_bytes(const ExportedProgram& method, const EmitOptions::MemoryPlanning& options);

// Emits methods that `to_executable` has processed. Equal inputs give equal bytes. Throws AotErrors
// that name the node.
EmittedProgram emit(const Methods& methods, const EmitOptions& options = {});

// Like emit(), but passes the program's bytes to `sink`, in order and in pieces.
// EmittedProgram::pte stays empty, and weights are not copied. Exceptions of `sink` propagate.
using ByteSink = std::function<void(std::span<const std::byte>)>;
EmittedProgram emit_to(const ByteSink& sink, const Methods& methods,
                       const EmitOptions& options = {});

}  // namespace vitrine::aot

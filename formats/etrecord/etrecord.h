// Reads an ETRecord archive: the maps and graphs that join a trace to its source model. Reads the
// layouts of ExecuTorch 0.5 to 1.4 (docs/formats/etrecord.md), but only the members that the join
// needs. The archive is untrusted: a FormatError names the file, the member and the path of the
// value. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format_error.h"
#include "vitrine/scalar_type.h"

namespace vitrine::etrecord {

using DebugHandle = uint32_t;  // 0 if unset

// A value of the edge program that is a tensor.
struct EdgeValue {
  std::optional<ScalarType> dtype;  // unset if the dtype is unknown
  std::vector<int64_t> sizes;
  bool is_static = false;    // true if all sizes are known; otherwise `sizes` is invalid
  bool is_constant = false;  // true for a parameter, buffer or constant of the program
};

// An argument of a call. The reader keeps only arguments that can affect the cost of the call.
struct EdgeArgument {
  std::string name;               // name in the op's schema, such as "weight"
  std::vector<size_t> values;     // tensors, as indices into EdgeGraph::values
  std::vector<int64_t> integers;  // an integer, a bool, or a list of them
};

struct EdgeNode {
  // "aten_convolution_default_1", or "lowered_module_0/aten_add_tensor" if in a lowered module.
  std::string name;
  std::string target;  // for example "aten.convolution.default"
  DebugHandle debug_handle = 0;
  std::string module_path;   // for example "features.0.0"; empty for the root module
  std::string module_class;  // for example "torch.nn.modules.conv.Conv2d"
  std::string source_line;   // innermost frame of the stack trace, such as "model.py:167"; may be
                             // empty
  // The innermost frame outside PyTorch's own files, with its folder: "models/mobilenetv2.py:167".
  // If all frames are in PyTorch's files, the innermost frame.
  std::string model_line;
  // Nodes whose results this node uses, each once, in argument order.
  std::vector<size_t> inputs;
  std::vector<EdgeArgument> arguments;
  std::vector<size_t> results;  // indices into EdgeGraph::values
};

struct EdgeGraph {
  std::vector<EdgeNode> nodes;  // in graph order: producers precede users
  std::vector<EdgeValue> values;
  std::vector<size_t> outputs;  // outputs of the program, as indices into `values`
  std::map<DebugHandle, std::vector<size_t>> nodes_of_handle;
};

// The delegate map of one delegate call, which maps identifiers of operators to debug handles.
// Integer identifiers are stored as decimal text.
struct DelegateEntry {
  std::string backend;
  std::map<std::string, std::vector<DebugHandle>, std::less<>> handles_of_id;
};

struct MethodRecord {
  // Debug handles by instruction. A kernel call has the handle of its node. A delegate call has the
  // handles of all nodes of the delegate, in graph order and with repetitions.
  std::map<int32_t, std::vector<DebugHandle>> handles_of_instruction;
  std::map<int32_t, DelegateEntry> delegates;  // keyed by instruction
  std::map<int32_t, int64_t> num_outputs;      // by instruction; delegate calls only
  EdgeGraph graph;
};

struct EtRecord {
  std::map<std::string, MethodRecord, std::less<>> methods;
  // Digest of the program to which the record belongs. Empty if another tool wrote the record.
  std::string digest;
};

EtRecord read_etrecord(const std::filesystem::path& file);
// `source` names the bytes in error messages.
EtRecord parse_etrecord(std::span<const std::byte> bytes, std::string_view source = "ETRecord");

}  // namespace vitrine::etrecord

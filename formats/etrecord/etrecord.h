// ETRecord archive -> the maps and graphs that join a trace to its source model.
//
// Reads the layouts of ExecuTorch 0.5 to 1.4 (docs/formats/etrecord.md). Only the members that the
// join needs are read, so a record with large weights opens fast. The archive is untrusted: an
// FormatError names the file, the member and the place in it. Host side.
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

using DebugHandle = uint32_t;  // 0 is unset

// A tensor of the edge program.
struct EdgeValue {
  std::optional<ScalarType> dtype;  // unset: none that is known
  std::vector<int64_t> sizes;
  bool is_static = false;    // all sizes are known; else `sizes` is invalid
  bool is_constant = false;  // parameter, buffer or constant of the program
};

// An argument of a call, of the kinds that determine the cost of the call.
struct EdgeArgument {
  std::string name;               // its name in the op's schema: "weight"
  std::vector<size_t> values;     // tensors: positions in EdgeGraph::values
  std::vector<int64_t> integers;  // an integer, a bool, or a list of them
};

// A call in the edge program.
struct EdgeNode {
  std::string name;    // "aten_convolution_default_1"; of a node in a lowered module
                       // (records made after lowering): "lowered_module_0/aten_add_tensor"
  std::string target;  // "aten.convolution.default"
  DebugHandle debug_handle = 0;
  std::string module_path;   // "features.0.0"; empty for the root module
  std::string module_class;  // "torch.nn.modules.conv.Conv2d"
  std::string source_line;   // innermost frame of the stack trace, "model.py:167"; may be empty
  // The innermost frame outside PyTorch's own files, with its folder: "models/mobilenetv2.py:167".
  // The frame of source_line if all are PyTorch's.
  std::string model_line;
  std::vector<size_t> inputs;  // nodes whose results this one uses, in argument order; no repeats
  std::vector<EdgeArgument> arguments;
  std::vector<size_t> results;  // positions in EdgeGraph::values
};

struct EdgeGraph {
  std::vector<EdgeNode> nodes;  // in graph order: inputs come first
  std::vector<EdgeValue> values;
  std::vector<size_t> outputs;  // of the program: positions in `values`
  std::map<DebugHandle, std::vector<size_t>> nodes_of_handle;
};

// A delegate call's own identifiers -> debug handles. Integer identifiers are keyed by their
// decimal text.
struct DelegateEntry {
  std::string backend;
  std::map<std::string, std::vector<DebugHandle>, std::less<>> handles_of_id;
};

struct MethodRecord {
  // Instruction -> handles of the kernel call's node, or of all nodes that a delegate call took
  // (graph order, repeats kept).
  std::map<int32_t, std::vector<DebugHandle>> handles_of_instruction;
  std::map<int32_t, DelegateEntry> delegates;  // by instruction
  std::map<int32_t, int64_t> num_outputs;      // by instruction; delegate calls only
  EdgeGraph graph;
};

struct EtRecord {
  std::map<std::string, MethodRecord, std::less<>> methods;
};

EtRecord read_etrecord(const std::filesystem::path& file);
// `source` names the bytes in error messages.
EtRecord parse_etrecord(std::span<const std::byte> bytes, std::string_view source = "ETRecord");

}  // namespace vitrine::etrecord

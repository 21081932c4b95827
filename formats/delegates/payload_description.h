// PayloadDescription describes the payloads of all backends in the same way. Names come from files
// and may contain any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vitrine::delegates {

// The range of sizes that a dimension may have. `max` is -1 if the dimension is unbounded.
struct Dim {
  int64_t min = 0;
  int64_t max = 0;
};

struct ConstantData {
  uint64_t bytes = 0;
  std::string location;     // for example "payload", "named data 67a7/q.weight" or
                            // "weights/weight.bin"
  bool is_missing = false;  // true if neither the program nor the given data have the key
};

struct PayloadTensor {
  std::string name;        // empty if the format does not have names
  std::string dtype;       // for example "f32"; "dtype 77" for a number that the format's table
                           // lacks
  std::vector<Dim> shape;  // empty for scalars
  std::string storage;     // memory and layout on the device; empty if the format does not say
  std::optional<ConstantData> constant;
  bool has_shape = true;  // false if the payload does not give a shape
};

struct PayloadArgument {
  std::string name;  // empty if the format does not have names
  std::string text;  // for example "%3", "[1, 1]" or "none"
};

struct PayloadOperator {
  std::string name;
  std::vector<PayloadArgument> arguments;    // without the outputs
  std::vector<size_t> inputs, outputs;       // indices of tensors
  std::vector<uint32_t> debug_handles = {};  // debug handles of source nodes, if the payload
                                             // contains them
};

// A list of operators. Formats call such a list a function, chain or region.
struct PayloadGraph {
  std::string name;
  std::vector<size_t> inputs, outputs;  // indices of tensors
  std::vector<PayloadOperator> operators;
};

// A part of the payload: a file, block or section.
struct PayloadPart {
  std::string name;
  uint64_t bytes = 0;
  std::string content;  // a phrase; empty if the name is enough
};

struct PayloadDescription {
  std::string kind;                      // for example "Vulkan graph"
  std::string version;                   // empty if the format does not have versions
  std::vector<PayloadArgument> options;  // compile specs
  std::vector<std::string> facts;        // for example "target ethos-u55-128"
  std::vector<PayloadTensor> tensors;
  std::vector<PayloadGraph> graphs;
  std::vector<PayloadPart> parts;
  std::vector<std::string> notes;  // warnings, such as missing data or parts of a newer schema
  std::string closed;              // what cannot be read, and why; empty if everything can be read
  // The program inside the payload, as a view of the payload's bytes. Empty for most backends.
  std::span<const std::byte> program;

  // Totals over all graphs and tensors. A reader counts only weights that are not in `tensors`;
  // finish() adds the operators of `graphs` and the constants of `tensors`.
  size_t operators = 0;
  size_t constants = 0;
  uint64_t constant_bytes = 0;
  size_t missing_constants = 0;
};

// Computes the totals. Constants with the same key in named data count once.
void finish(PayloadDescription& description);

// Returns a text such as "f32[1,3,1..16]". A dimension without upper bound is "1..".
std::string tensor_text(const PayloadTensor& tensor);

}  // namespace vitrine::delegates

// Opens files with the runtime's loaders.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "base/zip_archive.h"
#include "runtime/executor/load_steps.h"
#include "tools/pte_inspect/description.h"
#include "vitrine/budget.h"
#include "vitrine/data_source.h"
#include "vitrine/named_data.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// A view of the bytes if they have the alignment that programs need, else an aligned copy.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes);
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  DataBuffer copy_;
  std::span<const std::byte> bytes_;
};

// load_program() and load_named_data() throw a ToolError that begins with the file's name. The
// file's bytes must outlive the result.
std::shared_ptr<const Program> load_program(const OpenedFile& file);
std::unique_ptr<NamedDataMap> load_named_data(const OpenedFile& file);

// An XNNPACK payload, read with the code of the backend.
struct XnnpackGraph {
  xnnpack::Payload payload;
  xnnpack::Graph graph;
};
// Throws a ToolError that begins with `label`. `steps` limits the work: a small payload may refer
// to many scales elsewhere. All payloads of a file share one budget (default_load_steps).
XnnpackGraph load_xnnpack_graph(std::span<const std::byte> bytes, const std::string& label,
                                Budget& steps);
XnnpackGraph load_xnnpack_graph(const OpenedFile& payload);
// Formats the datatype and shape of a value: "f32[1,3,224,224]".
std::string describe_value(const xnnpack::Value& value);
Json xnnpack_json(const XnnpackGraph& graph);

// Returns the arguments of a call. A valid file may omit the list of arguments.
template <class Call>
std::span<const int32_t> arguments_of(const Call& call) {
  if (call.args() == nullptr) return {};
  return {call.args()->data(), call.args()->size()};
}

// Lists the members of an archive: [{"name": ..., "bytes": ...}].
Json members_json(const ZipArchive& archive);

}  // namespace vitrine::tools

// Makes the runtime's views of a file's bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backends/xnnpack/runtime/blob.h"
#include "backends/xnnpack/runtime/graph.h"
#include "base/zip_archive.h"
#include "runtime/executor/load_steps.h"
#include "tools/pte_inspect/description.h"
#include "vitrine/budget.h"
#include "vitrine/data_source.h"
#include "vitrine/named_data.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// `bytes` at an address that is aligned for programs: a view or a copy.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes);
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  DataBuffer copy_;
  std::span<const std::byte> bytes_;
};

// Throw ToolErrors that begin with the file's name. The bytes must outlive the result.
std::shared_ptr<const Program> load_program(const OpenedFile& file);
std::unique_ptr<NamedDataMap> load_named_data(const OpenedFile& file);

// An XNNPACK payload as its backend reads it.
struct XnnpackGraph {
  xnnpack::Blob blob;
  xnnpack::Graph graph;
};
// Throws ToolError that begins with `place`. `steps` are those of the whole file
// (default_load_steps): a payload may count scales that lie outside of it.
XnnpackGraph load_xnnpack_graph(std::span<const std::byte> bytes, const std::string& place,
                                Budget& steps);
XnnpackGraph load_xnnpack_graph(const OpenedFile& payload);
// "f32[1,3,224,224]"
std::string describe_value(const xnnpack::Value& value);
Json xnnpack_json(const XnnpackGraph& graph);

// The arguments of a kernel or delegate call; a verified program may leave them out.
template <class Call>
std::span<const int32_t> arguments_of(const Call& call) {
  if (call.args() == nullptr) return {};
  return {call.args()->data(), call.args()->size()};
}

// [{"name", "bytes"}]
Json members_json(const ZipArchive& archive);

}  // namespace vitrine::tools

#include "tools/common/program_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "backends/profiles/xnnpack_node_types.h"
#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "base/digest.h"
#include "formats/etrecord/embedded_record.h"
#include "inspector/join/op_names.h"
#include "runtime/executor/load_steps.h"
#include "runtime/program/program_access.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;
using etrecord::DebugHandle;
using etrecord::EdgeValue;

std::string digest_in(const Program& program) {
  const Result<DataBuffer> bytes = program.named_data().get(etrecord::kRecordDigestKey);
  constexpr size_t kMaxBytes = 64;
  if (!bytes.ok() || (*bytes).size() > kMaxBytes) return {};
  return {reinterpret_cast<const char*>((*bytes).bytes().data()), (*bytes).size()};
}

template <class Sizes>
uint64_t product(const Sizes& sizes) {
  uint64_t elements = 1;
  for (const auto size : sizes) elements *= static_cast<uint64_t>(size);
  return elements;
}

// Finds the first contradiction between a method and its record.
class MethodCheck {
 public:
  MethodCheck(const Program& program, const MethodMeta& meta, const etrecord::MethodRecord& record)
      : program_(program), plan_(ProgramAccess::plan(meta)), meta_(meta), record_(record) {
    if (plan_.chains()->size() != 0) instructions_ = plan_.chains()->Get(0)->instructions();
  }

  std::string contradiction() {
    for (const auto check : {&MethodCheck::check_instructions, &MethodCheck::check_delegates,
                             &MethodCheck::check_kernels, &MethodCheck::check_outputs}) {
      if (const std::string text = std::invoke(check, *this); !text.empty()) {
        return fmt::format("method {}: {}", meta_.name(), text);
      }
    }
    return "";
  }

 private:
  const fbs::Instruction* instruction(int32_t index) const {
    const auto position = static_cast<uint32_t>(index);
    return instructions_ != nullptr && position < instructions_->size()
               ? instructions_->Get(position)
               : nullptr;
  }

  // Returns the backend that the instruction calls, or an empty text.
  std::string_view backend_of(const fbs::Instruction* instruction) const {
    const auto* call = instruction == nullptr ? nullptr : instruction->instr_args_as_DelegateCall();
    return call == nullptr ? std::string_view()
                           : meta_.delegate_id(static_cast<size_t>(call->delegate_index()));
  }

  std::string kernel_of(const fbs::Instruction* instruction) const {
    const auto* call = instruction == nullptr ? nullptr : instruction->instr_args_as_KernelCall();
    if (call == nullptr) return {};
    return std::string(meta_.operator_name(static_cast<size_t>(call->op_index())).first);
  }

  std::string check_instructions() {
    for (const auto& [index, handles] : record_.handles_of_instruction) {
      const fbs::Instruction* found = instruction(index);
      if (found == nullptr) {
        return fmt::format("the record has instruction {}, but the program has fewer instructions",
                           index);
      }
      if (backend_of(found).empty() && kernel_of(found).empty()) {
        return fmt::format(
            "instruction {} calls a kernel or a delegate in the record, but not in the program",
            index);
      }
    }
    return "";
  }

  std::string check_delegates() {
    for (const auto& [index, entry] : record_.delegates) {
      const std::string_view id = backend_of(instruction(index));
      if (id != entry.backend) {
        return fmt::format("instruction {} calls {} in the record, but {} in the program", index,
                           entry.backend, id.empty() ? "no delegate" : id);
      }
    }
    for (uint32_t i = 0; instructions_ != nullptr && i < instructions_->size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      const std::string_view id = backend_of(instruction(index));
      if (id.empty()) continue;
      const auto handles = record_.handles_of_instruction.find(index);
      if (handles == record_.handles_of_instruction.end()) {
        return fmt::format("instruction {} calls {}, but the record does not mention it", index,
                           id);
      }
      if (id != xnnpack::kBackendId) continue;
      if (std::string text = check_payload(index, handles->second); !text.empty()) return text;
    }
    return "";
  }

  // Checks the payload nodes with debug handles. A handle must be in `handles`, which the record
  // lists for the call. If record nodes have this handle, at least one must have an op of the
  // payload node's type, and at least one must have a result with the same number of elements or a
  // dynamic size.
  std::string check_payload(int32_t index, const std::vector<DebugHandle>& handles) {
    const auto& call = *instruction(index)->instr_args_as_DelegateCall();
    const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()));
    const Result<DataBuffer> bytes = ProgramAccess::payload(program_, *delegate.processed());
    if (!bytes.ok()) return "";
    Budget steps(default_load_steps(program_.file_bytes()));
    const auto payload = xnnpack::open_payload((*bytes).bytes(), steps);
    if (!payload.ok()) return "";
    const auto graph = xnnpack::read_graph(*(*payload).graph, steps);
    if (!graph.ok()) return "";
    for (const xnnpack::Node& node : (*graph).nodes) {
      const DebugHandle handle = node.debug_handle;
      if (handle == 0 || handle == xnnpack::kInsertedHandle) continue;
      if (std::ranges::count(handles, handle) == 0) {
        return fmt::format(
            "the delegate of instruction {} has debug handle {}, but the record has {}", index,
            handle, fmt::join(handles, ","));
      }
      const auto nodes = record_.graph.nodes_of_handle.find(handle);
      if (nodes == record_.graph.nodes_of_handle.end() || node.output_count == 0) continue;
      const bool is_known = std::ranges::any_of(nodes->second, [&](size_t each) {
        const auto op = inspector::base_name(record_.graph.nodes[each].target);
        return xnnpack::is_op_of_node_type(op, node.kind->name);
      });
      if (!is_known) {
        return fmt::format(
            "the delegate of instruction {} runs a {} for debug handle {}, but the "
            "record has {}",
            index, node.kind->name, handle, record_.graph.nodes[nodes->second[0]].target);
      }
      const xnnpack::Value& output = (*graph).values[node.outputs[0]];
      if (may_have_result(nodes->second, product(output.shape.used()))) continue;
      return fmt::format(
          "the delegate of instruction {} computes a tensor of [{}] for debug handle {}, which "
          "the record does not have",
          index, fmt::join(output.shape.used(), ","), handle);
    }
    return "";
  }

  bool may_have_result(const std::vector<size_t>& nodes, uint64_t elements) const {
    return std::ranges::any_of(nodes, [&](size_t node) {
      return std::ranges::any_of(record_.graph.nodes[node].results, [&](size_t result) {
        const EdgeValue& value = record_.graph.values[result];
        return !value.is_static || product(value.sizes) == elements;
      });
    });
  }

  // Returns the record's nodes that have the kernel's name and one of the handles.
  std::vector<size_t> nodes_of(std::string_view kernel,
                               const std::vector<DebugHandle>& handles) const {
    std::vector<size_t> result;
    for (const DebugHandle handle : handles) {
      const auto nodes = record_.graph.nodes_of_handle.find(handle);
      if (nodes == record_.graph.nodes_of_handle.end()) continue;
      std::ranges::copy_if(nodes->second, std::back_inserter(result), [&](size_t node) {
        return inspector::base_name(record_.graph.nodes[node].target) ==
               inspector::base_name(kernel);
      });
    }
    return result;
  }

  // Returns the number of elements of the kernel's result, or nullopt if the result is not one
  // tensor of a fixed size.
  std::optional<uint64_t> result_of(const fbs::KernelCall& call) const {
    if (call.args() == nullptr || call.args()->size() == 0) return std::nullopt;
    const int32_t last = call.args()->Get(call.args()->size() - 1);
    if (last < 0) return std::nullopt;
    const auto* tensor = plan_.values()->Get(static_cast<uint32_t>(last))->val_as_Tensor();
    if (tensor == nullptr || tensor->sizes() == nullptr ||
        tensor->shape_dynamism() != fbs::TensorShapeDynamism::STATIC) {
      return std::nullopt;
    }
    return product(*tensor->sizes());
  }

  // Compares each kernel with the record's nodes of the same name and debug handle. One node must
  // have a result with the same number of elements or a dynamic size. Lowering decomposes ops after
  // making the record, so kernels may lack nodes. The check fails only if at least two kernels, and
  // more than 80 % of all kernels, lack nodes.
  std::string check_kernels() {
    size_t compared = 0;
    size_t wrong = 0;
    for (const auto& [index, handles] : record_.handles_of_instruction) {
      const std::string kernel = kernel_of(instruction(index));
      if (kernel.empty()) continue;
      const std::vector<size_t> nodes = nodes_of(kernel, handles);
      ++compared;
      wrong += nodes.empty() ? 1 : 0;
      const auto elements = result_of(*instruction(index)->instr_args_as_KernelCall());
      if (nodes.empty() || !elements || may_have_result(nodes, *elements)) continue;
      return fmt::format(
          "instruction {} ({}) computes {} elements, but the record has a different number", index,
          kernel, *elements);
    }
    constexpr double kMaxWrong = 0.8;
    if (wrong < 2 || static_cast<double>(wrong) <= kMaxWrong * static_cast<double>(compared)) {
      return "";
    }
    return fmt::format("{} of {} kernels do not match the ops in the record", wrong, compared);
  }

  // The record's graph returns the written buffers before the method's outputs.
  std::string check_outputs() {
    const std::vector<size_t>& outputs = record_.graph.outputs;
    if (record_.graph.nodes.empty()) return "";  // the record has only the maps of the method
    std::vector<TensorInfo> tensors;
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      if (meta_.output_tag(i) == EValue::Tag::kTensor) tensors.push_back(meta_.output_tensor(i));
    }
    if (outputs.size() < tensors.size()) {
      return fmt::format("the program has {} outputs, but the record has {}", tensors.size(),
                         outputs.size());
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      const EdgeValue& value = record_.graph.values[outputs[outputs.size() - tensors.size() + i]];
      if (!value.is_static || tensors[i].dynamism != ShapeDynamism::kStatic) continue;
      if (std::ranges::equal(value.sizes, tensors[i].sizes)) continue;
      return fmt::format("output {} is [{}] in the program, but [{}] in the record", i,
                         fmt::join(tensors[i].sizes, ","), fmt::join(value.sizes, ","));
    }
    return "";
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  const MethodMeta meta_;
  const etrecord::MethodRecord& record_;
  const flatbuffers::Vector<flatbuffers::Offset<fbs::Instruction>>* instructions_ = nullptr;
};

}  // namespace

std::optional<etrecord::EtRecord> embedded_record(const Program& program) {
  const Result<DataBuffer> bytes = program.named_data().get(etrecord::kEmbeddedRecordKey);
  if (!bytes.ok()) return std::nullopt;
  return etrecord::parse_etrecord((*bytes).bytes(), "the program's own record");
}

std::string contradiction(const Program& program, const etrecord::EtRecord& record) {
  bool has_common = false;
  std::string names;
  for (const auto& [name, method] : record.methods) {
    const Result<MethodMeta> meta = program.method_meta(name);
    names += (names.empty() ? "" : ", ") + name;
    if (!meta.ok()) continue;
    has_common = true;
    if (std::string text = MethodCheck(program, *meta, method).contradiction(); !text.empty()) {
      return text;
    }
  }
  return has_common ? "" : "the program has none of the record's methods (" + names + ")";
}

std::optional<etrecord::EtRecord> record_for_program(const Program& program,
                                                     const std::filesystem::path& file,
                                                     std::vector<std::string>& warnings) {
  if (file.empty()) return embedded_record(program);
  etrecord::EtRecord record = etrecord::read_etrecord(file);
  const auto refuse = [&](const std::string& reason) {
    return ToolError(
        fmt::format("{} is not the record of this program: {}; use the record that was written "
                    "with this program",
                    file.string(), reason));
  };
  const std::string expected = digest_in(program);
  if (record.digest != expected && !record.digest.empty()) {
    throw refuse(fmt::format("the record has the digest {}, but the program has {}", record.digest,
                             expected.empty() ? "none" : expected));
  }
  if (record.digest == expected && !expected.empty()) return record;
  // A record from `vitrine strip` does not contain a digest. The stripped program has the digest of
  // the record file.
  if (record.digest.empty() && !expected.empty() && digest_of(read_file(file)) == expected) {
    return record;
  }
  if (const std::string reason = contradiction(program, record); !reason.empty()) {
    throw refuse(reason);
  }
  if (!expected.empty()) {
    warnings.push_back(fmt::format(
        "{} may not be the record of this program: the program has a digest of its record, but the "
        "record has none",
        file.filename().string()));
  }
  return record;
}

}  // namespace vitrine::tools

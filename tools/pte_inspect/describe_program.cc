// Describes a program: its methods, their calls and memory; segments and named data.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/value_names.h"
#include "backends/xnnpack/format/identifiers.h"
#include "host/tensors.h"
#include "host/tool_error.h"
#include "runtime/data/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/loading.h"
#include "vitrine/budget.h"
#include "vitrine/extended_header.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

constexpr size_t kMaxArguments = size_t{1} << 24;

// "i8" -> how often
using Counts = std::map<std::string, size_t>;

std::string text_of(const flatbuffers::String* text) { return text != nullptr ? text->str() : ""; }

Json tensor_json(const TensorInfo& info) {
  Json json = {{"tensor", describe(info.dtype, info.sizes)},
               {"dim_order", std::vector<int>(info.dim_order.begin(), info.dim_order.end())},
               {"dynamic", info.dynamism != ShapeDynamism::kStatic},
               {"bytes", info.nbytes},
               {"planned", info.is_memory_planned}};
  return json;
}

Json arguments_json(const MethodMeta& meta, bool inputs) {
  Json list = Json::array();
  const size_t count = inputs ? meta.num_inputs() : meta.num_outputs();
  const ValueNames names =
      check(inputs ? ValueNames::of_inputs(meta) : ValueNames::of_outputs(meta));
  for (size_t i = 0; i < count; ++i) {
    const EValue::Tag tag = inputs ? meta.input_tag(i) : meta.output_tag(i);
    if (tag == EValue::Tag::kTensor) {
      list.push_back(tensor_json(inputs ? meta.input_tensor(i) : meta.output_tensor(i)));
    } else {
      list.push_back({{"value", tag_name(tag)}});
    }
    if (!names.at(i).empty()) list.back()["name"] = names.at(i);
  }
  return list;
}

class MethodDescriber {
 public:
  MethodDescriber(const Program& program, const fbs::ExecutionPlan& plan)
      : program_(program),
        plan_(plan),
        meta_(ProgramAccess::method_meta(plan)),
        steps_(default_load_steps(program.file_bytes())) {}

  Json describe() {
    read_instructions();
    read_values();
    return {{"name", meta_.name()},
            {"inputs", arguments_json(meta_, true)},
            {"outputs", arguments_json(meta_, false)},
            {"instructions", instructions_},
            {"operators", operators()},
            {"delegates", delegates()},
            {"values", values_},
            {"memory", memory()},
            {"constants", {{"tensors", constants_}, {"bytes", constant_bytes_}}},
            {"state", {{"tensors", states_}, {"bytes", state_bytes_}}},
            {"external", external_}};
  }

 private:
  struct Calls {
    size_t count = 0;
    std::set<std::string> dtypes;
  };

  void read_instructions() {
    for (const fbs::Chain* chain : *plan_.chains()) {
      if (chain->instructions() == nullptr) continue;
      for (const fbs::Instruction* instruction : *chain->instructions()) {
        ++instructions_[fbs::EnumNameInstructionArguments(instruction->instr_args_type())];
        if (const auto* call = instruction->instr_args_as_KernelCall()) {
          Calls& calls = operator_calls_[call->op_index()];
          ++calls.count;
          // Calls may share their lists, so a small file could have unlimited arguments.
          arguments_ += arguments_of(*call).size();
          if (arguments_ > kMaxArguments) {
            throw ToolError(fmt::format("method {}: more than {} arguments of calls: refused",
                                        meta_.name(), kMaxArguments));
          }
          for (const int32_t arg : arguments_of(*call)) add_dtypes(arg, calls.dtypes);
        } else if (const auto* delegate = instruction->instr_args_as_DelegateCall()) {
          ++delegate_calls_[delegate->delegate_index()];
        }
      }
    }
  }

  void add_dtypes(int32_t index, std::set<std::string>& dtypes) const {
    if (index < 0) return;  // None in a list of optional tensors
    const fbs::EValue& value = *plan_.values()->Get(static_cast<uint32_t>(index));
    if (const auto* tensor = value.val_as_Tensor()) {
      dtypes.insert(scalar_type_name(static_cast<ScalarType>(tensor->scalar_type())));
    } else if (const auto* list = value.val_as_TensorList()) {
      for (const int32_t item : *list->items()) add_dtypes(item, dtypes);
    } else if (const auto* optional = value.val_as_OptionalTensorList()) {
      for (const int32_t item : *optional->items()) add_dtypes(item, dtypes);
    }
  }

  // For verified tensors, whose size does not overflow.
  static uint64_t bytes_of(const fbs::Tensor& tensor) {
    uint64_t bytes = element_size(static_cast<ScalarType>(tensor.scalar_type()));
    for (const int32_t size : *tensor.sizes()) bytes *= static_cast<uint64_t>(size);
    return bytes;
  }

  void read_values() {
    if (plan_.values() == nullptr) return;
    for (const fbs::EValue* value : *plan_.values()) {
      ++values_[fbs::EnumNameKernelTypes(value->val_type())];
      const auto* tensor = value->val_as_Tensor();
      if (tensor == nullptr) continue;
      const uint64_t bytes = bytes_of(*tensor);
      const auto* extra = tensor->extra_tensor_info();
      if (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL) {
        external_.push_back(text_of(extra->fully_qualified_name()));
      } else if (const auto* planned = tensor->allocation_info()) {
        ++planned_tensors_[planned->memory_id()];
        planned_bytes_[planned->memory_id()] += bytes;
        if (tensor->data_buffer_idx() == 0) continue;
        ++states_;
        state_bytes_ += bytes;
      } else if (tensor->data_buffer_idx() != 0) {
        ++constants_;
        constant_bytes_ += bytes;
      }
    }
  }

  Json operators() const {
    Json list = Json::array();
    for (size_t i = 0; i < meta_.num_operators(); ++i) {
      const auto [name, overload] = meta_.operator_name(i);
      const auto calls = operator_calls_.find(static_cast<int32_t>(i));
      const bool called = calls != operator_calls_.end();
      list.push_back(
          {{"name", overload.empty() ? std::string(name) : fmt::format("{}.{}", name, overload)},
           {"calls", called ? calls->second.count : 0},
           {"dtypes", called ? Json(calls->second.dtypes) : Json::array()}});
    }
    return list;
  }

  Json delegates() {
    Json list = Json::array();
    for (size_t i = 0; i < meta_.num_delegates(); ++i) {
      const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(i));
      const auto calls = delegate_calls_.find(static_cast<int32_t>(i));
      const DataBuffer data = check(ProgramAccess::delegate_data(program_, *delegate.processed()));
      Json json = {{"backend", delegate.id()->string_view()},
                   {"calls", calls != delegate_calls_.end() ? calls->second : 0},
                   {"bytes", data.size()},
                   {"location", delegate.processed()->location() == fbs::DataLocation::SEGMENT
                                    ? fmt::format("segment {}", delegate.processed()->index())
                                    : "inline"}};
      json["compile_specs"] = Json::array();
      for (size_t k = 0; k < size_of(delegate.compile_specs()); ++k) {
        const auto& spec = *delegate.compile_specs()->Get(static_cast<uint32_t>(k));
        json["compile_specs"].push_back(
            {{"key", text_of(spec.key())}, {"bytes", size_of(spec.value())}});
      }
      if (json["backend"] == xnnpack::kBackendId) {
        const auto key = std::pair(delegate.processed()->location(), delegate.processed()->index());
        auto [graph, is_new] = graphs_.try_emplace(key);
        if (is_new) graph->second = graph_json(data.bytes());
        json.update(graph->second);
      }
      list.push_back(std::move(json));
    }
    return list;
  }

  // An error in one delegate must not hide the rest; --verify fails on it.
  Json graph_json(std::span<const std::byte> bytes) {
    try {
      return {{"xnnpack", xnnpack_json(load_xnnpack_graph(bytes, "payload", steps_))}};
    } catch (const ToolError& error) {
      return {{"error", error.what()}};
    }
  }

  Json memory() const {
    Json arenas = Json::array();
    for (size_t i = 0; i < meta_.num_planned_buffers(); ++i) {
      const auto id = static_cast<uint32_t>(i + 1);
      const auto tensors = planned_tensors_.find(id);
      const auto bytes = planned_bytes_.find(id);
      arenas.push_back({{"id", id},
                        {"bytes", meta_.planned_buffer_size(i)},
                        {"tensors", tensors != planned_tensors_.end() ? tensors->second : 0},
                        {"tensor_bytes", bytes != planned_bytes_.end() ? bytes->second : 0}});
    }
    return arenas;
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  const MethodMeta meta_;
  Counts instructions_, values_;
  std::map<int32_t, Calls> operator_calls_;
  std::map<int32_t, size_t> delegate_calls_;
  std::map<uint32_t, size_t> planned_tensors_;  // by memory id
  std::map<uint32_t, uint64_t> planned_bytes_;
  std::vector<std::string> external_;
  std::map<std::pair<fbs::DataLocation, uint32_t>, Json> graphs_;  // of payloads, each read once
  Budget steps_;                                                   // to read payloads
  size_t arguments_ = 0;
  size_t constants_ = 0, states_ = 0;
  uint64_t constant_bytes_ = 0, state_bytes_ = 0;
};

// The uses of each segment; several may share one.
std::vector<std::vector<std::string>> segment_uses(const Program& program) {
  const fbs::Program& root = ProgramAccess::root(program);
  std::vector<std::vector<std::string>> uses(size_of(root.segments()));
  const auto add = [&uses](uint32_t segment, std::string use) {
    if (segment < uses.size()) uses[segment].push_back(std::move(use));
  };
  if (const auto* constants = root.constant_segment(); constants && size_of(constants->offsets())) {
    add(constants->segment_index(), "constants");
  }
  for (size_t i = 0; i < size_of(root.mutable_data_segments()); ++i) {
    add(root.mutable_data_segments()->Get(static_cast<uint32_t>(i))->segment_index(),
        "initial state");
  }
  for (const fbs::ExecutionPlan* plan : *root.execution_plan()) {
    for (size_t i = 0; i < size_of(plan->delegates()); ++i) {
      const auto& delegate = *plan->delegates()->Get(static_cast<uint32_t>(i));
      if (delegate.processed()->location() != fbs::DataLocation::SEGMENT) continue;
      add(delegate.processed()->index(),
          fmt::format("delegate {} of {}: {}", i, plan->name()->str(), delegate.id()->str()));
    }
  }
  for (size_t i = 0; i < size_of(root.named_data()); ++i) {
    const auto& entry = *root.named_data()->Get(static_cast<uint32_t>(i));
    add(entry.segment_index(), "named data " + entry.key()->str());
  }
  return uses;
}

}  // namespace

void describe_program(const OpenedFile& file, Json& json) {
  const std::shared_ptr<const Program> program = load_program(file);
  const fbs::Program& root = ProgramAccess::root(*program);
  const auto header = check(read_extended_header(file.bytes.first<kProgramHeadBytes>()));
  json["version"] = root.version();
  json["flatbuffer_bytes"] = header ? header->program_size : file.bytes.size();
  json["methods"] = Json::array();
  for (const fbs::ExecutionPlan* plan : *root.execution_plan()) {
    json["methods"].push_back(MethodDescriber(*program, *plan).describe());
  }
  json["segments"] = Json::array();
  const auto uses = segment_uses(*program);
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto& segment = *root.segments()->Get(static_cast<uint32_t>(i));
    json["segments"].push_back(
        {{"offset", header ? header->segment_base + segment.offset() : segment.offset()},
         {"bytes", segment.size()},
         {"holds", uses[i]}});
  }
  json["named_data"] = Json::array();
  for (size_t i = 0; i < size_of(root.named_data()); ++i) {
    const auto& entry = *root.named_data()->Get(static_cast<uint32_t>(i));
    json["named_data"].push_back({{"key", entry.key()->str()},
                                  {"bytes", root.segments()->Get(entry.segment_index())->size()},
                                  {"segment", entry.segment_index()}});
  }
}

}  // namespace vitrine::tools

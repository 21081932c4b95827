// Describes a program: its methods, segments and named data.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/value_names.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/delegate_lines.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/payload_json.h"
#include "tools/pte_inspect/prepared_delegates.h"
#include "vitrine/budget.h"
#include "vitrine/extended_header.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

constexpr size_t kMaxArguments = size_t{1} << 24;

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

// Describes each payload only once. Many delegates of a hostile file may name the same payload.
class DescribedPayloads {
 public:
  using Key = std::tuple<std::string, fbs::DataLocation, uint32_t>;

  explicit DescribedPayloads(size_t file_bytes) : bytes_(kPayloadsPerFile * file_bytes) {}

  // Returns {"same_as": ...} for a payload that was described before.
  Json describe(const Key& key, const std::string& where, const delegates::PayloadInput& input) {
    const auto [found, is_new] = first_.try_emplace(key, where);
    if (!is_new) return {{"same_as", found->second}};
    if (bytes_.take(input.bytes.size())) return payload_json(input);
    return {
        {"error", fmt::format("not described: the program's payloads overlap and together exceed "
                              "{} bytes, the limit for a file of this size",
                              bytes_.limit())}};
  }

 private:
  static constexpr uint64_t kPayloadsPerFile = 2;
  std::map<Key, std::string> first_;  // the delegate under which a payload was described
  Budget bytes_;
};

class MethodDescriber {
 public:
  MethodDescriber(const Program& program, const fbs::ExecutionPlan& plan, const NamedDataMap* data,
                  DescribedPayloads& described)
      : program_(program),
        plan_(plan),
        data_(data),
        described_(described),
        meta_(ProgramAccess::method_meta(plan)),
        steps_(default_load_steps(program.file_bytes())) {}

  Json describe() {
    read_instructions();
    read_values();
    Json delegates = describe_delegates();
    return {{"name", meta_.name()},
            {"inputs", arguments_json(meta_, true)},
            {"outputs", arguments_json(meta_, false)},
            {"unwritten_outputs", unwritten_outputs()},
            {"instructions", instructions_},
            {"operators", operators()},
            {"delegates", std::move(delegates)},
            {"values", values_},
            {"memory", memory()},
            {"constants", {{"tensors", constants_}, {"bytes", constant_bytes_}}},
            {"state", {{"tensors", states_}, {"bytes", state_bytes_}}},
            {"external", external_}};
  }

 private:
  // Number of calls to one operator, and the dtypes of their arguments.
  struct OperatorCalls {
    size_t count = 0;
    std::set<std::string> dtypes;
  };

  void read_instructions() {
    for (const fbs::Chain* chain : *plan_.chains()) {
      if (chain->instructions() == nullptr) continue;
      for (const fbs::Instruction* instruction : *chain->instructions()) {
        ++instructions_[fbs::EnumNameInstructionArguments(instruction->instr_args_type())];
        if (const auto* call = instruction->instr_args_as_KernelCall()) {
          OperatorCalls& calls = operator_calls_[call->op_index()];
          ++calls.count;
          count_arguments(arguments_of(*call).size());
          for (const int32_t arg : arguments_of(*call)) add_dtypes(arg, calls.dtypes);
        } else if (const auto* delegate = instruction->instr_args_as_DelegateCall()) {
          delegate_calls_[delegate->delegate_index()].push_back(arguments_of(*delegate));
        } else if (const auto* move = instruction->instr_args_as_MoveCall()) {
          touched_.insert({move->move_from(), move->move_to()});
        }
      }
    }
  }

  void add_dtypes(int32_t index, std::set<std::string>& dtypes) {
    if (index < 0) return;  // -1 is None in a list of optional tensors
    touched_.insert(index);
    const fbs::EValue& value = *plan_.values()->Get(static_cast<uint32_t>(index));
    if (const auto* tensor = value.val_as_Tensor()) {
      dtypes.insert(scalar_type_name(static_cast<ScalarType>(tensor->scalar_type())));
    } else if (const auto* list = value.val_as_TensorList()) {
      for (const int32_t item : *list->items()) add_dtypes(item, dtypes);
    } else if (const auto* optional = value.val_as_OptionalTensorList()) {
      for (const int32_t item : *optional->items()) add_dtypes(item, dtypes);
    }
  }

  // Precondition: the tensor is verified, so that its size cannot overflow.
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

  // Lists the outputs that no instruction writes. Assumes that kernels and unknown backends write
  // all of their arguments, so the list may be incomplete. Omits outputs whose memory overlaps
  // another tensor, because they may be views.
  Json unwritten_outputs() {
    for (uint32_t i = 0; i < size_of(plan_.inputs()); ++i) touched_.insert(plan_.inputs()->Get(i));
    std::set<int32_t> lost;  // listed by delegates whose payloads do not define them
    for (const auto& [delegate, calls] : delegate_calls_) {
      for (const std::span<const int32_t> arguments : calls) {
        count_arguments(arguments.size());
        for (size_t i = 0; i < arguments.size(); ++i) {
          (defines(delegate, i) ? touched_ : lost).insert(arguments[i]);
        }
      }
    }
    Json list = Json::array();
    for (uint32_t i = 0; i < size_of(plan_.outputs()); ++i) {
      const int32_t index = plan_.outputs()->Get(i);
      const auto* tensor = plan_.values()->Get(static_cast<uint32_t>(index))->val_as_Tensor();
      if (tensor == nullptr || touched_.contains(index) || is_constant(*tensor)) continue;
      if (lost.contains(index) || !shares_memory(*tensor)) list.push_back(i);
    }
    return list;
  }

  // True if the delegate's payload has a value for this argument, or if the payload is unknown.
  bool defines(int32_t delegate, size_t argument) const {
    const auto known = externals_.find(delegate);
    if (known == externals_.end()) return true;
    return argument < known->second.size() && known->second[argument];
  }

  bool shares_memory(const fbs::Tensor& tensor) {
    const MemoryRange range = range_of(tensor);
    count_arguments(plan_.values()->size());
    for (const fbs::EValue* value : *plan_.values()) {
      const auto* other = value->val_as_Tensor();
      if (other == nullptr || other == &tensor) continue;
      const MemoryRange at = range_of(*other);
      if (at.memory == range.memory && at.begin < range.end && range.begin < at.end) return true;
    }
    return false;
  }

  // Empty if the tensor is not planned.
  struct MemoryRange {
    uint32_t memory = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  static MemoryRange range_of(const fbs::Tensor& tensor) {
    const auto* info = tensor.allocation_info();
    if (info == nullptr) return {};
    const uint64_t begin =
        info->memory_offset_low() | static_cast<uint64_t>(info->memory_offset_high()) << 32;
    return {info->memory_id(), begin, begin + bytes_of(tensor)};
  }

  // In a hostile file, many calls may share one long list of arguments.
  void count_arguments(size_t count) {
    arguments_ += count;
    if (arguments_ <= kMaxArguments) return;
    throw ToolError(
        fmt::format("method {}: the number of arguments of all calls exceeds the limit of {}",
                    meta_.name(), kMaxArguments));
  }

  static bool is_constant(const fbs::Tensor& tensor) {
    const auto* extra = tensor.extra_tensor_info();
    return tensor.data_buffer_idx() != 0 ||
           (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL);
  }

  Json describe_delegates() {
    Json list = Json::array();
    for (size_t i = 0; i < meta_.num_delegates(); ++i) {
      const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(i));
      const auto calls = delegate_calls_.find(static_cast<int32_t>(i));
      const DataBuffer data = check(ProgramAccess::payload(program_, *delegate.processed()));
      Json json = {{"backend", delegate.id()->string_view()},
                   {"calls", calls != delegate_calls_.end() ? calls->second.size() : 0},
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
        if (is_new) graph->second = read_graph(data.bytes());
        json.update(graph->second.json);
        if (graph->second.is_valid) {
          externals_.emplace(static_cast<int32_t>(i), graph->second.externals);
        }
      } else {
        json.update(foreign_payload(i, data.bytes()));
      }
      list.push_back(std::move(json));
    }
    return list;
  }

  Json foreign_payload(size_t index, std::span<const std::byte> bytes) {
    const auto& delegate = *plan_.delegates()->Get(static_cast<uint32_t>(index));
    delegates::PayloadInput input = payload_input(delegate, bytes);
    const MergedNamedData data(&program_.named_data(), data_);
    input.data = &data;
    input.method = meta_.name();
    return described_.describe({std::string(input.backend), delegate.processed()->location(),
                                delegate.processed()->index()},
                               fmt::format("delegate {} of {}", index, meta_.name()), input);
  }

  struct PayloadGraph {
    Json json;
    bool is_valid = false;
    std::vector<bool> externals;  // true for arguments that the payload defines
  };

  // A damaged payload becomes an "error", so that other delegates are still described.
  PayloadGraph read_graph(std::span<const std::byte> bytes) {
    try {
      const XnnpackGraph graph = load_xnnpack_graph(bytes, "payload", steps_);
      PayloadGraph read{{{"xnnpack", xnnpack_json(graph)}}, true, {}};
      for (const uint32_t value : graph.graph.externals) {
        read.externals.push_back(value != xnnpack::kNone);
      }
      return read;
    } catch (const ToolError& error) {
      return {{{"error", error.what()}}, false, {}};
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
  const NamedDataMap* data_;  // external; may be null
  DescribedPayloads& described_;
  const MethodMeta meta_;
  Counts instructions_, values_;
  std::map<int32_t, OperatorCalls> operator_calls_;
  std::map<int32_t, std::vector<std::span<const int32_t>>> delegate_calls_;  // their arguments
  std::map<int32_t, std::vector<bool>> externals_;  // indexed by delegate, if its payload is known
  std::set<int32_t> touched_;                   // inputs, and values that an instruction may write
  std::map<uint32_t, size_t> planned_tensors_;  // keyed by memory id
  std::map<uint32_t, uint64_t> planned_bytes_;
  std::vector<std::string> external_;
  std::map<std::pair<fbs::DataLocation, uint32_t>, PayloadGraph> graphs_;  // keyed by payload
  Budget steps_;  // bounds the work of reading payloads
  size_t arguments_ = 0;
  size_t constants_ = 0, states_ = 0;
  uint64_t constant_bytes_ = 0, state_bytes_ = 0;
};

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
  DescribedPayloads described(file.bytes.size());
  std::optional<DelegatePreparer> preparer;
  if (file.prepares_delegates) preparer.emplace(*program, file.data);
  for (const fbs::ExecutionPlan* plan : *root.execution_plan()) {
    Json method = MethodDescriber(*program, *plan, file.data, described).describe();
    if (preparer && size_of(plan->delegates()) != 0) {
      method["delegate_memory"] = preparer->prepare(*plan);
    }
    json["methods"].push_back(std::move(method));
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

#include "tools/llm_runner/profile/method_bytes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "llm/cache_operators.h"
#include "runtime/executor/load_steps.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/tensors.h"
#include "vitrine/budget.h"

namespace vitrine::llm {
namespace {

namespace fbs = schema::program;

// Operators that read only one row of a constant per token.
constexpr std::string_view kLookups[] = {
    "aten::embedding",
    "aten::index",
    "aten::index_select",
    "aten::select_copy",
    "aten::slice_copy",
    "quantized_decomposed::embedding_2bit",
    "quantized_decomposed::embedding_4bit",
    "quantized_decomposed::embedding_byte",
};

bool is_constant(const fbs::Tensor& tensor) {
  const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  const bool is_external =
      extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL;
  return tensor.allocation_info() == nullptr && (tensor.data_buffer_idx() != 0 || is_external);
}

double bytes_of(const fbs::Tensor& tensor) {
  auto bytes = static_cast<double>(element_size(static_cast<ScalarType>(tensor.scalar_type())));
  for (const int32_t size : *tensor.sizes()) bytes *= size;
  return bytes;
}

std::string identity_of(const fbs::Tensor& constant) {
  const fbs::ExtraTensorInfo* extra = constant.extra_tensor_info();
  const bool is_named = constant.data_buffer_idx() == 0 && extra != nullptr &&
                        extra->fully_qualified_name() != nullptr;
  return is_named ? "external " + extra->fully_qualified_name()->str()
                  : "buffer " + std::to_string(constant.data_buffer_idx());
}

double value_bytes(const xnnpack::Value& value) {
  constexpr double kBlockScale = 2;  // bfloat16
  constexpr double kScale = 4;
  const auto dense = xnnpack::tensor_bytes(*value.datatype, value.shape);
  return static_cast<double>(dense.value_or(0)) +
         value.scale_count * (value.block_size != 0 ? kBlockScale : kScale);
}

class MethodBytesReader {
 public:
  MethodBytesReader(const Program& program, const MethodMeta& method, std::set<std::string>& seen)
      : program_(program),
        plan_(ProgramAccess::plan(method)),
        seen_(seen),
        steps_(default_load_steps(program.file_bytes())) {}

  MethodBytes read() {
    for_each_instruction([this](int32_t id, const fbs::Instruction& from) {
      if (const auto* call = from.instr_args_as_KernelCall()) find_caches(id, *call);
    });
    for_each_instruction([this](int32_t id, const fbs::Instruction& from) {
      if (const auto* call = from.instr_args_as_KernelCall()) read_kernel(id, *call);
      if (const auto* call = from.instr_args_as_DelegateCall()) read_delegate(id, *call);
    });
    return std::move(bytes_);
  }

 private:
  using PlannedAddress = std::pair<uint32_t, uint64_t>;  // memory id, offset

  template <class Visit>
  void for_each_instruction(Visit visit) {
    if (size_of(plan_.chains()) == 0) return;
    const auto* instructions = plan_.chains()->Get(0)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      visit(static_cast<int32_t>(i), *instructions->Get(i));
    }
  }

  std::string_view name_of(const fbs::KernelCall& call) const {
    return plan_.operators()->Get(static_cast<uint32_t>(call.op_index()))->name()->string_view();
  }

  // Returns a tensor argument, or null if the index is out of range or the argument is not a
  // tensor.
  const fbs::Tensor* argument(const fbs::KernelCall& call, int index) const {
    if (index < 0 || static_cast<uint32_t>(index) >= size_of(call.args())) return nullptr;
    const int32_t value = call.args()->Get(static_cast<uint32_t>(index));
    return value < 0 ? nullptr : tensor(value);
  }
  const fbs::Tensor* tensor(int32_t value) const {
    return plan_.values()->Get(static_cast<uint32_t>(value))->val_as_Tensor();
  }

  static std::optional<PlannedAddress> address_of(const fbs::Tensor& tensor) {
    const fbs::AllocationDetails* info = tensor.allocation_info();
    if (info == nullptr) return std::nullopt;
    return PlannedAddress{info->memory_id(),
                          uint64_t{info->memory_offset_high()} << 32 | info->memory_offset_low()};
  }

  void find_caches(int32_t id, const fbs::KernelCall& call) {
    const CacheOperator* known = find_cache_operator(name_of(call));
    if (known == nullptr) return;
    for (const int index : known->written_args) {
      const fbs::Tensor* cache = argument(call, index);
      const std::optional<PlannedAddress> address =
          cache == nullptr ? std::nullopt : address_of(*cache);
      if (!address || !caches_.emplace(*address, bytes_.caches.size()).second) continue;
      const fbs::ExtraTensorInfo* extra = cache->extra_tensor_info();
      const bool is_named = extra != nullptr && extra->fully_qualified_name() != nullptr;
      const std::string buffer = is_named ? extra->fully_qualified_name()->str() : "";
      bytes_.caches.push_back({buffer, layer_of(buffer),
                               tools::describe(static_cast<ScalarType>(cache->scalar_type()),
                                               {cache->sizes()->data(), cache->sizes()->size()}),
                               static_cast<uint64_t>(bytes_of(*cache)), id});
    }
  }

  void read_kernel(int32_t id, const fbs::KernelCall& call) {
    const std::string_view name = name_of(call);
    const CacheOperator* known = find_cache_operator(name);
    KernelBytes bytes;
    bytes.is_lookup = std::ranges::count(kLookups, name) != 0;
    bytes.is_attention = known != nullptr && known->is_attention;
    std::set<int32_t> seen;  // an out argument appears twice
    for (uint32_t i = 0; i < size_of(call.args()); ++i) {
      const int32_t value = call.args()->Get(i);
      if (value < 0 || !seen.insert(value).second) continue;
      const fbs::Tensor* read = tensor(value);
      if (read == nullptr) continue;
      if (is_constant(*read)) {
        add_constant(*read, bytes);
      } else if (const auto address = address_of(*read); address && caches_.contains(*address)) {
        add_cache(*read, known, reads_all(call, known), bytes);
        int32_t& reader = bytes_.caches[caches_.at(*address)].reader;
        if (bytes.is_attention && reader < 0) reader = id;
      }
    }
    if (bytes.weights > 0 || bytes.cache > 0 || bytes.cache_per_position > 0 ||
        bytes.is_attention) {
      bytes_.kernels[id] = bytes;
    }
  }

  void add_constant(const fbs::Tensor& constant, KernelBytes& bytes) {
    const double all = bytes_of(constant);
    if (seen_.insert(identity_of(constant)).second) bytes_.weights += all;
    const bool has_rows = constant.sizes()->size() != 0 && constant.sizes()->Get(0) > 0;
    bytes.weights += bytes.is_lookup && has_rows ? all / constant.sizes()->Get(0) : all;
  }

  // True if the call accesses all positions of a cache, including positions that a mask excludes.
  bool reads_all(const fbs::KernelCall& call, const CacheOperator* known) const {
    return known == nullptr || known->writes_all || argument(call, known->mask_arg) != nullptr;
  }

  // The shape of a cache is [batch, positions, heads, size].
  static void add_cache(const fbs::Tensor& cache, const CacheOperator* known, bool reads_all,
                        KernelBytes& bytes) {
    const double all = bytes_of(cache);
    const bool has_positions = cache.sizes()->size() == 4 && cache.sizes()->Get(1) > 0;
    if (reads_all || !has_positions) {
      bytes.cache += all;
    } else if (known->is_attention) {
      bytes.cache_per_position += all / cache.sizes()->Get(1);
    } else {
      bytes.cache += all / cache.sizes()->Get(1);
    }
  }

  void read_delegate(int32_t id, const fbs::DelegateCall& call) {
    const auto* delegate = plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()));
    if (delegate->id()->string_view() != xnnpack::kBackendId) return;
    const Result<DataBuffer> payload = ProgramAccess::payload(program_, *delegate->processed());
    if (!payload.ok()) return;
    const Result<xnnpack::Payload> opened = xnnpack::open_payload(payload->bytes(), steps_);
    if (!opened.ok()) return;
    const Result<xnnpack::Graph> graph = xnnpack::read_graph(*opened->graph, steps_);
    if (!graph.ok()) return;
    const bool is_new = delegates_.insert(call.delegate_index()).second;
    for (const xnnpack::Value& value : graph->values) {
      if (is_new && value.is_constant() && is_uncounted(value, *opened->graph)) {
        bytes_.weights += value_bytes(value);
      }
    }
    for (const xnnpack::Node& node : graph->nodes) {
      double weights = 0;
      for (const uint32_t input : node.input_values()) {
        const xnnpack::Value& value = graph->values[input];
        if (value.is_constant()) weights += value_bytes(value);
      }
      bytes_.nodes[{id, node.debug_handle}].push_back(weights);
    }
  }

  // True if no method has counted the constant. Constants without a key are never shared.
  bool is_uncounted(const xnnpack::Value& value, const schema::xnnpack::XNNGraph& graph) const {
    if (value.constant >= size_of(graph.constant_data())) return true;
    const auto* key = graph.constant_data()->Get(value.constant)->named_key();
    return key == nullptr || seen_.insert("named " + key->str()).second;
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  std::set<std::string>& seen_;              // constants that any method has counted
  Budget steps_;                             // payloads may declare many scales
  std::map<PlannedAddress, size_t> caches_;  // index in MethodBytes::caches
  std::set<int32_t> delegates_;              // indices of the delegates read so far
  MethodBytes bytes_;
};

}  // namespace

std::string layer_of(const std::string& path) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const auto part = std::string_view(path).substr(begin, end - begin);
    if (!part.empty() && std::ranges::all_of(part, is_digit)) return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

std::vector<MethodBytes> read_method_bytes(const Program& program,
                                           std::span<const MethodMeta> methods) {
  std::set<std::string> seen;
  std::vector<MethodBytes> all;
  for (const MethodMeta& method : methods)
    all.push_back(MethodBytesReader(program, method, seen).read());
  return all;
}

}  // namespace vitrine::llm

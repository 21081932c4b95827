#include "backends/xnnpack/runtime/weights/constants.h"

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/reader/bf16.h"
#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/slack.h"
#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {
namespace {

namespace fb = schema::xnnpack;

constexpr size_t kAlignment = 16;

bool can_be_read_in_place(const DataBuffer& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data()) % kAlignment == 0 &&
         (buffer.has_slack() || can_be_read_past(buffer.data(), buffer.size()));
}

Result<DataBuffer> copy_padded(std::span<const std::byte> bytes) {
  size_t padded = 0;
  if (add_overflows(bytes.size(), size_t{XNN_EXTRA_BYTES}, &padded)) {
    return invalid_payload("a constant of %zu bytes is too large", bytes.size());
  }
  VITRINE_ASSIGN_OR_RETURN(DataBuffer copy, DataBuffer::allocate(padded));
  std::ranges::copy(bytes, copy.owned_data());
  std::fill_n(copy.owned_data() + bytes.size(), XNN_EXTRA_BYTES, std::byte{0});
  return copy;
}

Result<DataBuffer> widened(std::span<const std::byte> bf16) {
  VITRINE_ASSIGN_OR_RETURN(DataBuffer wide, DataBuffer::allocate(2 * bf16.size()));
  widen_bf16(bf16.data(), wide.owned_data(), bf16.size() / sizeof(BFloat16));
  return wide;
}

struct Source {
  DataBuffer bytes;
  std::string_view name;       // key of named data, or empty
  bool outlives_load = false;  // false for bytes in the payload
};

Result<Source> find_named(const flatbuffers::String& key, const NamedDataMap* named_data,
                          Budget& steps) {
  // A payload may use a long key many times, so each use costs steps for the length of the key.
  if (!steps.take(1 + key.size() / 64)) {
    return Error::make(ErrorCode::kOutOfResources,
                       "named data \"%.80s\": its key is used too often "
                       "(max_load_steps)",
                       key.c_str());
  }
  if (named_data == nullptr) {
    return Error::make(ErrorCode::kInvalidExternalData,
                       "named data \"%.80s\": the program has no named data", key.c_str());
  }
  Result<DataBuffer> bytes = named_data->get({key.data(), key.size()});
  if (!bytes.ok()) return bytes.take_error().in("named data \"%.80s\"", key.c_str());
  return Source{std::move(*bytes), {key.data(), key.size()}, true};
}

Result<Source> find_source(const Payload& payload, const NamedDataMap* named_data, uint32_t index,
                           Budget& steps) {
  if (!payload.constant_region.has_value()) {
    const auto* buffers = payload.graph->constant_buffer();
    if (buffers == nullptr || index >= buffers->size()) {
      return invalid_payload("the index is too large: the payload has %u buffers",
                             buffers == nullptr ? 0 : buffers->size());
    }
    const auto* storage = buffers->Get(index)->storage();
    if (storage == nullptr) return invalid_payload("is empty");
    return Source{
        DataBuffer(std::as_bytes(std::span(storage->data(), storage->size()))), {}, false};
  }
  const auto* entries = payload.graph->constant_data();
  if (entries == nullptr || index >= entries->size()) {
    return invalid_payload("the index is too large: the payload has %u entries",
                           entries == nullptr ? 0 : entries->size());
  }
  const fb::ConstantDataOffset& entry = *entries->Get(index);
  if (entry.named_key() != nullptr) return find_named(*entry.named_key(), named_data, steps);
  const std::span<const std::byte> region = *payload.constant_region;
  if (!range_fits(entry.offset(), entry.size(), region.size())) {
    return invalid_payload("%llu bytes at %llu are not inside the %zu bytes of constants",
                           static_cast<unsigned long long>(entry.size()),
                           static_cast<unsigned long long>(entry.offset()), region.size());
  }
  return Source{DataBuffer(region.subspan(static_cast<size_t>(entry.offset()),
                                          static_cast<size_t>(entry.size()))),
                {},
                false};
}

// Tells if an fp32 constant is stored as bf16. For kEither, the number of stored bytes decides.
enum class Bf16 : uint8_t { kNo, kYes, kEither };

struct Request {
  const Payload& payload;
  const NamedDataMap* named_data;
  WeightsCache* cache;
  uint32_t index;
  size_t size;
  Bf16 bf16;
  bool keep;  // true if the bytes are needed after the load
  Budget& steps;
};

struct Constant {
  DataBuffer bytes;
  std::string_view name;
  Digest content;
};

Result<Constant> fetch_constant(const Request& request) {
  VITRINE_ASSIGN_OR_RETURN(Source source, find_source(request.payload, request.named_data,
                                                      request.index, request.steps));
  const size_t stored = source.bytes.size();
  const bool is_bf16 =
      request.bf16 == Bf16::kYes || (request.bf16 == Bf16::kEither && stored == request.size / 2);
  const size_t expected = is_bf16 ? request.size / 2 : request.size;
  if (stored != expected || stored == 0) {
    return invalid_payload("has %zu bytes, but its value needs %zu", stored, expected);
  }
  Digest content;
  if (request.cache != nullptr) {
    // A DataBuffer that owns its bytes is a copy for this load. Its address does not identify the
    // constant, because the next load makes a copy at another address.
    const bool outlives = source.outlives_load && !source.bytes.is_owned();
    const uint64_t stamp = request.named_data != nullptr ? request.named_data->stamp() : 0;
    content = request.cache->identify({source.name, source.bytes.bytes(), outlives, stamp});
  }
  if (is_bf16) {
    VITRINE_ASSIGN_OR_RETURN(DataBuffer wide, widened(source.bytes.bytes()));
    return Constant{std::move(wide), source.name, content};
  }
  if (can_be_read_in_place(source.bytes) && (source.outlives_load || !request.keep)) {
    return Constant{std::move(source.bytes), source.name, content};
  }
  VITRINE_ASSIGN_OR_RETURN(DataBuffer copy, copy_padded(source.bytes.bytes()));
  return Constant{std::move(copy), source.name, content};
}

Result<Constant> fetch(const Request& request) {
  Result<Constant> constant = fetch_constant(request);
  if (!constant.ok()) return constant.take_error().in("constant %u", request.index);
  return constant;
}

// Returns true if all scales are positive and normal. Large models have millions of scales, so the
// loop has no early exit and the compiler can vectorize it.
template <class Bits>
bool are_positive_normal(const std::byte* scales, size_t count, Bits smallest, Bits infinity) {
  Bits wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, scales + i * sizeof bits, sizeof bits);
    // One comparison checks both limits: the subtraction wraps around for values below `smallest`.
    const bool valid = static_cast<Bits>(bits - smallest) < static_cast<Bits>(infinity - smallest);
    wrong = static_cast<Bits>(wrong | (valid ? 0 : 1));
  }
  return wrong == 0;
}

bool has_valid_scales(const Value& value) {
  if (value.datatype->quantization == Quantization::kPerBlock) {
    return are_positive_normal<uint16_t>(value.scales, value.scale_count, 0x0080, 0x7F80);
  }
  return are_positive_normal<uint32_t>(value.scales, value.scale_count, 0x00800000, 0x7F800000);
}

// Finds the values that nodes read unpacked. Other constants are read only as packed weights.
Result<CheckedVector<bool>> find_referenced(const Graph& graph) {
  CheckedVector<bool> referenced;
  VITRINE_RETURN_IF_ERROR(referenced.resize(graph.values.size()));
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    bool packs = node.kind->has_weights;
    for (size_t i = 1; i < node.input_count; ++i) {
      packs = packs && graph.values[node.inputs[i]].is_constant();
    }
    const size_t read = packs ? 1 : node.input_count;
    for (size_t i = 0; i < read; ++i) referenced[node.inputs[i]] = true;
  }
  return referenced;
}

// Each node packs its filter, so a small payload can cause much work. This work costs steps.
Error take_steps(const Graph& graph, Budget& steps) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live) continue;
    for (const uint32_t index : node.input_values()) {
      const Value& value = graph.values[index];
      if (!value.is_constant() ||
          steps.take(*tensor_bytes(*value.datatype, value.shape) / 64 + 1)) {
        continue;
      }
      return Error::make(
          ErrorCode::kOutOfResources,
          "xnodes[%zu] (%s): the nodes up to this one read the same constants too often "
          "(max_load_steps)",
          i, node.kind->name);
    }
  }
  return Error();
}

}  // namespace

Error Constants::load(const Payload& payload, const NamedDataMap* named_data, WeightsCache* cache,
                      Budget& steps, Budget* memory, Graph& graph) {
  memory_ = memory;
  VITRINE_RETURN_IF_ERROR(take_steps(graph, steps));
  VITRINE_ASSIGN_OR_RETURN(const CheckedVector<bool> referenced, find_referenced(graph));
  // In bf16 models, ExecuTorch 1.5 writes the scales of channels as bf16.
  const bool may_scale_in_bf16 = std::ranges::any_of(graph.values, &Value::is_bf16);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    Value& value = graph.values[i];
    if (!value.used || (value.constant == 0 && value.scale_count == 0)) continue;
    const auto load_one = [&](uint32_t index, size_t size, WeightsCache* identify, Bf16 bf16,
                              bool keep) -> Result<const std::byte*> {
      VITRINE_ASSIGN_OR_RETURN(Constant constant, fetch({payload, named_data, identify, index, size,
                                                         bf16, keep, steps}));
      if (identify != nullptr) value.content = constant.content;
      if (!keep && !constant.name.empty()) {
        VITRINE_RETURN_IF_ERROR(packed_names_.push_back({named_data, constant.name}));
      }
      const std::byte* data = constant.bytes.data();
      VITRINE_RETURN_IF_ERROR(this->keep(std::move(constant.bytes), keep ? referenced_ : packed_),
                              "constant %u", index);
      return data;
    };
    if (value.is_constant()) {
      Result<const std::byte*> data =
          load_one(value.constant, *tensor_bytes(*value.datatype, value.shape), cache,
                   value.is_bf16 ? Bf16::kYes : Bf16::kNo, referenced[i]);
      if (!data.ok()) return data.take_error().in("xvalues[%zu]", i);
      value.data = *data;
    }
    if (value.scale_count == 0) continue;
    const bool blocks = value.datatype->quantization == Quantization::kPerBlock;
    if (value.scale_constant != 0) {
      const size_t element = blocks ? sizeof(BFloat16) : sizeof(float);
      Result<const std::byte*> scales =
          load_one(value.scale_constant, value.scale_count * element, nullptr,
                   blocks || !may_scale_in_bf16 ? Bf16::kNo : Bf16::kEither, false);
      if (!scales.ok()) return scales.take_error().in("xvalues[%zu]", i);
      value.scales = *scales;
    } else if (!value.rounded_scales.empty()) {
      value.scales = std::as_bytes(std::span(value.rounded_scales)).data();
    }
    if (!has_valid_scales(value))
      return invalid_payload("xvalues[%zu]: a scale is not positive and normal", i);
  }
  return Error();
}

Constants::~Constants() {
  release(packed_);
  release(referenced_);
}

Error Constants::keep(DataBuffer bytes, CheckedVector<DataBuffer>& kept) {
  const size_t copied = bytes.is_owned() ? bytes.size() : 0;
  if (memory_ != nullptr && !memory_->take(copied)) {
    return Error::make(ErrorCode::kOutOfResources,
                       "needs a copy of %zu bytes, but max_memory_bytes leaves only %llu", copied,
                       static_cast<unsigned long long>(memory_->left()));
  }
  Error error = kept.push_back(std::move(bytes));
  if (!error.ok() && memory_ != nullptr) memory_->give_back(copied);
  return error;
}

void Constants::release(CheckedVector<DataBuffer>& kept) {
  for (const DataBuffer& buffer : kept) {
    if (memory_ != nullptr && buffer.is_owned()) memory_->give_back(buffer.size());
  }
  kept.clear();
}

void Constants::release_packed() {
  release(packed_);
  for (const NamedConstant& constant : packed_names_) constant.map->release(constant.key);
  packed_names_.clear();
}

void Constants::report_memory(DelegateMemory& report) const {
  for (const DataBuffer& buffer : referenced_) {
    if (buffer.is_owned()) {
      report.add(DelegateMemory::Kind::kConstants, buffer.data(), buffer.size());
    }
  }
}

}  // namespace vitrine::xnnpack

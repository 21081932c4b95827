#include "test/support/program_builder.h"

#include <cstring>
#include <numeric>

namespace vitrine::test {
namespace {

namespace fbs = schema::program;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr size_t kHeaderBytes = 32;
constexpr size_t kConstantAlignment = 16;

uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

const uint8_t* chars(const Bytes& bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

Offset<flatbuffers::String> maybe_string(FlatBufferBuilder& fbb,
                                         const std::optional<std::string>& text) {
  return text ? fbb.CreateString(*text) : Offset<flatbuffers::String>();
}

template <class To, class From>
Offset<flatbuffers::Vector<To>> vector_as(FlatBufferBuilder& fbb, const std::vector<From>& from) {
  std::vector<To> to;
  for (const From& item : from) to.push_back(static_cast<To>(item));
  return fbb.CreateVector(to);
}

Offset<fbs::AllocationDetails> write(FlatBufferBuilder& fbb,
                                     const std::optional<Planned>& planned) {
  if (!planned) return {};
  return fbs::CreateAllocationDetails(fbb, planned->memory_id,
                                      static_cast<uint32_t>(planned->offset),
                                      static_cast<uint32_t>(planned->offset >> 32));
}

Offset<fbs::Tensor> write(FlatBufferBuilder& fbb, const TensorSpec& spec) {
  std::vector<uint8_t> dim_order = spec.dim_order;
  if (dim_order.empty()) {
    dim_order.resize(spec.sizes.size());
    std::iota(dim_order.begin(), dim_order.end(), uint8_t{0});
  }
  const Offset<fbs::AllocationDetails> allocation = write(fbb, spec.planned);
  Offset<fbs::ExtraTensorInfo> extra;
  if (spec.external || spec.location || spec.device != fbs::DeviceType::CPU) {
    const auto name = maybe_string(fbb, spec.external);
    const auto location =
        spec.external ? fbs::TensorDataLocation::EXTERNAL : fbs::TensorDataLocation::SEGMENT;
    extra = fbs::CreateExtraTensorInfo(fbb, 0, name, spec.location.value_or(location), spec.device);
  }
  const auto sizes =
      spec.has_sizes ? fbb.CreateVector(spec.sizes) : Offset<flatbuffers::Vector<int32_t>>();
  const auto order =
      spec.has_dim_order ? fbb.CreateVector(dim_order) : Offset<flatbuffers::Vector<uint8_t>>();
  return fbs::CreateTensor(fbb, static_cast<schema::ScalarType>(spec.dtype), spec.storage_offset,
                           sizes, order, false, spec.data, allocation, spec.layout, spec.dynamism,
                           extra);
}

Offset<void> write_body(FlatBufferBuilder& fbb, const ValueSpec& spec) {
  const auto items = [&]<class T>(T) {
    return spec.items ? vector_as<T>(fbb, *spec.items) : Offset<flatbuffers::Vector<T>>();
  };
  switch (spec.kind) {
    case fbs::KernelTypes::Int:
      return fbs::CreateInt(fbb, spec.integer).Union();
    case fbs::KernelTypes::Bool:
      return fbs::CreateBool(fbb, spec.integer != 0).Union();
    case fbs::KernelTypes::Double:
      return fbs::CreateDouble(fbb, spec.real).Union();
    case fbs::KernelTypes::Tensor:
      return write(fbb, spec.tensor).Union();
    case fbs::KernelTypes::String:
      return fbs::CreateString(fbb, maybe_string(fbb, spec.text)).Union();
    case fbs::KernelTypes::IntList:
      return fbs::CreateIntList(fbb, items(int64_t{})).Union();
    case fbs::KernelTypes::DoubleList: {
      const auto reals =
          spec.reals ? fbb.CreateVector(*spec.reals) : Offset<flatbuffers::Vector<double>>();
      return fbs::CreateDoubleList(fbb, reals).Union();
    }
    case fbs::KernelTypes::BoolList:
      return fbs::CreateBoolList(fbb, items(uint8_t{})).Union();
    case fbs::KernelTypes::TensorList:
      return fbs::CreateTensorList(fbb, items(int32_t{})).Union();
    case fbs::KernelTypes::OptionalTensorList:
      return fbs::CreateOptionalTensorList(fbb, items(int32_t{})).Union();
    default:
      return fbs::CreateNull(fbb).Union();
  }
}

Offset<fbs::EValue> write(FlatBufferBuilder& fbb, const ValueSpec& spec) {
  const Offset<void> body = spec.has_value ? write_body(fbb, spec) : Offset<void>();
  return fbs::CreateEValue(fbb, spec.kind, body);
}

Offset<fbs::DelegateCall> write_delegate_call(FlatBufferBuilder& fbb, const InstructionSpec& spec) {
  std::vector<Offset<fbs::DelegateScratch>> scratch;
  for (const ScratchSpec& each : spec.scratch) {
    scratch.push_back(fbs::CreateDelegateScratch(fbb, write(fbb, each.planned), each.size));
  }
  const auto args = fbb.CreateVector(spec.args);
  return fbs::CreateDelegateCall(fbb, spec.first, args,
                                 scratch.empty()
                                     ? Offset<flatbuffers::Vector<Offset<fbs::DelegateScratch>>>()
                                     : fbb.CreateVector(scratch));
}

Offset<fbs::Instruction> write(FlatBufferBuilder& fbb, const InstructionSpec& spec) {
  Offset<void> body;
  switch (spec.kind) {
    case fbs::InstructionArguments::KernelCall:
      body = fbs::CreateKernelCall(fbb, spec.first, fbb.CreateVector(spec.args)).Union();
      break;
    case fbs::InstructionArguments::DelegateCall:
      body = write_delegate_call(fbb, spec).Union();
      break;
    case fbs::InstructionArguments::MoveCall:
      body = fbs::CreateMoveCall(fbb, spec.first, spec.second).Union();
      break;
    case fbs::InstructionArguments::JumpFalseCall:
      body = fbs::CreateJumpFalseCall(fbb, spec.first, spec.second).Union();
      break;
    default:
      body = fbs::CreateFreeCall(fbb, spec.first).Union();
  }
  return fbs::CreateInstruction(fbb, spec.kind, spec.has_args ? body : Offset<void>());
}

Offset<fbs::Chain> write(FlatBufferBuilder& fbb, const std::vector<InstructionSpec>& chain) {
  std::vector<Offset<fbs::Instruction>> instructions;
  for (const InstructionSpec& spec : chain) instructions.push_back(write(fbb, spec));
  return fbs::CreateChain(fbb, 0, 0, fbb.CreateVector(instructions));
}

Offset<fbs::BackendDelegate> write(FlatBufferBuilder& fbb, const DelegateSpec& spec,
                                   uint32_t index) {
  std::vector<Offset<fbs::CompileSpec>> specs;
  for (const CompileSpecSpec& from : spec.compile_specs) {
    const auto key = maybe_string(fbb, from.key);
    specs.push_back(
        fbs::CreateCompileSpec(fbb, key, fbb.CreateVector(chars(from.value), from.value.size())));
  }
  const auto id = maybe_string(fbb, spec.id);
  Offset<fbs::BackendDelegateDataReference> processed;
  if (spec.has_processed) {
    processed =
        fbs::CreateBackendDelegateDataReference(fbb, spec.location, spec.index.value_or(index));
  }
  return fbs::CreateBackendDelegate(fbb, id, processed, fbb.CreateVector(specs));
}

// `payload` points to the payload index of the method's first delegate. The function moves this
// pointer past the indices of all delegates of the method.
Offset<fbs::ExecutionPlan> write(FlatBufferBuilder& fbb, const MethodSpec& spec,
                                 const uint32_t*& payload) {
  std::vector<Offset<fbs::EValue>> values;
  for (const ValueSpec& value : spec.values) values.push_back(write(fbb, value));
  std::vector<Offset<fbs::Chain>> chains;
  for (const auto& chain : spec.chains) chains.push_back(write(fbb, chain));
  std::vector<Offset<fbs::Operator>> operators;
  for (const OperatorSpec& op : spec.operators) {
    const auto name = maybe_string(fbb, op.name);
    operators.push_back(fbs::CreateOperator(fbb, name, fbb.CreateString(op.overload)));
  }
  std::vector<Offset<fbs::BackendDelegate>> delegates;
  for (const DelegateSpec& delegate : spec.delegates) {
    delegates.push_back(write(fbb, delegate, *payload++));
  }
  std::vector<Offset<fbs::NonConstBufferDevice>> devices;
  for (const fbs::DeviceType type : spec.buffer_devices) {
    devices.push_back(fbs::CreateNonConstBufferDevice(fbb, 1, type));
  }
  const auto name = maybe_string(fbb, spec.name);
  const auto all_values = spec.has_values ? fbb.CreateVector(values)
                                          : Offset<flatbuffers::Vector<Offset<fbs::EValue>>>();
  const auto inputs = fbb.CreateVector(spec.inputs);
  const auto outputs = fbb.CreateVector(spec.outputs);
  const auto all_chains = fbb.CreateVector(chains);
  const auto all_operators = fbb.CreateVector(operators);
  const auto all_delegates = fbb.CreateVector(delegates);
  const auto buffers = fbb.CreateVector(spec.buffer_sizes);
  return fbs::CreateExecutionPlan(fbb, name, 0, all_values, inputs, outputs, all_chains,
                                  all_operators, all_delegates, buffers, fbb.CreateVector(devices));
}

// Concatenates pieces. The offset of each piece is a multiple of `alignment`. Appends their offsets
// and sizes to `entries`.
Bytes concatenate(const std::vector<Bytes>& pieces, uint64_t alignment,
                  std::vector<SegmentEntry>& entries) {
  Bytes all;
  for (const Bytes& piece : pieces) {
    all.resize(round_up(all.size(), alignment));
    entries.push_back({all.size(), piece.size()});
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

std::vector<uint64_t> offsets_of(const std::vector<SegmentEntry>& entries) {
  std::vector<uint64_t> offsets = {0};  // index 0 means "no data"
  for (const SegmentEntry& entry : entries) offsets.push_back(entry.offset);
  return offsets;
}

Offset<fbs::SubsegmentOffsets> write(FlatBufferBuilder& fbb, uint32_t segment,
                                     const std::vector<uint64_t>& offsets) {
  return fbs::CreateSubsegmentOffsets(fbb, segment, fbb.CreateVector(offsets));
}

template <class T>
void store(AlignedBytes& file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// Returns the flatbuffer, with the extended header and the segments, if any.
AlignedBytes assemble(const FlatBufferBuilder& fbb, const Bytes& segments, uint32_t header_length,
                      uint64_t alignment) {
  const auto* from = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  AlignedBytes file(from, from + fbb.GetSize());
  if (segments.empty()) return file;
  file.insert(file.begin() + 8, kHeaderBytes, std::byte{0});
  uint32_t root = 0;
  std::memcpy(&root, file.data(), sizeof root);
  store(file, 0, root + static_cast<uint32_t>(kHeaderBytes));
  std::memcpy(file.data() + 8, "eh00", 4);
  store(file, 12, header_length);
  store(file, 16, uint64_t{file.size()});
  const uint64_t base = round_up(file.size(), alignment);
  store(file, 24, base);
  if (header_length >= 32) store(file, 32, uint64_t{segments.size()});
  file.resize(base);
  file.insert(file.end(), segments.begin(), segments.end());
  file.shrink_to_fit();
  return file;
}

}  // namespace

int MethodSpec::value(ValueSpec spec) {
  values.push_back(std::move(spec));
  return static_cast<int>(values.size()) - 1;
}
int MethodSpec::integer(int64_t number) {
  return value({.kind = fbs::KernelTypes::Int, .integer = number});
}
int MethodSpec::boolean(bool flag) {
  return value({.kind = fbs::KernelTypes::Bool, .integer = flag ? 1 : 0});
}
int MethodSpec::real(double number) {
  return value({.kind = fbs::KernelTypes::Double, .real = number});
}
int MethodSpec::string(std::string text) {
  return value({.kind = fbs::KernelTypes::String, .text = std::move(text)});
}
int MethodSpec::int_list(std::vector<int64_t> items) {
  return value({.kind = fbs::KernelTypes::IntList, .items = std::move(items)});
}
int MethodSpec::double_list(std::vector<double> numbers) {
  return value({.kind = fbs::KernelTypes::DoubleList, .reals = std::move(numbers)});
}
int MethodSpec::bool_list(std::vector<int64_t> items) {
  return value({.kind = fbs::KernelTypes::BoolList, .items = std::move(items)});
}
int MethodSpec::tensor_list(std::vector<int64_t> items) {
  return value({.kind = fbs::KernelTypes::TensorList, .items = std::move(items)});
}
int MethodSpec::optional_tensor_list(std::vector<int64_t> items) {
  return value({.kind = fbs::KernelTypes::OptionalTensorList, .items = std::move(items)});
}
int MethodSpec::tensor(TensorSpec spec) {
  return value({.kind = fbs::KernelTypes::Tensor, .tensor = std::move(spec)});
}
int MethodSpec::op(std::string op_name, std::string overload) {
  operators.push_back({std::move(op_name), std::move(overload)});
  return static_cast<int>(operators.size()) - 1;
}
int MethodSpec::delegate(DelegateSpec spec) {
  delegates.push_back(std::move(spec));
  return static_cast<int>(delegates.size()) - 1;
}

void MethodSpec::kernel_call(int op_index, std::vector<int32_t> args) {
  chains.back().push_back(
      {.kind = fbs::InstructionArguments::KernelCall, .first = op_index, .args = std::move(args)});
}
void MethodSpec::delegate_call(int delegate_index, std::vector<int32_t> args,
                               std::vector<ScratchSpec> scratch) {
  chains.back().push_back({.kind = fbs::InstructionArguments::DelegateCall,
                           .first = delegate_index,
                           .args = std::move(args),
                           .scratch = std::move(scratch)});
}
void MethodSpec::move(int from, int to) {
  chains.back().push_back(
      {.kind = fbs::InstructionArguments::MoveCall, .first = from, .second = to});
}
void MethodSpec::jump_false(int condition, int destination) {
  chains.back().push_back({.kind = fbs::InstructionArguments::JumpFalseCall,
                           .first = condition,
                           .second = destination});
}
void MethodSpec::free(int freed) {
  chains.back().push_back({.kind = fbs::InstructionArguments::FreeCall, .first = freed});
}

MethodSpec& ProgramBuilder::method(std::string name) {
  methods.emplace_back().name = std::move(name);
  return methods.back();
}
uint32_t ProgramBuilder::constant(Bytes data) {
  constants_.push_back(std::move(data));
  return static_cast<uint32_t>(constants_.size());
}
uint32_t ProgramBuilder::initial_state(Bytes data) {
  initial_states_.push_back(std::move(data));
  return static_cast<uint32_t>(initial_states_.size());
}
void ProgramBuilder::named_data(std::string key, Bytes data) {
  named_data_.emplace_back(std::move(key), std::move(data));
}

AlignedBytes ProgramBuilder::build() const {
  FlatBufferBuilder fbb;
  std::vector<Bytes> pieces;
  const auto add_segment = [&](Bytes piece) {
    pieces.push_back(std::move(piece));
    return static_cast<uint32_t>(pieces.size()) - 1;
  };

  // Writes the constants after the reserved entry 0.
  std::vector<Offset<fbs::Buffer>> buffers;
  Offset<fbs::SubsegmentOffsets> constant_segment;
  if (legacy_constants || both_kinds_of_constants) {
    buffers.push_back(fbs::CreateBuffer(fbb));
    for (const Bytes& data : constants_) {
      fbb.ForceVectorAlignment(data.size(), 1, kConstantAlignment);
      buffers.push_back(fbs::CreateBuffer(fbb, fbb.CreateVector(chars(data), data.size())));
    }
  }
  if (!legacy_constants) {
    std::vector<SegmentEntry> entries;
    const uint32_t segment = add_segment(concatenate(constants_, kConstantAlignment, entries));
    constant_segment = write(fbb, constant_segment_index.value_or(segment),
                             constant_offsets.value_or(offsets_of(entries)));
  }
  std::vector<Offset<fbs::SubsegmentOffsets>> mutable_segments;
  if (!initial_states_.empty()) {
    std::vector<SegmentEntry> entries;
    const uint32_t segment = add_segment(concatenate(initial_states_, 1, entries));
    mutable_segments.push_back(write(fbb, initial_state_segment_index.value_or(segment),
                                     initial_state_offsets.value_or(offsets_of(entries))));
  }
  std::vector<Offset<fbs::BackendDelegateInlineData>> inline_data;
  std::vector<uint32_t> payloads;
  for (const MethodSpec& spec : methods) {
    for (const DelegateSpec& delegate : spec.delegates) {
      if (delegate.location == fbs::DataLocation::SEGMENT) {
        payloads.push_back(add_segment(delegate.payload));
        continue;
      }
      payloads.push_back(static_cast<uint32_t>(inline_data.size()));
      fbb.ForceVectorAlignment(delegate.payload.size(), 1, kConstantAlignment);
      inline_data.push_back(fbs::CreateBackendDelegateInlineData(
          fbb, fbb.CreateVector(chars(delegate.payload), delegate.payload.size())));
    }
  }
  std::vector<Offset<fbs::NamedData>> named;
  for (const auto& [key, data] : named_data_) {
    const uint32_t segment = add_segment(data);
    const auto written =
        named_data_has_keys ? fbb.CreateString(key) : Offset<flatbuffers::String>();
    named.push_back(fbs::CreateNamedData(fbb, written, named_data_segment_index.value_or(segment)));
  }

  std::vector<SegmentEntry> piece_entries;
  const Bytes segment_bytes = concatenate(pieces, segment_alignment, piece_entries);
  std::vector<Offset<fbs::DataSegment>> data_segments;
  for (const SegmentEntry& entry : segments.value_or(piece_entries)) {
    data_segments.push_back(fbs::CreateDataSegment(fbb, entry.offset, entry.size));
  }
  std::vector<Offset<fbs::ExecutionPlan>> plans;
  const uint32_t* payload = payloads.data();
  for (const MethodSpec& spec : methods) plans.push_back(write(fbb, spec, payload));

  const auto all_plans = fbb.CreateVector(plans);
  const auto all_buffers = fbb.CreateVector(buffers);
  const auto all_inline = fbb.CreateVector(inline_data);
  const auto all_segments = fbb.CreateVector(data_segments);
  const auto all_mutable = fbb.CreateVector(mutable_segments);
  const auto all_named = fbb.CreateVector(named);
  fbs::FinishProgramBuffer(
      fbb, fbs::CreateProgram(fbb, version, all_plans, all_buffers, all_inline, all_segments,
                              constant_segment, all_mutable, all_named));
  return assemble(fbb, segment_bytes, header_length, segment_alignment);
}

}  // namespace vitrine::test

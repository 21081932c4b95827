#include "aot/emit/program_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "aot/graph/aot_error.h"
#include "runtime/core/checked_math.h"
#include "schema/program_generated.h"

namespace vitrine::aot {
namespace {

namespace fb = ::flatbuffers;
namespace fbs = schema::program;

constexpr char kIdentifier[] = "ET12";
constexpr char kHeaderMagic[] = "eh00";
constexpr size_t kHeaderBytes = 32;
constexpr size_t kHeaderAt = 8;         // offset of the header, after root and identifier
constexpr size_t kMinAlignment = 16;    // for constants and inline payloads
constexpr uint32_t kPlannedMemory = 1;  // memory id of the method's planned memory
constexpr uint32_t kSharedMemory = 2;   // memory id of the memory that methods share

struct Segment {
  uint64_t offset = 0;  // from the segments' base
  uint64_t size = 0;
  // Pairs of an offset in the segment and the bytes at that offset.
  std::vector<std::pair<uint64_t, std::span<const std::byte>>> pieces;
};

template <class T>
std::vector<T> converted(const std::vector<int32_t>& items) {
  return std::vector<T>(items.begin(), items.end());
}

class ProgramWriter {
 public:
  ProgramWriter(const ProgramParts& parts, const EmitOptions& options)
      : parts_(parts),
        options_(options),
        constant_alignment_(std::max(options.constant_tensor_alignment, kMinAlignment)),
        delegate_alignment_(std::max(options.delegate_alignment, kMinAlignment)) {}

  void write(const ByteSink& sink) {
    const auto constants = add_pool_segment(parts_.constants, constant_alignment_);
    std::vector<fb::Offset<fbs::SubsegmentOffsets>> states;
    if (!parts_.initial_states.entries().empty()) {
      states.push_back(add_pool_segment(parts_.initial_states, 1));
    }
    add_payloads();
    const auto named = add_named_data();
    std::vector<fb::Offset<fbs::ExecutionPlan>> plans;
    for (const ExecutionPlan& plan : parts_.plans) plans.push_back(write_plan(plan));
    const auto all_plans = builder_.CreateVector(plans);
    const auto no_buffers = builder_.CreateVector(std::vector<fb::Offset<fbs::Buffer>>());
    const auto inline_data = builder_.CreateVector(inline_payloads_);
    const auto segments = write_segments();
    fb::Offset<fb::Vector<fb::Offset<fbs::SubsegmentOffsets>>> all_states;
    if (!states.empty()) all_states = builder_.CreateVector(states);
    fb::Offset<fb::Vector<fb::Offset<fbs::NamedData>>> all_named;
    if (!named.empty()) all_named = builder_.CreateVector(named);
    builder_.Finish(fbs::CreateProgram(builder_, 0, all_plans, no_buffers, inline_data, segments,
                                       constants, all_states, all_named),
                    kIdentifier);
    assemble(sink);
  }

 private:
  Segment& new_segment(uint64_t alignment) {
    // Alignments are powers of two, so a multiple of the larger one is a multiple of both.
    const size_t stricter = std::max<size_t>(options_.segment_alignment, alignment);
    Segment segment;
    segment.offset = round_up(segments_end(), stricter);
    segments_.push_back(std::move(segment));
    return segments_.back();
  }

  uint64_t segments_end() const {
    return segments_.empty() ? 0 : segments_.back().offset + segments_.back().size;
  }

  // Data index 0 means "no data", so the list of offsets starts with an unused 0.
  fb::Offset<fbs::SubsegmentOffsets> add_pool_segment(const ContentPool& pool, size_t alignment) {
    const auto index = static_cast<uint32_t>(segments_.size());
    Segment& segment = new_segment(1);
    std::vector<uint64_t> offsets = {0};
    for (const SharedBytes& entry : pool.entries()) {
      const uint64_t at = round_up(segment.size, alignment);
      offsets.push_back(at);
      segment.pieces.emplace_back(at, entry.bytes);
      segment.size = at + entry.bytes.size();
    }
    return fbs::CreateSubsegmentOffsets(builder_, index, builder_.CreateVector(offsets));
  }

  void add_payloads() {
    for (const SharedBytes& payload : parts_.payloads.entries()) {
      if (options_.extract_delegate_segments && !payload.bytes.empty()) {
        references_.emplace_back(fbs::DataLocation::SEGMENT,
                                 static_cast<uint32_t>(segments_.size()));
        Segment& segment = new_segment(1);
        segment.size = payload.bytes.size();
        segment.pieces.emplace_back(0, payload.bytes);
        continue;
      }
      references_.emplace_back(fbs::DataLocation::INLINE,
                               static_cast<uint32_t>(inline_payloads_.size()));
      // PreAlign() allows alignments above 32 bytes, unlike ForceVectorAlignment().
      builder_.PreAlign(payload.bytes.size(), delegate_alignment_);
      const auto data = builder_.CreateVector(
          reinterpret_cast<const uint8_t*>(payload.bytes.data()), payload.bytes.size());
      inline_payloads_.push_back(fbs::CreateBackendDelegateInlineData(builder_, data));
    }
  }

  std::vector<fb::Offset<fbs::NamedData>> add_named_data() {
    // Equal contents share a segment, which has the largest alignment of the keys.
    ContentPool contents;
    std::vector<std::pair<std::string, size_t>> content_of_key;
    std::vector<size_t> alignments;
    for (const auto& [key, named] : parts_.named_data) {
      if (!named.external_tag.empty()) continue;
      const size_t content = contents.add({*named.bytes, named.bytes});
      alignments.resize(contents.entries().size(), 1);
      alignments[content] = std::max(alignments[content], named.alignment);
      content_of_key.emplace_back(key, content);
    }
    const auto first = static_cast<uint32_t>(segments_.size());
    for (size_t i = 0; i < contents.entries().size(); ++i) {
      Segment& segment = new_segment(alignments[i]);
      segment.size = contents.entries()[i].bytes.size();
      // `parts_` owns the bytes, so the span outlives `contents`.
      segment.pieces.emplace_back(0, contents.entries()[i].bytes);
    }
    std::vector<fb::Offset<fbs::NamedData>> named;
    named.reserve(content_of_key.size());
    for (const auto& [key, content] : content_of_key) {
      named.push_back(fbs::CreateNamedData(builder_, builder_.CreateString(key),
                                           first + static_cast<uint32_t>(content)));
    }
    return named;
  }

  fb::Offset<fb::Vector<fb::Offset<fbs::DataSegment>>> write_segments() {
    std::vector<fb::Offset<fbs::DataSegment>> made;
    for (const Segment& segment : segments_) {
      made.push_back(fbs::CreateDataSegment(builder_, segment.offset, segment.size));
    }
    return builder_.CreateVector(made);
  }

  using Union = std::pair<fbs::KernelTypes, fb::Offset<void>>;

  Union write(std::monostate) {
    return {fbs::KernelTypes::Null, fbs::CreateNull(builder_).Union()};
  }
  Union write(int64_t value) {
    return {fbs::KernelTypes::Int, fbs::CreateInt(builder_, value).Union()};
  }
  Union write(bool value) {
    return {fbs::KernelTypes::Bool, fbs::CreateBool(builder_, value).Union()};
  }
  Union write(double value) {
    // FlatBuffers omits default values. -0.0 equals the default 0.0, but must be written.
    builder_.ForceDefaults(std::signbit(value));
    const Union written = {fbs::KernelTypes::Double, fbs::CreateDouble(builder_, value).Union()};
    builder_.ForceDefaults(false);
    return written;
  }
  Union write(const std::string& value) {
    return {fbs::KernelTypes::String,
            fbs::CreateString(builder_, builder_.CreateString(value)).Union()};
  }
  Union write(const std::vector<double>& items) {
    return {fbs::KernelTypes::DoubleList,
            fbs::CreateDoubleList(builder_, builder_.CreateVector(items)).Union()};
  }
  Union write(const std::vector<bool>& items) {
    const std::vector<uint8_t> bytes(items.begin(), items.end());
    return {fbs::KernelTypes::BoolList,
            fbs::CreateBoolList(builder_, builder_.CreateVector(bytes)).Union()};
  }
  Union write(const IndexList& list) {
    switch (list.kind) {
      case IndexList::Kind::kTensors:
        return {fbs::KernelTypes::TensorList,
                fbs::CreateTensorList(builder_, builder_.CreateVector(list.items)).Union()};
      case IndexList::Kind::kOptionalTensors:
        return {fbs::KernelTypes::OptionalTensorList,
                fbs::CreateOptionalTensorList(builder_, builder_.CreateVector(list.items)).Union()};
      case IndexList::Kind::kInts:
        break;
    }
    const auto items = builder_.CreateVector(converted<int64_t>(list.items));
    return {fbs::KernelTypes::IntList, fbs::CreateIntList(builder_, items).Union()};
  }
  fb::Offset<fbs::AllocationDetails> allocate(uint32_t memory, uint64_t offset) {
    return fbs::CreateAllocationDetails(builder_, memory, static_cast<uint32_t>(offset),
                                        static_cast<uint32_t>(offset >> 32));
  }
  Union write(const TensorValue& tensor) {
    const auto sizes = builder_.CreateVector(tensor.sizes);
    const auto dim_order = builder_.CreateVector(tensor.dim_order);
    fb::Offset<fbs::AllocationDetails> allocation;
    if (tensor.offset) {
      allocation = allocate(tensor.is_shared ? kSharedMemory : kPlannedMemory, *tensor.offset);
    }
    fb::Offset<fbs::ExtraTensorInfo> extra;
    if (!tensor.external_name.empty()) {
      extra = fbs::CreateExtraTensorInfo(builder_, 0, builder_.CreateString(tensor.external_name),
                                         fbs::TensorDataLocation::EXTERNAL);
    }
    const auto dynamism = tensor.is_dynamic ? fbs::TensorShapeDynamism::DYNAMIC_BOUND
                                            : fbs::TensorShapeDynamism::STATIC;
    return {fbs::KernelTypes::Tensor,
            fbs::CreateTensor(builder_, static_cast<schema::ScalarType>(tensor.dtype), 0, sizes,
                              dim_order, tensor.requires_grad, tensor.data_index, allocation, 0,
                              dynamism, extra)
                .Union()};
  }

  fb::Offset<fb::Vector<fb::Offset<fbs::EValue>>> write_values(const ExecutionPlan& plan) {
    std::vector<fb::Offset<fbs::EValue>> made;
    for (const PlanValue& value : plan.values) {
      const auto [type, content] = std::visit([this](const auto& v) { return write(v); }, value);
      made.push_back(fbs::CreateEValue(builder_, type, content));
    }
    return builder_.CreateVector(made);
  }

  using Arguments = std::pair<fbs::InstructionArguments, fb::Offset<void>>;

  Arguments write(const KernelCall& call) {
    return {fbs::InstructionArguments::KernelCall,
            fbs::CreateKernelCall(builder_, call.op, builder_.CreateVector(call.args)).Union()};
  }
  Arguments write(const DelegateCall& call) {
    std::vector<fb::Offset<fbs::DelegateScratch>> made;
    for (const PlanScratch& each : call.scratch) {
      made.push_back(
          fbs::CreateDelegateScratch(builder_, allocate(kPlannedMemory, each.offset), each.bytes));
    }
    fb::Offset<fb::Vector<fb::Offset<fbs::DelegateScratch>>> scratch;
    if (!made.empty()) scratch = builder_.CreateVector(made);
    const auto args = builder_.CreateVector(call.args);
    return {fbs::InstructionArguments::DelegateCall,
            fbs::CreateDelegateCall(builder_, call.delegate, args, scratch).Union()};
  }
  Arguments write(const MoveCall& call) {
    return {fbs::InstructionArguments::MoveCall,
            fbs::CreateMoveCall(builder_, call.from, call.to).Union()};
  }
  Arguments write(const JumpFalseCall& call) {
    return {fbs::InstructionArguments::JumpFalseCall,
            fbs::CreateJumpFalseCall(builder_, call.condition, call.destination).Union()};
  }

  fb::Offset<fb::Vector<fb::Offset<fbs::FrameList>>> write_stacktrace(const ExecutionPlan& plan) {
    if (plan.stacktrace.empty()) return 0;
    std::vector<fb::Offset<fbs::FrameList>> lists;
    for (const std::vector<StackFrame>& frames : plan.stacktrace) {
      std::vector<fb::Offset<fbs::Frame>> made;
      for (const StackFrame& frame : frames) {
        const auto file = builder_.CreateString(frame.file);
        const auto function = builder_.CreateString(frame.function);
        const auto text = builder_.CreateString(frame.text);
        made.push_back(fbs::CreateFrame(builder_, file, frame.line, function, text));
      }
      lists.push_back(fbs::CreateFrameList(builder_, builder_.CreateVector(made)));
    }
    return builder_.CreateVector(lists);
  }

  fb::Offset<fbs::Chain> write_chain(const ExecutionPlan& plan) {
    std::vector<fb::Offset<fbs::Instruction>> made;
    for (const PlanInstruction& instruction : plan.instructions) {
      const auto [type, content] =
          std::visit([this](const auto& i) { return write(i); }, instruction);
      made.push_back(fbs::CreateInstruction(builder_, type, content));
    }
    const auto instructions = builder_.CreateVector(made);
    const auto inputs = builder_.CreateVector(std::vector<int32_t>());
    const auto outputs = builder_.CreateVector(std::vector<int32_t>());
    const auto stacktrace = write_stacktrace(plan);
    return fbs::CreateChain(builder_, inputs, outputs, instructions, stacktrace);
  }

  fb::Offset<fbs::BackendDelegate> write_delegate(const PlanDelegate& delegate) {
    const auto id = builder_.CreateString(delegate.backend_id);
    const auto& [location, index] = references_.at(delegate.payload);
    const auto payload = fbs::CreateBackendDelegateDataReference(builder_, location, index);
    std::vector<fb::Offset<fbs::CompileSpec>> specs;
    for (const auto& [key, value] : delegate.compile_specs) {
      const auto name = builder_.CreateString(key);
      const auto bytes =
          builder_.CreateVector(reinterpret_cast<const uint8_t*>(value.data()), value.size());
      specs.push_back(fbs::CreateCompileSpec(builder_, name, bytes));
    }
    return fbs::CreateBackendDelegate(builder_, id, payload, builder_.CreateVector(specs));
  }

  fb::Offset<fbs::ExecutionPlan> write_plan(const ExecutionPlan& plan) {
    const auto name = builder_.CreateString(plan.name);
    const auto input_tree = builder_.CreateString(plan.input_tree);
    const auto output_tree = builder_.CreateString(plan.output_tree);
    const auto container = fbs::CreateContainerMetadata(builder_, input_tree, output_tree);
    const auto values = write_values(plan);
    const auto inputs = builder_.CreateVector(plan.inputs);
    const auto outputs = builder_.CreateVector(plan.outputs);
    const auto chains = builder_.CreateVector(std::vector{write_chain(plan)});
    std::vector<fb::Offset<fbs::Operator>> operators;
    for (const auto& [op, overload] : plan.operators) {
      const auto op_name = builder_.CreateString(op);
      operators.push_back(fbs::CreateOperator(builder_, op_name, builder_.CreateString(overload)));
    }
    const auto all_operators = builder_.CreateVector(operators);
    std::vector<fb::Offset<fbs::BackendDelegate>> delegates;
    for (const PlanDelegate& delegate : plan.delegates)
      delegates.push_back(write_delegate(delegate));
    const auto all_delegates = builder_.CreateVector(delegates);
    // Memory id 0 means "no memory", so the size at index 0 is 0.
    std::vector<int64_t> sizes = {0, static_cast<int64_t>(plan.planned_bytes)};
    if (plan.shared_bytes != 0) sizes.push_back(static_cast<int64_t>(plan.shared_bytes));
    const auto memory = builder_.CreateVector(sizes);
    return fbs::CreateExecutionPlan(builder_, name, container, values, inputs, outputs, chains,
                                    all_operators, all_delegates, memory);
  }

  void assemble(const ByteSink& sink) const {
    const auto table = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
    const uint64_t segment_bytes = segments_end();
    if (segment_bytes == 0) return sink(table);
    // Pads the header, so that its insertion does not change the alignment of later data.
    const size_t inserted =
        round_up(kHeaderBytes, std::max({constant_alignment_, delegate_alignment_, kMinAlignment}));
    const size_t program_bytes = table.size() + inserted;
    const size_t base = round_up(program_bytes, options_.segment_alignment);
    std::vector<std::byte> head(kHeaderAt + inserted);
    const auto store = [&head](size_t at, auto number) {
      fb::WriteScalar(reinterpret_cast<uint8_t*>(head.data() + at), number);
    };
    std::memcpy(head.data(), table.data(), kHeaderAt);
    const auto root = fb::ReadScalar<uint32_t>(table.data());
    store(0, static_cast<uint32_t>(root + inserted));
    std::memcpy(head.data() + kHeaderAt, kHeaderMagic, 4);
    store(kHeaderAt + 4, static_cast<uint32_t>(kHeaderBytes));
    store(kHeaderAt + 8, static_cast<uint64_t>(program_bytes));
    store(kHeaderAt + 16, static_cast<uint64_t>(base));
    store(kHeaderAt + 24, segment_bytes);
    sink(head);
    sink(table.subspan(kHeaderAt));
    uint64_t written = program_bytes;
    for (const Segment& segment : segments_) {
      for (const auto& [at, bytes] : segment.pieces) {
        if (bytes.empty()) continue;
        write_zeros(base + segment.offset + at - written, sink);
        sink(bytes);
        written = base + segment.offset + at + bytes.size();
      }
    }
  }

  static void write_zeros(uint64_t count, const ByteSink& sink) {
    static constexpr std::array<std::byte, 4096> kZeros{};
    for (; count > 0; count -= std::min<uint64_t>(count, kZeros.size())) {
      sink(std::span(kZeros).first(std::min<uint64_t>(count, kZeros.size())));
    }
  }

  const ProgramParts& parts_;
  const EmitOptions& options_;
  size_t constant_alignment_;
  size_t delegate_alignment_;
  fb::FlatBufferBuilder builder_;
  std::vector<Segment> segments_;
  std::vector<fb::Offset<fbs::BackendDelegateInlineData>> inline_payloads_;
  std::vector<std::pair<fbs::DataLocation, uint32_t>> references_;  // indexed by payload
};

}  // namespace

void write_program(const ProgramParts& parts, const EmitOptions& options, const ByteSink& sink) {
  // FlatBufferBuilder aborts the process at 2 GiB. Therefore, this code first estimates the size of
  // the tables, and throws an error above 1 GiB.
  constexpr uint64_t kMaxInTable = uint64_t{1} << 30;
  uint64_t in_table = 0;
  for (const ExecutionPlan& plan : parts.plans) {
    in_table += plan.values.size() * 256 + plan.instructions.size() * 256;
    for (const PlanInstruction& instruction : plan.instructions) {
      if (const auto* call = std::get_if<KernelCall>(&instruction))
        in_table += 4 * call->args.size();
    }
  }
  if (!options.extract_delegate_segments) {
    for (const SharedBytes& payload : parts.payloads.entries()) in_table += payload.bytes.size();
  }
  if (in_table > kMaxInTable) {
    throw AotError("the program's tables would be larger than 1 GiB; store delegates in segments");
  }
  ProgramWriter(parts, options).write(sink);
}

}  // namespace vitrine::aot

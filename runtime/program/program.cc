#include "vitrine/program.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/core/share.h"
#include "runtime/platform/key_index.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "runtime/program/program_verifier.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

class ProgramNamedData final : public NamedDataMap {
 public:
  explicit ProgramNamedData(const Program& program) : program_(program) {}
  Error build(Budget& steps) { return index_.build(*this, steps); }
  size_t size() const override { return size_of(entries()); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return entries()->Get(static_cast<uint32_t>(index))->key()->string_view();
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const fbs::NamedData* entry = find(key);
    if (entry == nullptr) return missing(key);
    return ProgramAccess::segment(program_, entry->segment_index());
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    if (find(key) == nullptr) return missing(key);
    return std::optional<TensorLayout>();
  }
  uint64_t stamp() const override { return program_.stamp(); }
  void release(std::string_view key) const override {
    if (const fbs::NamedData* entry = find(key)) {
      ProgramAccess::release_segment(program_, entry->segment_index());
    }
  }

 private:
  const flatbuffers::Vector<flatbuffers::Offset<fbs::NamedData>>* entries() const {
    return ProgramAccess::root(program_).named_data();
  }
  const fbs::NamedData* find(std::string_view key) const {
    const size_t at = index_.find(key);
    if (at == KeyIndex::kNotFound) return nullptr;
    return entries()->Get(static_cast<uint32_t>(at));
  }
  static Error missing(std::string_view key) {
    return Error::make(ErrorCode::kNotFound, "the program has no named data for key %.*s",
                       static_cast<int>(key.size()), key.data());
  }

  const Program& program_;
  KeyIndex index_;
};

std::span<const std::byte> as_bytes(const flatbuffers::Vector<uint8_t>& vector) {
  return {reinterpret_cast<const std::byte*>(vector.data()), vector.size()};
}

Error check_identifier(std::span<const std::byte> head) {
  if (std::memcmp(head.data() + 4, "ET12", 4) == 0) return Error();
  if (std::memcmp(head.data() + 4, "ET", 2) == 0) {
    return Error::make(ErrorCode::kInvalidProgram,
                       "byte 4: format version %.4s is not supported; expected ET12",
                       reinterpret_cast<const char*>(head.data() + 4));
  }
  return Error::make(ErrorCode::kInvalidProgram,
                     "byte 4: no identifier ET12: this is not an ExecuTorch program (.pte)");
}

}  // namespace

Program::Program(std::unique_ptr<DataSource> source, DataBuffer flatbuffer, uint64_t segment_base)
    : source_(std::move(source)),
      flatbuffer_(std::move(flatbuffer)),
      root_(fbs::GetProgram(flatbuffer_.data())),
      segment_base_(segment_base) {}

Result<std::shared_ptr<const Program>> Program::load(std::unique_ptr<DataSource> source,
                                                     Verification verification) {
  const uint64_t file_size = source->size();
  if (file_size < kProgramHeadBytes) {
    return Error::make(ErrorCode::kInvalidProgram,
                       "the file has %llu bytes; a program has at least %zu",
                       static_cast<unsigned long long>(file_size), kProgramHeadBytes);
  }
  ExtendedHeader header{file_size, 0, 0};
  {
    VITRINE_ASSIGN_OR_RETURN(const DataBuffer head, source->read(0, kProgramHeadBytes));
    VITRINE_RETURN_IF_ERROR(check_identifier(head.bytes()));
    VITRINE_ASSIGN_OR_RETURN(const auto extended,
                             read_extended_header(head.bytes().first<kProgramHeadBytes>()));
    if (extended) header = *extended;
  }
  if (header.program_size < kProgramHeadBytes || header.program_size > file_size ||
      !range_fits(header.segment_base, header.segment_data_size, file_size) ||
      (header.segment_base != 0 && header.segment_base < header.program_size)) {
    return Error::make(ErrorCode::kInvalidProgram,
                       "extended header: a program of %llu bytes and segments of %llu bytes at "
                       "offset %llu do not fit in the file of %llu bytes (truncated?)",
                       static_cast<unsigned long long>(header.program_size),
                       static_cast<unsigned long long>(header.segment_data_size),
                       static_cast<unsigned long long>(header.segment_base),
                       static_cast<unsigned long long>(file_size));
  }
  VITRINE_ASSIGN_OR_RETURN(DataBuffer flatbuffer, source->read(0, header.program_size));
  if (reinterpret_cast<uintptr_t>(flatbuffer.data()) % alignof(std::max_align_t) != 0) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "the program's buffer is not aligned to %zu bytes",
                       alignof(std::max_align_t));
  }
  // One step per byte suffices, unless several offsets refer to the same table, list or key.
  Budget steps(flatbuffer.size());
  if (verification == Verification::kFull) {
    // Old headers lack the size of the segments, which then extend to the end of the file.
    const uint64_t segment_bytes = header.segment_base == 0 ? 0
                                   : header.segment_data_size != 0
                                       ? header.segment_data_size
                                       : file_size - header.segment_base;
    VITRINE_RETURN_IF_ERROR(verify_program(flatbuffer.bytes(), segment_bytes, steps));
  }
  std::shared_ptr<Program> program = share(std::unique_ptr<Program>(
      new (std::nothrow) Program(std::move(source), std::move(flatbuffer), header.segment_base)));
  if (!program) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a program");
  auto* named_data = new (std::nothrow) ProgramNamedData(*program);
  program->named_data_.reset(named_data);
  if (named_data == nullptr) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a program");
  }
  VITRINE_RETURN_IF_ERROR(named_data->build(steps));
  VITRINE_RETURN_IF_ERROR(program->load_constants());
  return std::shared_ptr<const Program>(std::move(program));
}

Error Program::load_constants() {
  const fbs::SubsegmentOffsets* constants = ProgramAccess::root(*this).constant_segment();
  // Index 0 means "not a constant", so entry 0 is unused.
  if (constants == nullptr || constants->offsets() == nullptr ||
      constants->offsets()->size() <= 1) {
    return Error();
  }
  Result<DataBuffer> data = ProgramAccess::segment(*this, constants->segment_index());
  if (!data.ok()) return data.take_error().in("constant_segment");
  constants_ = std::move(*data);
  return Error();
}

size_t Program::num_methods() const { return ProgramAccess::root(*this).execution_plan()->size(); }

std::string_view Program::method_name(size_t index) const {
  if (index >= num_methods()) return {};
  const auto& plans = *ProgramAccess::root(*this).execution_plan();
  return plans.Get(static_cast<uint32_t>(index))->name()->string_view();
}

Result<MethodMeta> Program::method_meta(std::string_view name) const {
  const auto& plans = *ProgramAccess::root(*this).execution_plan();
  for (const fbs::ExecutionPlan* plan : plans) {
    if (plan->name()->string_view() == name) return ProgramAccess::method_meta(*plan);
  }
  char names[512] = "";
  size_t length = 0;
  for (const fbs::ExecutionPlan* plan : plans) {
    const int written = std::snprintf(names + length, sizeof names - length, "%s%s",
                                      length == 0 ? "" : ", ", plan->name()->c_str());
    if (written < 0 || length + static_cast<size_t>(written) >= sizeof names) break;
    length += static_cast<size_t>(written);
  }
  return Error::make(ErrorCode::kInvalidArgument, "the program has no method %.*s; it has: %s",
                     static_cast<int>(name.size()), name.data(), names);
}

Result<DataBuffer> ProgramAccess::segment(const Program& program, uint32_t index) {
  const fbs::DataSegment* segment = root(program).segments()->Get(index);
  Result<DataBuffer> data =
      program.source_->read(program.segment_base_ + segment->offset(), segment->size());
  if (!data.ok()) return data.take_error().in("segments[%u]", index);
  return data;
}

void ProgramAccess::release_segment(const Program& program, uint32_t index) {
  const fbs::DataSegment* segment = root(program).segments()->Get(index);
  program.source_->release(program.segment_base_ + segment->offset(), segment->size());
}

void ProgramAccess::release_payload(const Program& program,
                                    const fbs::BackendDelegateDataReference& reference) {
  if (reference.location() != fbs::DataLocation::SEGMENT) return;
  release_segment(program, reference.index());
}

Result<std::span<const std::byte>> ProgramAccess::constant_data(const Program& program,
                                                                uint32_t index, size_t nbytes) {
  const fbs::SubsegmentOffsets* constants = root(program).constant_segment();
  if (constants != nullptr && constants->offsets() != nullptr && constants->offsets()->size() > 0) {
    const uint64_t offset = constants->offsets()->Get(index);
    return program.constants_.bytes().subspan(static_cast<size_t>(offset), nbytes);
  }
  const auto* storage = root(program).constant_buffer()->Get(index)->storage();
  if (storage == nullptr) return std::span<const std::byte>();
  return as_bytes(*storage).subspan(0, nbytes);
}

Result<DataBuffer> ProgramAccess::mutable_data(const Program& program, uint32_t index,
                                               size_t nbytes) {
  const fbs::SubsegmentOffsets* initial = root(program).mutable_data_segments()->Get(0);
  const fbs::DataSegment* segment = root(program).segments()->Get(initial->segment_index());
  return program.source_->read(
      program.segment_base_ + segment->offset() + initial->offsets()->Get(index), nbytes);
}

Result<DataBuffer> ProgramAccess::payload(const Program& program,
                                          const fbs::BackendDelegateDataReference& reference) {
  Result<DataBuffer> data = [&]() -> Result<DataBuffer> {
    if (reference.location() == fbs::DataLocation::SEGMENT) {
      return segment(program, reference.index());
    }
    const auto* bytes = root(program).backend_delegate_data()->Get(reference.index())->data();
    return DataBuffer(bytes != nullptr ? as_bytes(*bytes) : std::span<const std::byte>());
  }();
  if (!data.ok()) return data;
  if (reinterpret_cast<uintptr_t>(data->data()) % 16 == 0) return data;
  VITRINE_ASSIGN_OR_RETURN(DataBuffer aligned, DataBuffer::allocate(data->size()));
  std::memcpy(aligned.owned_data(), data->data(), data->size());
  return aligned;
}

}  // namespace vitrine

// ProgramAccess returns the content of a program in the types of its schema, for the executor and
// the tools. Public headers do not use these types.
#pragma once

#include "schema/program_generated.h"
#include "vitrine/program.h"

namespace vitrine {

inline uint64_t planned_offset(const schema::program::AllocationDetails& info) {
  return info.memory_offset_low() | static_cast<uint64_t>(info.memory_offset_high()) << 32;
}

// Indices and references are not checked, and must come from the verified program.
struct ProgramAccess {
  static const schema::program::Program& root(const Program& program) {
    return *static_cast<const schema::program::Program*>(program.root_);
  }
  static const schema::program::ExecutionPlan& plan(const MethodMeta& method) {
    return *static_cast<const schema::program::ExecutionPlan*>(method.plan_);
  }
  static MethodMeta method_meta(const schema::program::ExecutionPlan& plan) {
    return MethodMeta(&plan);
  }

  // The first `nbytes` bytes of constant `index`, or of the initial value of mutable tensor
  // `index`.
  static Result<std::span<const std::byte>> constant_data(const Program& program, uint32_t index,
                                                          size_t nbytes);
  static bool constants_have_slack(const Program& program) {
    return program.constants_.has_slack();
  }
  static Result<DataBuffer> mutable_data(const Program& program, uint32_t index, size_t nbytes);
  // The payload of a delegate, 16-byte aligned.
  static Result<DataBuffer> payload(const Program& program,
                                    const schema::program::BackendDelegateDataReference& reference);
  static Result<DataBuffer> segment(const Program& program, uint32_t index);
  // These functions release the bytes of a segment or payload with DataSource::release().
  static void release_segment(const Program& program, uint32_t index);
  static void release_payload(const Program& program,
                              const schema::program::BackendDelegateDataReference& reference);
};

}  // namespace vitrine

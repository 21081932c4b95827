// What a program's file holds, in the types of its schema: for the executor and tools. Users get
// Program and MethodMeta, whose headers do not name these types.
#pragma once

#include "schema/program_generated.h"
#include "vitrine/program.h"

namespace vitrine {

// Indices and references are those of the program, which was verified: nothing is checked here.
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

  // The first `nbytes` initial bytes of constant or mutable tensor `index`.
  static Result<std::span<const std::byte>> constant_data(const Program& program, uint32_t index,
                                                          size_t nbytes);
  static bool constants_have_slack(const Program& program) {
    return program.constants_.has_slack();
  }
  static Result<DataBuffer> mutable_data(const Program& program, uint32_t index, size_t nbytes);
  // A delegate's payload, 16-byte aligned.
  static Result<DataBuffer> delegate_data(
      const Program& program, const schema::program::BackendDelegateDataReference& reference);
  static Result<DataBuffer> segment(const Program& program, uint32_t index);
  // As DataSource::release.
  static void release_segment(const Program& program, uint32_t index);
  static void release_delegate_data(const Program& program,
                                    const schema::program::BackendDelegateDataReference& reference);
};

}  // namespace vitrine

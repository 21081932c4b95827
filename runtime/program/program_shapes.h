// The tables of schema/program.fbs, for runtime/data/table_verifier.h. A test compares the two.
#pragma once

#include "runtime/data/table_verifier.h"

namespace vitrine {

// Numbers of shapes, named as in the schema; members of a union together and in its order.
namespace program_shape {
enum : uint8_t {
  kContainerMetadata,
  kAllocationDetails,
  kExtraTensorInfo,
  // union KernelTypes
  kNull,
  kInt,
  kBool,
  kDouble,
  kTensor,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
  kEValue,
  kOperator,
  // union InstructionArguments
  kKernelCall,
  kDelegateCall,
  kMoveCall,
  kJumpFalseCall,
  kFreeCall,
  kInstruction,
  kFrame,
  kFrameList,
  kBackendDelegateDataReference,
  kCompileSpec,
  kBackendDelegate,
  kChain,
  kNonConstBufferDevice,
  kExecutionPlan,
  kBuffer,
  kBackendDelegateInlineData,
  kDataSegment,
  kSubsegmentOffsets,
  kNamedData,
  kProgram,
  kCount,
};
}  // namespace program_shape

TableShapes program_shapes();

}  // namespace vitrine

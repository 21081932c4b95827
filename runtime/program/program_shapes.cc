#include "runtime/program/program_shapes.h"

#include <array>
#include <iterator>

namespace vitrine {
namespace {

using enum FieldShape::Kind;
namespace shape = program_shape;

constexpr FieldShape k1{kScalar, 1};
constexpr FieldShape k4{kScalar, 4};
constexpr FieldShape k8{kScalar, 8};
constexpr FieldShape kText{kString};
constexpr FieldShape kItems1{kVector, 1};
constexpr FieldShape kItems4{kVector, 4};
constexpr FieldShape kItems8{kVector, 8};
constexpr FieldShape table(uint8_t which) { return {kTable, which}; }
constexpr FieldShape tables(uint8_t which) { return {kTables, which}; }

// At most ten fields, fewer with kNoField behind them; packed below.
using Fields = std::array<FieldShape, 10>;
constexpr Fields kTableFields[] = {
    /* ContainerMetadata */ {{kText, kText}},
    /* AllocationDetails */ {{k4, k4, k4}},
    /* ExtraTensorInfo */ {{k8, kText, k1, k1, k1}},
    /* Null */ {},
    /* Int */ {{k8}},
    /* Bool */ {{k1}},
    /* Double */ {{k8}},
    /* Tensor */
    {{k1, k4, kItems4, kItems1, k1, k4, table(shape::kAllocationDetails), k1, k1,
      table(shape::kExtraTensorInfo)}},
    /* String */ {{kText}},
    /* IntList */ {{kItems8}},
    /* DoubleList */ {{kItems8}},
    /* BoolList */ {{kItems1}},
    /* TensorList */ {{kItems4}},
    /* OptionalTensorList */ {{kItems4}},
    /* EValue */ {{k1, {kUnion, shape::kNull, 11}}},
    /* Operator */ {{kText, kText}},
    /* KernelCall */ {{k4, kItems4}},
    /* DelegateCall */ {{k4, kItems4}},
    /* MoveCall */ {{k4, k4}},
    /* JumpFalseCall */ {{k4, k4}},
    /* FreeCall */ {{k4}},
    /* Instruction */ {{k1, {kUnion, shape::kKernelCall, 5}}},
    /* Frame */ {{kText, k4, kText, kText}},
    /* FrameList */ {{tables(shape::kFrame)}},
    /* BackendDelegateDataReference */ {{k1, k4}},
    /* CompileSpec */ {{kText, kItems1}},
    /* BackendDelegate */
    {{kText, table(shape::kBackendDelegateDataReference), tables(shape::kCompileSpec)}},
    /* Chain */ {{kItems4, kItems4, tables(shape::kInstruction), tables(shape::kFrameList)}},
    /* NonConstBufferDevice */ {{k4, k1, k1}},
    /* ExecutionPlan */
    {{kText, table(shape::kContainerMetadata), tables(shape::kEValue), kItems4, kItems4,
      tables(shape::kChain), tables(shape::kOperator), tables(shape::kBackendDelegate), kItems8,
      tables(shape::kNonConstBufferDevice)}},
    /* Buffer */ {{kItems1}},
    /* BackendDelegateInlineData */ {{kItems1}},
    /* DataSegment */ {{k8, k8}},
    /* SubsegmentOffsets */ {{k4, kItems8}},
    /* NamedData */ {{kText, k4}},
    /* Program */
    {{k4, tables(shape::kExecutionPlan), tables(shape::kBuffer),
      tables(shape::kBackendDelegateInlineData), tables(shape::kDataSegment),
      table(shape::kSubsegmentOffsets), tables(shape::kSubsegmentOffsets),
      tables(shape::kNamedData)}},
};
static_assert(std::size(kTableFields) == shape::kCount);

constexpr auto kStarts = [] {
  std::array<uint8_t, shape::kCount + 1> starts{};
  for (size_t i = 0; i < shape::kCount; ++i) {
    starts[i + 1] = starts[i];
    for (const FieldShape& field : kTableFields[i]) {
      if (field.kind != kNoField) ++starts[i + 1];
    }
  }
  return starts;
}();
constexpr auto kFields = [] {
  std::array<FieldShape, kStarts[shape::kCount]> fields{};
  size_t count = 0;
  for (const Fields& table_fields : kTableFields) {
    for (const FieldShape& field : table_fields) {
      if (field.kind != kNoField) fields[count++] = field;
    }
  }
  return fields;
}();

}  // namespace

TableShapes program_shapes() { return {kFields.data(), kStarts.data()}; }

}  // namespace vitrine

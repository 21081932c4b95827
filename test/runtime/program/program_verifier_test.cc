#include "runtime/program/program_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <span>

#include "runtime/core/checked_math.h"
#include "test/runtime/program/whole_program.h"
#include "test/support/results.h"
#include "vitrine/program.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using enum test::WholeProgramValue;
using fbs::InstructionArguments;
using fbs::KernelTypes;
using test::AlignedBytes;
using test::MethodSpec;
using test::Planned;
using test::ProgramBuilder;
using testing::HasSubstr;

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

Error load(const ProgramBuilder& builder) {
  const AlignedBytes file = builder.build();
  return Program::load(*view_buffer(file)).take_error();
}

TEST(ProgramVerifier, AcceptsValidPrograms) {
  EXPECT_STREQ(load(test::whole_program()).message(), "");
}

// `inflict` damages the program. The verifier must reject the damaged program with `message`.
struct Damage {
  const char* message;
  const char* change;
  void (*inflict)(ProgramBuilder& program, MethodSpec& forward);
};

#define DAMAGE(message, ...)                                                                \
  {                                                                                         \
    message, #__VA_ARGS__,                                                                  \
        []([[maybe_unused]] auto& program, [[maybe_unused]] auto& forward) { __VA_ARGS__; } \
  }
#define PART(name, part, message, ...)                                           \
  {                                                                              \
    message, #part ": " #__VA_ARGS__, [](ProgramBuilder&, MethodSpec& forward) { \
      auto& name = forward.part;                                                 \
      __VA_ARGS__;                                                               \
    }                                                                            \
  }
#define VALUE(which, ...) PART(value, values[which], __VA_ARGS__)
#define TENSOR(which, ...) PART(tensor, values[which].tensor, __VA_ARGS__)
#define CALL(which, ...) PART(call, chains[0][which], __VA_ARGS__)

const Damage kInvalid[] = {
    DAMAGE("execution_plan: no methods", program.methods.clear()),
    DAMAGE("version: the program has version 3, but the latest supported one is 0",
           program.version = 3),
    DAMAGE("segments[3]: 5 bytes at 384",
           program.segments = {{{0, 24}, {128, 24}, {256, 4}, {384, 5}}}),
    DAMAGE("segments[0]: 24 bytes", program.segments = {{{UINT64_MAX, 24}}}),
    DAMAGE("constant_segment: segment_index: no such segment", program.constant_segment_index = 9),
    DAMAGE("constant_segment: offsets[1]: outside its segment",
           program.constant_offsets = {{0, 25}}),
    DAMAGE("mutable_data_segments[0]: segment_index: no such segment",
           program.initial_state_segment_index = 9),
    DAMAGE("mutable_data_segments[0]: offsets[1]: outside its segment",
           program.initial_state_offsets = {{0, 25}}),
    DAMAGE("constant_segment and constant_buffer must not both be present",
           program.both_kinds_of_constants = true),
    DAMAGE("named_data[0]: key: is missing", program.named_data_has_keys = false),
    DAMAGE("named_data[0]: segment_index: no such segment", program.named_data_segment_index = 4),
    DAMAGE("execution_plan[1]: inputs[0]: value 0 does not exist; there are 0 values",
           program.method("other").inputs = {0}),
    DAMAGE("execution_plan[0]: name: is missing", forward.name.reset()),
    DAMAGE("execution_plan[0]: values: is missing", forward.has_values = false),
    DAMAGE("execution_plan[0]: chains: is missing", forward.chains.clear()),
    DAMAGE("execution_plan[0]: non_const_buffer_sizes[2]: is negative",
           forward.buffer_sizes = {0, 64, -1}),
    DAMAGE("execution_plan[0]: non_const_buffer_sizes[2] cannot be addressed",
           forward.buffer_sizes = {0, 64, static_cast<int64_t>(kMaxBytes + 1)}),
    DAMAGE("execution_plan[0]: non_const_buffer_sizes[2] cannot be addressed",
           forward.buffer_sizes = {0, 64, INT64_MAX}),
    DAMAGE("execution_plan[0]: inputs[1]: value 99 does not exist; there are 14 values",
           forward.inputs = {0, 99}),
    DAMAGE("execution_plan[0]: outputs[0]: value -1 does not exist; there are 14 values",
           forward.outputs = {-1}),
    DAMAGE("execution_plan[0]: operators[0].name: is missing", forward.operators[0].name.reset()),
    DAMAGE("execution_plan[0]: delegates[0]: id: is missing", forward.delegates[0].id.reset()),
    DAMAGE("execution_plan[0]: delegates[1]: processed: is missing",
           forward.delegates[1].has_processed = false),
    DAMAGE("execution_plan[0]: delegates[0]: processed: inline data 1 does not exist; there are 1",
           forward.delegates[0].index = 1),
    DAMAGE("execution_plan[0]: delegates[1]: processed: segment 4 does not exist; there are 4",
           forward.delegates[1].index = 4),
    DAMAGE("execution_plan[0]: delegates[0]: processed.location: is unknown",
           forward.delegates[0].location = static_cast<fbs::DataLocation>(2)),
    DAMAGE("execution_plan[0]: delegates[0]: compile_specs[0].key: is missing",
           forward.delegates[0].compile_specs[0].key.reset()),
    VALUE(kInt, "values[4]: val: missing or of unknown kind 0", value.kind = KernelTypes::NONE),
    VALUE(kInt, "values[4]: val: missing or of unknown kind 12",
          value.kind = static_cast<KernelTypes>(12)),
    VALUE(kInt, "values[4]: val: missing or of unknown kind 2", value.has_value = false),
    VALUE(kString, "values[5]: string_val: is missing", value.text.reset()),
    VALUE(kIntList, "values[6]: items: is missing", value.items.reset()),
    VALUE(kIntList, "values[6]: items[1]: is not an Int value", value.items = {{4, 14}}),
    VALUE(kIntList, "values[6]: items[0]: is not an Int value", value.items = {{-1}}),
    VALUE(kIntList, "values[6]: items[0]: is not an Int value", value.items = {{0}}),
    VALUE(kIntList, "values[6]: items[0]: is not an Int value",
          value.items = {{(int64_t{1} << 32) + 4}}),
    VALUE(kDoubleList, "values[7]: items: is missing", value.reals.reset()),
    VALUE(kBoolList, "values[8]: items: is missing", value.items.reset()),
    VALUE(kTensorList, "values[9]: items: is missing", value.items.reset()),
    VALUE(kTensorList, "values[9]: items[1]: is not a Tensor value", value.items = {{0, 99}}),
    VALUE(kTensorList, "values[9]: items[0]: is not a Tensor value", value.items = {{-1}}),
    VALUE(kTensorList, "values[9]: items[0]: is not a Tensor value", value.items = {{4}}),
    VALUE(kOptionalList, "values[10]: items: is missing", value.items.reset()),
    VALUE(kOptionalList, "values[10]: items[0]: is not a Tensor value", value.items = {{-2}}),
    TENSOR(kPlanned, "values[0]: shape_dynamism: is unknown",
           tensor.dynamism = static_cast<fbs::TensorShapeDynamism>(3)),
    TENSOR(kPlanned, "values[0]: shape_dynamism: is unknown",
           tensor.dynamism = static_cast<fbs::TensorShapeDynamism>(-1)),
    TENSOR(kPlanned, "values[0]: scalar_type: is unknown",
           tensor.dtype = static_cast<ScalarType>(30)),
    TENSOR(kPlanned, "values[0]: scalar_type: is unknown",
           tensor.dtype = static_cast<ScalarType>(-1)),
    TENSOR(kPlanned, "values[0]: sizes: is missing", tensor.has_sizes = false),
    TENSOR(kPlanned, "values[0]: dim_order: is missing", tensor.has_dim_order = false),
    TENSOR(kPlanned, "values[0]: dim_order: is not a permutation", tensor.dim_order = {0}),
    TENSOR(kPlanned, "values[0]: dim_order: is not a permutation", tensor.dim_order = {1, 1}),
    TENSOR(kPlanned, "values[0]: sizes: size -3 of dimension 1 is negative",
           tensor.sizes = {2, -3}),
    TENSOR(kPlanned, "values[0]: sizes: the product of the sizes overflows",
           tensor.sizes.assign(3, kHuge)),
    TENSOR(kPlanned, "values[0]: extra_tensor_info.location: is unknown",
           tensor.location = static_cast<fbs::TensorDataLocation>(2)),
    TENSOR(kPlanned,
           "values[0]: allocation_info.memory_id: must be at least 1 and less than 2, got 0",
           tensor.planned = Planned{0, 0}),
    TENSOR(kPlanned,
           "values[0]: allocation_info.memory_id: must be at least 1 and less than 2, got 2",
           tensor.planned = Planned{2, 0}),
    TENSOR(kPlanned, "values[0]: allocation_info: 24 bytes at 44 exceed buffer 1 of 64 bytes",
           tensor.planned = Planned{1, 44}),
    TENSOR(kPlanned, "values[0]: allocation_info: 24 bytes at 4294967296 exceed",
           tensor.planned = Planned{1, uint64_t{1} << 32}),
    TENSOR(kPlanned, "values[0]: allocation_info: 24 bytes",
           tensor.planned = Planned{1, UINT64_MAX - 7}),
    TENSOR(kPlanned, "values[0]: allocation_info: the offset is not aligned",
           tensor.planned = Planned{1, 2}),
    TENSOR(kConstant, "values[1]: data_buffer_idx: index 2 is out of range; there are 2 offsets",
           tensor.data = 2),
    TENSOR(kConstant, "values[1]: data_buffer_idx: the tensor's data exceeds its segment",
           tensor.sizes = {2, 4}),
    TENSOR(kState, "values[2]: data_buffer_idx: index 2 is out of range; there are 2 offsets",
           tensor.data = 2),
    TENSOR(kState, "values[2]: data_buffer_idx: the tensor's data exceeds its segment",
           tensor.sizes = {2, 4};
           tensor.planned = Planned{1, 0}),
    CALL(0, "chains[0]: instructions[0]: instr_args: is missing", call.has_args = false),
    CALL(4, "chains[0]: instructions[4]: instr_args: unknown kind 6",
         call.kind = static_cast<InstructionArguments>(6)),
    CALL(4, "chains[0]: instructions[4]: instr_args: unknown kind 0",
         call.kind = InstructionArguments::NONE),
    CALL(0, "instructions[0]: op_index: no such operator", call.first = 1),
    CALL(0, "instructions[0]: op_index: no such operator", call.first = -1),
    CALL(0, "instructions[0]: args[1]: value 14 does not exist; there are 14 values",
         call.args = {0, 14}),
    CALL(1, "instructions[1]: delegate_index: no such delegate", call.first = 2),
    CALL(1, "instructions[1]: args[0]: value -5 does not exist; there are 14 values",
         call.args = {-5}),
    CALL(2, "instructions[2]: move_from or move_to: no such value", call.first = 14),
    CALL(2, "instructions[2]: move_from or move_to: no such value", call.second = -1),
    CALL(3, "instructions[3]: cond_value_index: no such value", call.first = 14),
    CALL(3, "instructions[3]: destination_instruction: outside the chain", call.second = 6),
    CALL(3, "instructions[3]: destination_instruction: outside the chain", call.second = -1),
    CALL(4, "instructions[4]: value_index: no such value", call.first = 14),
};

const Damage kUnsupported[] = {
    DAMAGE("execution_plan[0]: non_const_buffer_device[0]: only CPU",
           forward.buffer_devices = {fbs::DeviceType::CUDA}),
    TENSOR(kPlanned, "values[0]: storage_offset: must be 0", tensor.storage_offset = 1),
    TENSOR(kPlanned, "values[0]: shape_dynamism: DYNAMIC_UNBOUND",
           tensor.dynamism = fbs::TensorShapeDynamism::DYNAMIC_UNBOUND),
    TENSOR(kPlanned, "values[0]: layout: not strided", tensor.layout = 1),
    TENSOR(kPlanned, "values[0]: sizes: rank 17 is above 16", tensor.sizes.assign(17, 1)),
    TENSOR(kPlanned, "values[0]: device_type: only CPU", tensor.device = fbs::DeviceType::CUDA),
};

const Damage kInvalidExternal[] = {
    TENSOR(kExternal, "values[3]: fully_qualified_name: is missing", tensor.external.reset();
           tensor.location = fbs::TensorDataLocation::EXTERNAL),
};

TEST(ProgramVerifier, ReportsDamageWithItsLocation) {
  const auto expect_errors = [](std::span<const Damage> damages, ErrorCode code) {
    for (const Damage& damage : damages) {
      SCOPED_TRACE(damage.change);
      ProgramBuilder builder = test::whole_program();
      damage.inflict(builder, builder.methods[0]);
      EXPECT_THAT(load(builder), test::FailsWith(code, HasSubstr(damage.message)));
    }
  };
  expect_errors(kInvalid, ErrorCode::kInvalidProgram);
  expect_errors(kUnsupported, ErrorCode::kNotSupported);
  expect_errors(kInvalidExternal, ErrorCode::kInvalidExternalData);
}

TEST(ProgramVerifier, ChecksLegacyConstants) {
  for (const auto& [data, sizes, message] :
       {std::tuple{2u, std::vector<int32_t>{2}, "values[0]: data_buffer_idx: no such constant"},
        std::tuple{1u, std::vector<int32_t>{3},
                   "values[0]: data_buffer_idx: the constant has fewer bytes than the tensor"}}) {
    ProgramBuilder builder;
    builder.legacy_constants = true;
    builder.constant(test::Bytes(8));
    builder.method("forward").tensor({.sizes = sizes, .data = data});
    EXPECT_THAT(load(builder).message(), HasSubstr(message));
  }
}

TEST(ProgramVerifier, RejectsInitialValuesIfMutableDataIsMissing) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 64};
  forward.tensor({.sizes = {2}, .planned = Planned{1, 0}, .data = 1});
  EXPECT_THAT(load(builder).message(),
              HasSubstr("values[0]: data_buffer_idx: the program has no mutable_data_segments"));
}

TEST(ProgramVerifier, AcceptsJumpsToTheEndOfTheChain) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.jump_false(forward.boolean(true), 1);
  EXPECT_TRUE(load(builder).ok());
}

// Field `slot` of `table` refers to a vector of 8-byte elements. Adds 4 to this reference, so that
// the vector is misaligned. The low half of the first element then serves as the vector's length,
// so this element must be small.
void misalign(const flatbuffers::Table& table, flatbuffers::voffset_t slot) {
  auto* field = const_cast<uint8_t*>(table.GetAddressOf(slot));
  ASSERT_NE(field, nullptr);
  flatbuffers::WriteScalar(field, flatbuffers::ReadScalar<flatbuffers::uoffset_t>(field) + 4);
}

template <class T>
const flatbuffers::Table& as_table(const T& table) {
  return reinterpret_cast<const flatbuffers::Table&>(table);
}

// flatbuffers' own verifier accepts these files.
TEST(ProgramVerifier, RejectsUnalignedVectors) {
  constexpr void (*kDamages[])(const fbs::Program&) = {
      [](const fbs::Program& program) {
        misalign(as_table(*program.execution_plan()->Get(0)),
                 fbs::ExecutionPlan::VT_NON_CONST_BUFFER_SIZES);
      },
      [](const fbs::Program& program) {
        const auto& values = *program.execution_plan()->Get(0)->values();
        misalign(as_table(*values.Get(2)->val_as_IntList()), fbs::IntList::VT_ITEMS);
      },
      [](const fbs::Program& program) {
        const auto& values = *program.execution_plan()->Get(0)->values();
        misalign(as_table(*values.Get(3)->val_as_DoubleList()), fbs::DoubleList::VT_ITEMS);
      },
      [](const fbs::Program& program) {
        misalign(as_table(*program.constant_segment()), fbs::SubsegmentOffsets::VT_OFFSETS);
      },
  };
  ProgramBuilder builder;
  builder.constant(test::Bytes(8));
  builder.constant_offsets = {{1, 1}};
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {1, 1};
  forward.none();
  forward.integer(0);
  forward.int_list({1, 1});
  double one_element = 0;
  const uint64_t bits = 1;
  std::memcpy(&one_element, &bits, sizeof bits);
  forward.double_list({one_element, 0});
  for (const auto damage : kDamages) {
    AlignedBytes file = builder.build();
    damage(*fbs::GetProgram(file.data()));
    EXPECT_THAT(Program::load(*view_buffer(file)).take_error().message(),
                HasSubstr("or misaligned"));
  }
}

}  // namespace
}  // namespace vitrine

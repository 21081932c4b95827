#include "runtime/program/program_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "runtime/core/checked_math.h"
#include "test/runtime/program/whole_program.h"
#include "vitrine/program.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using fbs::InstructionArguments;
using fbs::KernelTypes;
using test::AlignedBytes;
using test::MethodSpec;
using test::Planned;
using test::ProgramBuilder;
using test::TensorSpec;
using enum test::WholeProgramValue;
using testing::HasSubstr;

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

Error load(const ProgramBuilder& builder) {
  const AlignedBytes file = builder.build();
  return Program::load(*view_buffer(file)).take_error();
}

TEST(ProgramVerifier, AcceptsValidPrograms) {
  const Error error = load(test::whole_program());
  EXPECT_TRUE(error.ok()) << error.message();
}

struct Damage {
  const char* name;
  std::function<void(ProgramBuilder&, MethodSpec&)> inflict;
  const char* message;
  ErrorCode code = ErrorCode::kInvalidProgram;
};

// Returns a Damage that changes one value of the program.
Damage value_damage(const char* name, test::WholeProgramValue which,
                    void (*inflict)(test::ValueSpec&), const char* message,
                    ErrorCode code = ErrorCode::kInvalidProgram) {
  return {
      name,
      [which, inflict](ProgramBuilder&, MethodSpec& forward) { inflict(forward.values[which]); },
      message, code};
}
Damage tensor_damage(const char* name, test::WholeProgramValue which, void (*inflict)(TensorSpec&),
                     const char* message, ErrorCode code = ErrorCode::kInvalidProgram) {
  return {name,
          [which, inflict](ProgramBuilder&, MethodSpec& forward) {
            inflict(forward.values[which].tensor);
          },
          message, code};
}
Damage instruction_damage(const char* name, size_t which, void (*inflict)(test::InstructionSpec&),
                          const char* message) {
  return {
      name,
      [which, inflict](ProgramBuilder&, MethodSpec& forward) { inflict(forward.chains[0][which]); },
      message};
}

const Damage kProgramDamages[] = {
    {"NoMethods", [](auto& program, auto&) { program.methods.clear(); },
     "execution_plan: has no method"},
    {"VersionFromTheFuture", [](auto& program, auto&) { program.version = 3; },
     "version: the program has version 3, but the latest supported one is 0"},
    {"SegmentBehindTheFile",
     [](auto& program, auto&) {
       program.segments = {{{0, 24}, {128, 24}, {256, 4}, {384, 5}}};
     },
     "segments[3]: 5 bytes at 384"},
    {"SegmentThatWraps",
     [](auto& program, auto&) {
       program.segments = {{{UINT64_MAX, 24}}};
     },
     "segments[0]: 24 bytes"},
    {"ConstantSegmentIndex", [](auto& program, auto&) { program.constant_segment_index = 9; },
     "constant_segment: segment_index: no such segment"},
    {"ConstantOffset",
     [](auto& program, auto&) {
       program.constant_offsets = {{0, 25}};
     },
     "constant_segment: offsets[1]: outside its segment"},
    {"StateSegmentIndex", [](auto& program, auto&) { program.initial_state_segment_index = 9; },
     "mutable_data_segments[0]: segment_index: no such segment"},
    {"StateOffset",
     [](auto& program, auto&) {
       program.initial_state_offsets = {{0, 25}};
     },
     "mutable_data_segments[0]: offsets[1]: outside its segment"},
    {"BothKindsOfConstants", [](auto& program, auto&) { program.both_kinds_of_constants = true; },
     "constant_segment and constant_buffer must not both be present"},
    {"NamedDataWithoutKey", [](auto& program, auto&) { program.named_data_has_keys = false; },
     "named_data[0]: key: is missing"},
    {"NamedDataSegment", [](auto& program, auto&) { program.named_data_segment_index = 4; },
     "named_data[0]: segment_index: no such segment"},
    {"SecondMethod", [](auto& program, auto&) { program.method("other").inputs = {0}; },
     "execution_plan[1]: inputs[0]: value 0 does not exist; there are 0 values"},
};

const Damage kPlanDamages[] = {
    {"NoName", [](auto&, auto& forward) { forward.name.reset(); },
     "execution_plan[0]: name: is missing"},
    {"NoValues", [](auto&, auto& forward) { forward.has_values = false; },
     "execution_plan[0]: values: is missing"},
    {"NoChains", [](auto&, auto& forward) { forward.chains.clear(); },
     "execution_plan[0]: chains: is missing"},
    {"NegativeBuffer",
     [](auto&, auto& forward) {
       forward.buffer_sizes = {0, 64, -1};
     },
     "execution_plan[0]: non_const_buffer_sizes[2]: is negative"},
    {"BufferThatCannotBeAddressed",
     [](auto&, auto& forward) {
       forward.buffer_sizes = {0, 64, static_cast<int64_t>(kMaxBytes + 1)};
     },
     "execution_plan[0]: non_const_buffer_sizes[2] cannot be addressed"},
    {"BufferOf64Bits",
     [](auto&, auto& forward) {
       forward.buffer_sizes = {0, 64, INT64_MAX};
     },
     "execution_plan[0]: non_const_buffer_sizes[2] cannot be addressed"},
    {"BufferOnAnotherDevice",
     [](auto&, auto& forward) { forward.buffer_devices = {fbs::DeviceType::CUDA}; },
     "execution_plan[0]: non_const_buffer_device[0]: only CPU", ErrorCode::kNotSupported},
    {"Input",
     [](auto&, auto& forward) {
       forward.inputs = {0, 99};
     },
     "execution_plan[0]: inputs[1]: value 99 does not exist; there are 14 values"},
    {"NegativeOutput", [](auto&, auto& forward) { forward.outputs = {-1}; },
     "execution_plan[0]: outputs[0]: value -1 does not exist; there are 14 values"},
    {"OperatorWithoutName", [](auto&, auto& forward) { forward.operators[0].name.reset(); },
     "execution_plan[0]: operators[0].name: is missing"},
    {"DelegateWithoutId", [](auto&, auto& forward) { forward.delegates[0].id.reset(); },
     "execution_plan[0]: delegates[0]: id: is missing"},
    {"DelegateWithoutPayload",
     [](auto&, auto& forward) { forward.delegates[1].has_processed = false; },
     "execution_plan[0]: delegates[1]: processed: is missing"},
    {"InlinePayload", [](auto&, auto& forward) { forward.delegates[0].index = 1; },
     "execution_plan[0]: delegates[0]: processed: inline data 1 does not exist; there are 1"},
    {"PayloadSegment", [](auto&, auto& forward) { forward.delegates[1].index = 4; },
     "execution_plan[0]: delegates[1]: processed: segment 4 does not exist; there are 4"},
    {"PayloadLocation",
     [](auto&, auto& forward) {
       forward.delegates[0].location = static_cast<fbs::DataLocation>(2);
     },
     "execution_plan[0]: delegates[0]: processed.location: is unknown"},
    {"CompileSpecWithoutKey",
     [](auto&, auto& forward) { forward.delegates[0].compile_specs[0].key.reset(); },
     "execution_plan[0]: delegates[0]: compile_specs[0].key: is missing"},
};

const Damage kValueDamages[] = {
    value_damage(
        "NoKind", kInt, [](auto& value) { value.kind = KernelTypes::NONE; },
        "values[4]: val: missing or of unknown kind 0"),
    value_damage(
        "UnknownKind", kInt, [](auto& value) { value.kind = static_cast<KernelTypes>(12); },
        "values[4]: val: missing or of unknown kind 12"),
    value_damage(
        "NoValue", kInt, [](auto& value) { value.has_value = false; },
        "values[4]: val: missing or of unknown kind 2"),
    value_damage(
        "NoString", kString, [](auto& value) { value.text.reset(); },
        "values[5]: string_val: is missing"),
    value_damage(
        "NoInts", kIntList, [](auto& value) { value.items.reset(); },
        "values[6]: items: is missing"),
    value_damage(
        "IntOutOfRange", kIntList,
        [](auto& value) {
          value.items = {{4, 14}};
        },
        "values[6]: items[1]: is not an Int value"),
    value_damage(
        "NegativeInt", kIntList, [](auto& value) { value.items = {{-1}}; },
        "values[6]: items[0]: is not an Int value"),
    value_damage(
        "IntThatIsATensor", kIntList, [](auto& value) { value.items = {{0}}; },
        "values[6]: items[0]: is not an Int value"),
    value_damage(
        "IntFarOutOfRange", kIntList, [](auto& value) { value.items = {{(int64_t{1} << 32) + 4}}; },
        "values[6]: items[0]: is not an Int value"),
    value_damage(
        "NoDoubles", kDoubleList, [](auto& value) { value.reals.reset(); },
        "values[7]: items: is missing"),
    value_damage(
        "NoBools", kBoolList, [](auto& value) { value.items.reset(); },
        "values[8]: items: is missing"),
    value_damage(
        "NoTensors", kTensorList, [](auto& value) { value.items.reset(); },
        "values[9]: items: is missing"),
    value_damage(
        "TensorOutOfRange", kTensorList,
        [](auto& value) {
          value.items = {{0, 99}};
        },
        "values[9]: items[1]: is not a Tensor value"),
    value_damage(
        "NoneInAList", kTensorList, [](auto& value) { value.items = {{-1}}; },
        "values[9]: items[0]: is not a Tensor value"),
    value_damage(
        "IntAsATensor", kTensorList, [](auto& value) { value.items = {{4}}; },
        "values[9]: items[0]: is not a Tensor value"),
    value_damage(
        "NoOptionals", kOptionalList, [](auto& value) { value.items.reset(); },
        "values[10]: items: is missing"),
    value_damage(
        "OptionalOutOfRange", kOptionalList, [](auto& value) { value.items = {{-2}}; },
        "values[10]: items[0]: is not a Tensor value"),
};

const Damage kTensorDamages[] = {
    tensor_damage(
        "StorageOffset", kPlanned, [](auto& tensor) { tensor.storage_offset = 1; },
        "values[0]: storage_offset: must be 0", ErrorCode::kNotSupported),
    tensor_damage(
        "Unbound", kPlanned,
        [](auto& tensor) { tensor.dynamism = fbs::TensorShapeDynamism::DYNAMIC_UNBOUND; },
        "values[0]: shape_dynamism: DYNAMIC_UNBOUND", ErrorCode::kNotSupported),
    tensor_damage(
        "UnknownDynamism", kPlanned,
        [](auto& tensor) { tensor.dynamism = static_cast<fbs::TensorShapeDynamism>(3); },
        "values[0]: shape_dynamism: is unknown"),
    tensor_damage(
        "NegativeDynamism", kPlanned,
        [](auto& tensor) { tensor.dynamism = static_cast<fbs::TensorShapeDynamism>(-1); },
        "values[0]: shape_dynamism: is unknown"),
    tensor_damage(
        "Layout", kPlanned, [](auto& tensor) { tensor.layout = 1; },
        "values[0]: layout: not strided", ErrorCode::kNotSupported),
    tensor_damage(
        "Dtype", kPlanned, [](auto& tensor) { tensor.dtype = static_cast<ScalarType>(30); },
        "values[0]: scalar_type: is unknown"),
    tensor_damage(
        "NegativeDtype", kPlanned, [](auto& tensor) { tensor.dtype = static_cast<ScalarType>(-1); },
        "values[0]: scalar_type: is unknown"),
    tensor_damage(
        "NoSizes", kPlanned, [](auto& tensor) { tensor.has_sizes = false; },
        "values[0]: sizes: is missing"),
    tensor_damage(
        "NoDimOrder", kPlanned, [](auto& tensor) { tensor.has_dim_order = false; },
        "values[0]: dim_order: is missing"),
    tensor_damage(
        "Rank", kPlanned, [](auto& tensor) { tensor.sizes.assign(17, 1); },
        "values[0]: sizes: rank 17 is above 16", ErrorCode::kNotSupported),
    tensor_damage(
        "ShortDimOrder", kPlanned, [](auto& tensor) { tensor.dim_order = {0}; },
        "values[0]: dim_order: is not a permutation"),
    tensor_damage(
        "RepeatedDim", kPlanned,
        [](auto& tensor) {
          tensor.dim_order = {1, 1};
        },
        "values[0]: dim_order: is not a permutation"),
    tensor_damage(
        "NegativeSize", kPlanned,
        [](auto& tensor) {
          tensor.sizes = {2, -3};
        },
        "values[0]: sizes: size -3 of dimension 1 is negative"),
    tensor_damage(
        "HugeSizes", kPlanned, [](auto& tensor) { tensor.sizes.assign(3, kHuge); },
        "values[0]: sizes: the product of the sizes overflows"),
    tensor_damage(
        "Device", kPlanned, [](auto& tensor) { tensor.device = fbs::DeviceType::CUDA; },
        "values[0]: device_type: only CPU", ErrorCode::kNotSupported),
    tensor_damage(
        "Location", kPlanned,
        [](auto& tensor) { tensor.location = static_cast<fbs::TensorDataLocation>(2); },
        "values[0]: extra_tensor_info.location: is unknown"),
    tensor_damage(
        "ExternalWithoutName", kExternal,
        [](auto& tensor) {
          tensor.external.reset();
          tensor.location = fbs::TensorDataLocation::EXTERNAL;
        },
        "values[3]: fully_qualified_name: is missing", ErrorCode::kInvalidExternalData),
    tensor_damage(
        "ReservedBuffer", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{0, 0};
        },
        "values[0]: allocation_info.memory_id: must be at least 1 and less than 2, got 0"),
    tensor_damage(
        "NoSuchBuffer", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{2, 0};
        },
        "values[0]: allocation_info.memory_id: must be at least 1 and less than 2, got 2"),
    tensor_damage(
        "PastTheBuffer", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{1, 44};
        },
        "values[0]: allocation_info: 24 bytes at 44 exceed buffer 1 of 64 bytes"),
    tensor_damage(
        "FarPastTheBuffer", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{1, uint64_t{1} << 32};
        },
        "values[0]: allocation_info: 24 bytes at 4294967296 exceed"),
    tensor_damage(
        "OffsetThatWraps", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{1, UINT64_MAX - 7};
        },
        "values[0]: allocation_info: 24 bytes"),
    tensor_damage(
        "UnalignedOffset", kPlanned,
        [](auto& tensor) {
          tensor.planned = Planned{1, 2};
        },
        "values[0]: allocation_info: the offset is not aligned"),
    tensor_damage(
        "NoSuchConstant", kConstant, [](auto& tensor) { tensor.data = 2; },
        "values[1]: data_buffer_idx: index 2 is out of range; there are 2 offsets"),
    tensor_damage(
        "ConstantTooShort", kConstant,
        [](auto& tensor) {
          tensor.sizes = {2, 4};
        },
        "values[1]: data_buffer_idx: the tensor's data exceeds its segment"),
    tensor_damage(
        "NoSuchState", kState, [](auto& tensor) { tensor.data = 2; },
        "values[2]: data_buffer_idx: index 2 is out of range; there are 2 offsets"),
    tensor_damage(
        "StateTooShort", kState,
        [](auto& tensor) {
          tensor.sizes = {2, 4};
          tensor.planned = Planned{1, 0};
        },
        "values[2]: data_buffer_idx: the tensor's data exceeds its segment"),
};

const Damage kInstructionDamages[] = {
    instruction_damage(
        "NoBody", 0, [](auto& instruction) { instruction.has_args = false; },
        "chains[0]: instructions[0]: instr_args: is missing"),
    instruction_damage(
        "UnknownKind", 4,
        [](auto& instruction) { instruction.kind = static_cast<InstructionArguments>(6); },
        "chains[0]: instructions[4]: instr_args: unknown kind 6"),
    instruction_damage(
        "NoKind", 4, [](auto& instruction) { instruction.kind = InstructionArguments::NONE; },
        "chains[0]: instructions[4]: instr_args: unknown kind 0"),
    instruction_damage(
        "Operator", 0, [](auto& instruction) { instruction.first = 1; },
        "instructions[0]: op_index: no such operator"),
    instruction_damage(
        "NegativeOperator", 0, [](auto& instruction) { instruction.first = -1; },
        "instructions[0]: op_index: no such operator"),
    instruction_damage(
        "KernelArgument", 0,
        [](auto& instruction) {
          instruction.args = {0, 14};
        },
        "instructions[0]: args[1]: value 14 does not exist; there are 14 values"),
    instruction_damage(
        "Delegate", 1, [](auto& instruction) { instruction.first = 2; },
        "instructions[1]: delegate_index: no such delegate"),
    instruction_damage(
        "DelegateArgument", 1, [](auto& instruction) { instruction.args = {-5}; },
        "instructions[1]: args[0]: value -5 does not exist; there are 14 values"),
    instruction_damage(
        "MoveFrom", 2, [](auto& instruction) { instruction.first = 14; },
        "instructions[2]: move_from or move_to: no such value"),
    instruction_damage(
        "MoveTo", 2, [](auto& instruction) { instruction.second = -1; },
        "instructions[2]: move_from or move_to: no such value"),
    instruction_damage(
        "Condition", 3, [](auto& instruction) { instruction.first = 14; },
        "instructions[3]: cond_value_index: no such value"),
    instruction_damage(
        "Destination", 3, [](auto& instruction) { instruction.second = 6; },
        "instructions[3]: destination_instruction: outside the chain"),
    instruction_damage(
        "NegativeDestination", 3, [](auto& instruction) { instruction.second = -1; },
        "instructions[3]: destination_instruction: outside the chain"),
    instruction_damage(
        "Freed", 4, [](auto& instruction) { instruction.first = 14; },
        "instructions[4]: value_index: no such value"),
};

class DamageTest : public testing::TestWithParam<Damage> {};

TEST_P(DamageTest, DamageIsReportedWithItsLocation) {
  ProgramBuilder builder = test::whole_program();
  GetParam().inflict(builder, builder.methods[0]);
  const Error error = load(builder);
  EXPECT_EQ(error.code(), GetParam().code);
  EXPECT_THAT(error.message(), HasSubstr(GetParam().message));
}

std::string name_of(const testing::TestParamInfo<Damage>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Program, DamageTest, testing::ValuesIn(kProgramDamages), name_of);
INSTANTIATE_TEST_SUITE_P(Plan, DamageTest, testing::ValuesIn(kPlanDamages), name_of);
INSTANTIATE_TEST_SUITE_P(Value, DamageTest, testing::ValuesIn(kValueDamages), name_of);
INSTANTIATE_TEST_SUITE_P(Tensor, DamageTest, testing::ValuesIn(kTensorDamages), name_of);
INSTANTIATE_TEST_SUITE_P(Instruction, DamageTest, testing::ValuesIn(kInstructionDamages), name_of);

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

TEST(ProgramVerifier, RejectsInitialValuesOfStatesWithoutMutableData) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 64};
  forward.tensor({.sizes = {2}, .planned = Planned{1, 0}, .data = 1});
  EXPECT_THAT(load(builder).message(),
              HasSubstr("values[0]: data_buffer_idx: there is no mutable data"));
}

TEST(ProgramVerifier, AcceptsJumpsToTheEndOfTheChain) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.jump_false(forward.boolean(true), 1);
  EXPECT_TRUE(load(builder).ok());
}

}  // namespace
}  // namespace vitrine

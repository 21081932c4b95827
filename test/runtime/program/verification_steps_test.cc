// Tests that the number of steps for verifying a file grows at most linearly with its size, even if
// the file refers to one item many times.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/program/program_verifier.h"
#include "schema/program_generated.h"
#include "vitrine/data_source.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using Tables = std::vector<Offset<T>>;

struct Plan {
  Tables<fbs::EValue> values;
  Tables<fbs::Chain> chains;
};

Offset<fbs::EValue> number(FlatBufferBuilder& out) {
  return fbs::CreateEValue(out, fbs::KernelTypes::Int, fbs::CreateInt(out, 1).Union());
}

// The following functions return a plan of about `size` tables. All tables share one list of `size`
// items. In this function, the tables are lists, which `kCreate` makes, of the item `kItem`.
template <auto kCreate, fbs::KernelTypes kKind, class T, T kItem = 0>
Plan shared_lists(FlatBufferBuilder& out, uint32_t size) {
  Plan plan{{number(out)}, {}};
  const auto items = out.CreateVector(std::vector<T>(size, kItem));
  for (uint32_t i = 0; i < size; ++i) {
    plan.values.push_back(fbs::CreateEValue(out, kKind, kCreate(out, items).Union()));
  }
  return plan;
}

Plan shared_arguments(FlatBufferBuilder& out, uint32_t size) {
  Plan plan{{number(out)}, {}};
  const auto arguments = out.CreateVector(std::vector<int32_t>(size));
  Tables<fbs::Instruction> calls;
  for (uint32_t i = 0; i < size; ++i) {
    calls.push_back(fbs::CreateInstruction(out, fbs::InstructionArguments::KernelCall,
                                           fbs::CreateKernelCall(out, 0, arguments).Union()));
  }
  plan.chains.push_back(fbs::CreateChain(out, 0, 0, out.CreateVector(calls)));
  return plan;
}

Plan shared_chains(FlatBufferBuilder& out, uint32_t size) {
  Plan plan{{number(out)}, {}};
  const auto free = fbs::CreateInstruction(out, fbs::InstructionArguments::FreeCall,
                                           fbs::CreateFreeCall(out, 0).Union());
  const auto chain =
      fbs::CreateChain(out, 0, 0, out.CreateVector(Tables<fbs::Instruction>(size, free)));
  plan.chains.assign(size, chain);
  return plan;
}

struct Cost {
  uint64_t steps;
  size_t bytes;
  ErrorCode code;
};

Cost cost_of(Plan (*make)(FlatBufferBuilder&, uint32_t), uint32_t size, size_t plans = 1) {
  FlatBufferBuilder out;
  Plan plan = make(out, size);
  if (plan.chains.empty()) plan.chains.push_back(fbs::CreateChain(out));
  const auto op = fbs::CreateOperator(out, out.CreateString("a"));
  const auto made = fbs::CreateExecutionPlan(
      out, out.CreateString("forward"), 0, out.CreateVector(plan.values), 0, 0,
      out.CreateVector(plan.chains), out.CreateVector(Tables<fbs::Operator>{op}));
  fbs::FinishProgramBuffer(
      out, fbs::CreateProgram(out, 0, out.CreateVector(Tables<fbs::ExecutionPlan>(plans, made))));
  DataBuffer file = *DataBuffer::allocate(out.GetSize());
  std::memcpy(file.owned_data(), out.GetBufferPointer(), file.size());
  Budget steps(file.size());  // the limit that Program::load uses
  const Error error = verify_program(file.bytes(), 0, steps);
  return {steps.used(), file.size(), error.code()};
}

TEST(VerificationSteps, GrowLinearlyEvenIfItemsAreShared) {
  using Make = Plan (*)(FlatBufferBuilder&, uint32_t);
  for (const Make make :
       {Make{shared_lists<fbs::CreateIntList, fbs::KernelTypes::IntList, int64_t>},
        Make{shared_lists<fbs::CreateBoolList, fbs::KernelTypes::BoolList, uint8_t>},
        Make{shared_lists<fbs::CreateOptionalTensorList, fbs::KernelTypes::OptionalTensorList,
                          int32_t, -1>},
        Make{shared_arguments}, Make{shared_chains}}) {
    const Cost small = cost_of(make, 1000);
    const Cost large = cost_of(make, 4000);
    EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
    EXPECT_LE(large.steps, large.bytes);
    EXPECT_LE(large.steps, 5 * small.steps);
    // If only two tables share a list, verification stays within the limit.
    EXPECT_EQ(cost_of(make, 2).code, ErrorCode::kOk);
  }
}

TEST(VerificationSteps, CountASharedPlanOncePerReference) {
  const auto none = [](FlatBufferBuilder& out, uint32_t size) {
    return Plan{Tables<fbs::EValue>(size, number(out)), {}};
  };
  EXPECT_EQ(cost_of(none, 4000, 1).code, ErrorCode::kOk);
  EXPECT_EQ(cost_of(none, 4000, 4000).code, ErrorCode::kOutOfResources);
}

}  // namespace
}  // namespace vitrine

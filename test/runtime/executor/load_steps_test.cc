// The work of loading a method grows with its file and no faster, whatever the file shares.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/program_generated.h"
#include "test/support/program_builder.h"
#include "vitrine/method.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
template <class T>
using Tables = std::vector<flatbuffers::Offset<T>>;

// As many operators as each has letters; they share their name.
Error load_shared_names(uint32_t size) {
  flatbuffers::FlatBufferBuilder out;
  const auto op = fbs::CreateOperator(out, out.CreateString(std::string(size, 'a')));
  const auto none = fbs::CreateEValue(out, fbs::KernelTypes::Null, fbs::CreateNull(out).Union());
  const auto plan = fbs::CreateExecutionPlan(
      out, out.CreateString("forward"), 0, out.CreateVector(Tables<fbs::EValue>{none}), 0, 0,
      out.CreateVector(Tables<fbs::Chain>{fbs::CreateChain(out)}),
      out.CreateVector(Tables<fbs::Operator>(size, op)));
  fbs::FinishProgramBuffer(
      out, fbs::CreateProgram(out, 0, out.CreateVector(Tables<fbs::ExecutionPlan>{plan})));
  const auto* begin = reinterpret_cast<const std::byte*>(out.GetBufferPointer());
  const test::AlignedBytes file(begin, begin + out.GetSize());
  VITRINE_ASSIGN_OR_RETURN(auto source, view_buffer(file));
  VITRINE_ASSIGN_OR_RETURN(auto program, Program::load(std::move(source)));
  return Method::load(std::move(program), "forward", {}).take_error();
}

TEST(LoadStepsTest, LongOperatorNamesThatAreSharedAreRefused) {
  EXPECT_EQ(load_shared_names(20).code(), ErrorCode::kOperatorMissing);
  EXPECT_EQ(load_shared_names(16000).code(), ErrorCode::kOutOfResources);
}

}  // namespace
}  // namespace vitrine

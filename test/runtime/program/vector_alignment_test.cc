// Tests that vectors of 8-byte elements must be aligned to 8 bytes in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/program/program_verifier.h"
#include "test/runtime/program/whole_program.h"
#include "vitrine/program.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using test::AlignedBytes;
using test::MethodSpec;
using test::ProgramBuilder;
using testing::HasSubstr;

// Field `slot` of `table` refers to a vector of 8-byte elements. Moves this vector by 4 bytes: its
// length is then the low half of the first element, which must be small.
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
    const auto program = Program::load(*view_buffer(file));
    ASSERT_FALSE(program.ok());
    EXPECT_THAT(program.error().message(), HasSubstr("or misaligned"));
  }
}

}  // namespace
}  // namespace vitrine

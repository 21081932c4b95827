// Tests which values a method passes to a tracer that records values.
#include <vector>

#include "test/runtime/executor/method_fixture.h"
#include "vitrine/value_tracer.h"

namespace vitrine {
namespace {

using test::multiply_by;
using testing::ElementsAre;

// Copies the elements of each value when it is recorded.
class ValueRecorder final : public ValueTracer {
 public:
  struct Taken {
    std::vector<float> elements;
    TracedValue source;
    size_t after_records;
  };

  explicit ValueRecorder(bool wanted) : wanted_(wanted) {}
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override { ++records; }
  bool wants_values() const override { return wanted_; }
  void record_value(const TracedValue& value) override {
    Taken one{.elements = {}, .source = value, .after_records = records};
    const EValue& given = *value.value;
    if (given.is_tensor()) one.elements = test::values_of<float>(given.unchecked_tensor());
    if (given.is_int()) one.elements = {static_cast<float>(given.unchecked_int())};
    taken.push_back(one);
  }

  size_t records = 0;
  std::vector<Taken> taken;

 private:
  bool wanted_;
};

class MethodValuesTest : public test::MethodTest {
 protected:
  // First a kernel computes out = 2x, and then a delegate computes out = 3x. After that, there are
  // a kernel that returns a number, a move instruction, and a jump instruction. x and out do not
  // share memory.
  MethodValuesTest() {
    build_scaling();
    const int delegate = forward_.delegate({.id = "TestBackend", .payload = multiply_by(3)});
    const int rows = forward_.integer(0);
    forward_.delegate_call(delegate, {x_, out_});
    forward_.kernel_call(forward_.op("test::size", "int"), {x_, forward_.integer(0), rows});
    forward_.move(rows, forward_.integer(0));
    forward_.jump_false(forward_.boolean(true), 0);
  }
  Error execute(Method& method) {
    VITRINE_RETURN_IF_ERROR(
        method.set_input(0, value({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})));
    return method.execute();
  }
};

TEST_F(MethodValuesTest, InstructionResultsAreRecordedBeforeMethodOutputs) {
  ValueRecorder tracer(true);
  const auto method = load({.tracer = &tracer});
  tracer.records = 0;
  ASSERT_TRUE(execute(*method).ok());
  ASSERT_EQ(tracer.taken.size(), 5u);
  // `out` is written twice, so each value must be recorded before the next instruction.
  EXPECT_THAT(tracer.taken[0].elements, ElementsAre(2, 4, 6, 8, 10, 12));
  // This delegate does not report which arguments it writes, so inputs are recorded too, as in
  // stock runtimes.
  EXPECT_THAT(tracer.taken[1].elements, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(tracer.taken[2].elements, ElementsAre(3, 6, 9, 12, 15, 18));
  EXPECT_THAT(tracer.taken[3].elements, ElementsAre(2));
  EXPECT_THAT(tracer.taken[4].elements, ElementsAre(3, 6, 9, 12, 15, 18));
  const std::vector<int32_t> instructions{0, 1, 1, 2, kUnsetInstructionId};
  for (size_t i = 0; i < tracer.taken.size(); ++i) {
    const TracedValue& source = tracer.taken[i].source;
    EXPECT_EQ(source.instruction_id, instructions[i]) << i;
    EXPECT_EQ(source.is_method_output, i == 4) << i;
    EXPECT_EQ(source.chain_index, i == 4 ? kUnsetChainIndex : 0) << i;
    EXPECT_EQ(source.delegate_debug_id, kUnsetDelegateDebugId) << i;
  }
  // The values of an instruction come after the records of the instruction. The kernel has one
  // record, and the delegate has two.
  EXPECT_EQ(tracer.taken[0].after_records, 1u);
  EXPECT_EQ(tracer.taken[1].after_records, 3u);
  EXPECT_EQ(tracer.taken[4].after_records, tracer.records);
}

TEST_F(MethodValuesTest, AreRecordedOnlyIfTheTracerRequestsThem) {
  ValueRecorder tracer(false);
  const auto method = load({.tracer = &tracer});
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_TRUE(tracer.taken.empty());
}

TEST_F(MethodValuesTest, EarlierValuesAreRecordedIfExecutionFails) {
  forward_.op("test::fail", "out");
  forward_.chains[0][2] = {.kind = schema::program::InstructionArguments::KernelCall,
                           .first = 2,
                           .args = {x_, out_, out_}};
  ValueRecorder tracer(true);
  const auto method = load({.tracer = &tracer});
  EXPECT_FALSE(execute(*method).ok());
  EXPECT_EQ(tracer.taken.size(), 3u);
}

}  // namespace
}  // namespace vitrine

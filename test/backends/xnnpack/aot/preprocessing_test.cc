#include "backends/xnnpack/aot/preprocessing.h"

#include <gmock/gmock.h>

#include <cstring>

#include "aot/graph/aot_error.h"
#include "test/backends/xnnpack/aot/test_program.h"
#include "test/support/expect_error.h"
#include "vitrine/half.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using xnnpack::Preprocessing;

template <class T>
Node* constant_of(TestProgram& t, ScalarType dtype, const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return t.program.add_constant(
      "c", make_tensor_data(dtype, {static_cast<int64_t>(numbers.size())}, bytes));
}

// All floating-point types represent 1.5 and -2 exactly.
TEST(Preprocessing, ReadsConstantsOfEveryFloatingPointType) {
  TestProgram t;
  Node* x = t.input("x", {2});
  Node* f64 = constant_of<double>(t, ScalarType::kDouble, {1.5, -2});
  Node* f32 = constant_of<float>(t, ScalarType::kFloat, {1.5f, -2});
  Node* f16 = constant_of<Half>(t, ScalarType::kHalf, {Half(1.5f), Half(-2.0f)});
  Node* bf16 = constant_of<BFloat16>(t, ScalarType::kBFloat16, {BFloat16(1.5f), BFloat16(-2.0f)});
  Node* i8 = constant_of<int8_t>(t, ScalarType::kChar, {1, -2});
  t.output({x});
  const Preprocessing p(t.program);
  for (const Node* node : {f64, f32, f16, bf16}) {
    EXPECT_THAT(p.floats(*node), ElementsAre(1.5f, -2));
  }
  EXPECT_ERROR(AotError, p.floats(*i8), "not floats");
  EXPECT_ERROR(AotError, p.floats(*x), "node x");
}

TEST(Preprocessing, DerivedConstantsStayInTheFileOfTheSourceConstant) {
  TestProgram t;
  Node* source = t.parameter("w", {2}, {1, 2});
  source->meta.external_tag = "weights";
  t.output({t.input("x", {2})});
  Preprocessing p(t.program);
  for (const ScalarType dtype : {ScalarType::kFloat, ScalarType::kHalf}) {
    Node* derived = p.add_constant("derived", {2}, dtype, {0.5f, 4}, *source);
    EXPECT_EQ(derived->tensor()->dtype, dtype);
    EXPECT_EQ(derived->meta.external_tag, "weights");
    EXPECT_THAT(p.floats(*derived), ElementsAre(0.5f, 4));
  }
  EXPECT_THROW(p.add_constant("derived", {2}, ScalarType::kDouble, {0.5f, 4}, *source), AotError);
}

TEST(Preprocessing, CollectsDebugHandlesOfAllAbsorbedNodes) {
  TestProgram t;
  Node* first = t.call("aten.abs.default", {t.input("x", {2})}, {2});
  Node* second = t.call("aten.neg.default", {first}, {2});
  Node* third = t.call("aten.exp.default", {second}, {2});
  t.output({third});
  Preprocessing p(t.program);
  p.absorb(*second, *third);
  p.absorb(*first, *second);
  EXPECT_THAT(p.notes(*first).handles, ElementsAre(3, 2));
}

TEST(Preprocessing, ReplacingANodeUpdatesTheOutputsOfTheProgram) {
  TestProgram t;
  Node* x = t.input("x", {2});
  Node* w = t.parameter("w", {2});
  Node* sum = t.call("aten.add.Tensor", {x, w}, {2});
  t.output({sum});
  Preprocessing p(t.program);
  Node* inserted = p.insert(*sum, "aten.abs.default", {x}, *sum->tensor());
  EXPECT_EQ(inserted->meta.debug_handle, 0u);
  p.replace(*sum, *inserted);
  EXPECT_EQ(t.program.graph->output()->args()[0].list()->at(0).node(), inserted);
  EXPECT_EQ(t.program.signature.outputs[0].name, inserted->name());
  // The pass removes the unused parameter, but never an input.
  p.remove_dead_code();
  EXPECT_THAT(t.program.graph->placeholders(), ElementsAre(x));
  EXPECT_THAT(t.program.constants, IsEmpty());
}

TEST(Preprocessing, ErrorsNameThePassAndTheNode) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 2, 2});
  Node* norm = t.tuple_call("aten._native_batch_norm_legit_no_training.default",
                            {x, t.parameter("w", {2}), t.parameter("b", {2}), t.parameter("m", {3}),
                             t.parameter("v", {2}), 0.1, 1e-5},
                            std::vector(3, *x->tensor()));
  t.output({t.item(norm, 0)});
  Preprocessing p(t.program);
  EXPECT_ERROR(AotError, run_passes(p), "batch_norms_to_convolutions: node " + norm->name());
}

}  // namespace
}  // namespace vitrine::aot::test

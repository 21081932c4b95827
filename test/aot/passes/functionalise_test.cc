#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Functionalise, ViewsSeeLaterWrites) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 2, 3, 4})};
  const auto found = run(x, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    Node* row = build.call("aten.select.int", {copy, 0, 0});
    Node* before = build.call("aten.mul.Tensor", {row, 1});  // a value of its own
    build.call("aten.add_.Tensor", {copy, 10});
    return build.call("aten.add.Tensor", {row, before});
  });
  expect_near(found[0], {12, 14});
}

TEST(Functionalise, KeepTheDtypeOfWhatIsWritten) {
  const TensorData x = make_tensor_data(ScalarType::kInt, {2}, std::vector<std::byte>(8));
  const TensorData y = integers({2}, {5, 7});
  const auto found = run({x, y}, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    const TensorSpec spec = contiguous_spec(ScalarType::kInt, {2});
    build.call_as("aten.add_.Tensor", {copy, in[1]}, {}, spec);
    return build.call_as("aten.mul.Tensor", {copy, 3}, {}, spec);
  });
  EXPECT_EQ(found[0].dtype, ScalarType::kInt);
  EXPECT_EQ(values_of(found[0]), (Values{15, 21}));
  // A comparison in place writes its result as a number.
  EXPECT_EQ(written({floats({3}, {1, -1, 0})},
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>&) {
                      build.call_as("aten.gt_.Scalar", {copy, 0}, {}, *copy->tensor());
                    }),
            (Values{1, 0, 0}));
}

TEST(Functionalise, ByIndex) {
  const std::vector<TensorData> inputs = {floats({3, 2}, {1, 2, 3, 4, 5, 6}), integers({2}, {2, 0}),
                                          floats({2, 2}, {10, 20, 30, 40})};
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call("aten.index_copy_.default", {copy, 0, in[1], in[2]});
                    }),
            (Values{30, 40, 3, 4, 10, 20}));
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      Node* row = build.call("aten.narrow.default", {copy, 0, 0, 3});
                      build.call("aten.index_add_.default", {row, 0, in[1], in[2]});
                    }),
            (Values{31, 42, 3, 4, 15, 26}));
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call("aten.index_fill_.int_Scalar", {copy, 0, in[1], 0.0});
                    }),
            (Values{0, 0, 3, 4, 0, 0}));
}

TEST(Functionalise, RefusesTwoThatShareMemory) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      Node* cache = build.call("aten.clone.default", {in[0]});
      return build.call_as("llama.sdpa_with_kv_cache.default",
                           {in[1], in[1], in[1], cache, cache, 0, 1}, {}, *in[1]->tensor());
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(HasSubstr("two arguments that share memory")));
}

}  // namespace
}  // namespace vitrine::aot

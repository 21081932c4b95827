// Tests the checks of a delegate's arguments and of the headers of its payload.
#include <gmock/gmock.h>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

class ArgumentsTest : public DelegateTest {
 protected:
  void SetUp() override { load_unary(Tag::XNNNegate, {2, 3}); }
  std::string error_of(const std::vector<Tensor*>& tensors) { return execute(tensors).message(); }
};

TEST_F(DelegateTest, RejectsDynamicallyQuantizedOutputsAndQuint8Inputs) {
  for (const bool on_output : {false, true}) {
    PayloadBuilder b;
    const uint32_t x = b.input({2, 3}), y = b.output({2, 3});
    b.unary(Tag::XNNNegate, x, y);
    b.values[on_output ? y : x].dq_type =
        on_output ? Type::xnn_datatype_qint8 : Type::xnn_datatype_quint8;
    EXPECT_THAT(load_error(b),
                HasSubstr("only unquantized inputs may have one, and it must be qint8"));
  }
}

TEST_F(DelegateTest, RejectsOutputWithWrongRank) {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 3}), y = b.output({6});
  b.unary(Tag::XNNNegate, x, y);
  EXPECT_THAT(load_error(b),
              HasSubstr("xvalues[1]: declares rank 1, but its node computes rank 2"));
}

// A payload may have f32 weights that are in fact quantized, and an unused argument that contains
// their scales. The delegate rejects a payload with an unused argument if all f32 weights of a node
// are integers in the range of int8, unless all of them are -1, 0 or 1.
TEST_F(DelegateTest, RejectsQuantizedWeightsWithoutScales) {
  const auto load = [&](bool unused_argument, const std::vector<float>& weights) {
    PayloadBuilder b;
    const uint32_t x = b.input({1, 3}), y = b.output({1, 2});
    b.fully_connected(x, b.constant<float>({2, 3}, weights), kInvalidId, y);
    if (unused_argument) {
      b.values[x].external_id = 1;
      b.values[y].external_id = 2;
      b.external_count = 3;
    }
    return load_error(b);
  };
  const std::vector<float> quantized = {-8, 7, 3, 0, 1, -1};
  EXPECT_THAT(load(true, quantized), HasSubstr("xnodes[0] (FullyConnected): multiplies by"));
  EXPECT_THAT(load(true, quantized), HasSubstr("argument 0 unused"));
  EXPECT_EQ(load(false, quantized), "(none)");
  EXPECT_EQ(load(true, {-8, 7, 3, 0, 1, -1.5F}), "(none)");
  EXPECT_EQ(load(true, {0, 1, 0, 0, 1, -1}), "(none)");
}

TEST_F(ArgumentsTest, RejectsInvalidArguments) {
  Tensor& in = factory.make(ScalarType::kFloat, {2, 3});
  Tensor& out = factory.make(ScalarType::kFloat, {2, 3});
  EXPECT_THAT(error_of({&in}), HasSubstr("has 2 arguments, but is called with 1"));
  EXPECT_THAT(error_of({&factory.make(ScalarType::kInt, {2, 3}), &out}),
              HasSubstr("argument 0: is i32[2,3], but the delegate expects fp32 of rank 2"));
  EXPECT_THAT(error_of({&in, &factory.make(ScalarType::kDouble, {2, 3})}),
              HasSubstr("argument 1: is f64[2,3]"));
  EXPECT_THAT(error_of({&factory.make(ScalarType::kFloat, {2, 3, 1}), &out}),
              HasSubstr("argument 0: is f32[2,3,1]"));
  EXPECT_THAT(error_of({&factory.make(ScalarType::kFloat, {0, 3}), &out}),
              HasSubstr("argument 1: "));  // its size is static
  EXPECT_THAT(error_of({&factory.make(ScalarType::kFloat, {5, 3}), &out}),
              HasSubstr("argument 1: "));
  Tensor& nowhere = factory.make(ScalarType::kFloat, {2, 3});
  nowhere.set_data(nullptr);
  EXPECT_THAT(error_of({&nowhere, &out}), HasSubstr("argument 0 has no memory"));
  EValue number(int64_t{1});
  EValue* arguments[] = {&number, &factory.value(out)};
  EXPECT_THAT(delegate->execute({}, arguments).message(), HasSubstr("argument 0 is not a tensor"));
  // A valid call succeeds, although earlier calls were rejected.
  EXPECT_EQ(error_of({&factory.make<float>({2, 3}, {1, 2, 3, 4, 5, 6}), &out}), "");
  EXPECT_THAT(values_of<float>(out), testing::ElementsAre(-1, -2, -3, -4, -5, -6));
}

// Arguments may have the same memory as in an earlier call but another dtype or shape, so they must
// be checked again.
TEST_F(ArgumentsTest, RejectsInvalidArgumentsInLaterCalls) {
  Tensor& in = factory.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = factory.make(ScalarType::kFloat, {2, 3});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of({&in, &out}), "");
  in.mutable_data<float>()[0] = 7;
  EXPECT_EQ(error_of({&in, &out}), "");
  EXPECT_THAT(values_of<float>(out), testing::ElementsAre(-7, -2, -3, -4, -5, -6));

  Tensor& same_place = factory.make(ScalarType::kInt, {2, 3});
  same_place.set_data(in.mutable_raw_data());
  EXPECT_THAT(error_of({&same_place, &out}), HasSubstr("argument 0: is i32[2,3]"));
  EXPECT_EQ(error_of({&in, &out}), "");
  Tensor& turned = factory.make(ScalarType::kFloat, {3, 2});
  turned.set_data(in.mutable_raw_data());
  EXPECT_THAT(error_of({&turned, &out}), HasSubstr("argument 1: "));
  EXPECT_EQ(error_of({&in, &out}), "");

  Tensor& elsewhere = factory.make<float>({2, 3}, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(error_of({&elsewhere, &out}), "");
  EXPECT_THAT(values_of<float>(out), testing::Each(-1));
  out.set_read_only();
  EXPECT_THAT(error_of({&elsewhere, &out}), HasSubstr("a constant of the program"));
}

TEST_F(DelegateTest, RejectsInvalidHeaders) {
  PayloadBuilder b;
  negate(b);
  const std::vector<std::byte> sound = b.build();
  EXPECT_TRUE(init(sound).ok());
  const auto with = [&](size_t offset, uint8_t value) {
    std::vector<std::byte> damaged = sound;
    damaged[offset] = std::byte{value};
    const auto loaded = init(damaged);
    return loaded.ok() ? std::string("(none)") : std::string(loaded.error().message());
  };
  EXPECT_THAT(with(8, 29), HasSubstr("header size 29"));
  EXPECT_THAT(with(13, 0xff), HasSubstr("XH00 header: flatbuffer of"));
  EXPECT_THAT(with(29, 0xff), HasSubstr("bytes of constants at"));
  EXPECT_THAT(with(18, 33), HasSubstr("are not between the flatbuffer and the end"));
  EXPECT_THAT(with(4, 'Y'), HasSubstr("identifier is neither XN00 nor XN01"));
  EXPECT_THAT(with(36, 'Y'), HasSubstr("identifier is neither XN00 nor XN01"));
  for (size_t size = 0; size < sound.size(); ++size) {
    // The region of constants is empty, so only padding follows the flatbuffer.
    const auto loaded = init(std::span(sound).first(size));
    EXPECT_FALSE(loaded.ok()) << size;
  }
}

}  // namespace
}  // namespace vitrine::test

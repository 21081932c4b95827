// Tests transpositions of matrices that have several long tiles, and incomplete tiles at the edges.
#include <string>
#include <vector>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

struct Transposed {
  const char* name;
  std::vector<uint32_t> dims;
  std::vector<uint32_t> perm;
};

class TranspositionsTest : public DelegateTest, public testing::WithParamInterface<Transposed> {};

TEST_P(TranspositionsTest, MovesEachElement) {
  const auto& [name, dims, perm] = GetParam();
  std::vector<uint32_t> out_dims;
  std::vector<size_t> steps;  // distance of the input elements for each dim of the result
  for (const uint32_t dim : perm) {
    out_dims.push_back(dims[dim]);
    size_t step = 1;
    for (size_t inner = dim + 1; inner < dims.size(); ++inner) step *= dims[inner];
    steps.push_back(step);
  }
  PayloadBuilder b;
  const uint32_t from = b.input(dims), to = b.output(out_dims);
  b.transpose(perm, from, to);
  load(b);
  ASSERT_TRUE(delegate);
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  std::vector<float> in(count);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i);
  Tensor& x = factory.make<float>({dims.begin(), dims.end()}, in);
  Tensor& y = factory.make(ScalarType::kFloat, {out_dims.begin(), out_dims.end()});
  run({&x, &y});
  const std::vector<float> out = values_of<float>(y);
  for (size_t i = 0; i < count; ++i) {
    size_t source = 0;
    for (size_t dim = out_dims.size(), rest = i; dim-- > 0; rest /= out_dims[dim]) {
      source += rest % out_dims[dim] * steps[dim];
    }
    ASSERT_EQ(out[i], static_cast<float>(source)) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TranspositionsTest,
    testing::Values(Transposed{"ToChannelsLast", {1, 21, 17, 19}, {0, 2, 3, 1}},
                    Transposed{"FromChannelsLast", {1, 17, 19, 37}, {0, 3, 1, 2}},
                    Transposed{"FewChannels", {1, 17, 19, 5}, {0, 3, 1, 2}},
                    Transposed{"BatchToChannelsLast", {3, 21, 17, 19}, {0, 2, 3, 1}},
                    Transposed{"BatchFromChannelsLast", {3, 17, 19, 37}, {0, 3, 1, 2}},
                    Transposed{"FourLoops", {2, 3, 40, 170}, {1, 0, 3, 2}},
                    Transposed{"Reversed", {3, 5, 7, 150}, {3, 2, 1, 0}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vitrine::test

// Compares every kernel that supports f16 and bf16 with the same kernel on f64, rounded once.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/argument_values.h"

namespace vitrine::test::half {
namespace {

// Returns elements from the entire range of f16, or from the part of bf16's range whose squares fit
// into f32.
std::vector<Number> elements_of(ScalarType dtype, size_t seed) {
  const bool is_f16 = dtype == ScalarType::kHalf;
  const double low = is_f16 ? -24 : -60;
  const double high = is_f16 ? 15.99 : 60;
  std::vector<Number> elements;
  for (size_t i = 0; i < 16; ++i) {
    double whole = 0;
    const double u = std::modf(static_cast<double>(16 * seed + i + 1) * 0.618034, &whole);
    double value = i % 4 == 0 ? 8 * u : std::exp2(low + u * (high - low));
    if (i == seed % 16) value = is_f16 ? 65504 : 0x1p60;
    const auto narrow = static_cast<float>(value);
    const float held =
        is_f16 ? static_cast<float>(Half(narrow)) : static_cast<float>(BFloat16(narrow));
    elements.push_back(Number::of(static_cast<double>(held)));
  }
  return elements;
}

void fill(Argument& argument, ScalarType dtype, const std::vector<Number>& elements) {
  for (Argument& item : argument.items) fill(item, dtype, elements);
  const bool is_dtype = argument.kind == Argument::Kind::kScalarType &&
                        argument.integer == static_cast<int64_t>(ScalarType::kFloat);
  if (is_dtype) argument.integer = static_cast<int64_t>(dtype);
  if (!argument.is_tensor() || argument.dtype != ScalarType::kFloat) return;
  argument.dtype = dtype;
  // Sampling grids keep their elements. Some of the new elements are coordinates far outside of the
  // image. To reflect these into the image, a kernel would need more digits than f32 has.
  if (argument.elements.empty() && argument.name != "grid") argument.elements = elements;
}

double element(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case ScalarType::kHalf:
      return tensor.data<Half>()[i];
    case ScalarType::kBFloat16:
      return tensor.data<BFloat16>()[i];
    default:
      return tensor.data<double>()[i];
  }
}

int64_t position(ScalarType dtype, double x) {
  const auto narrow = static_cast<float>(x);
  const uint16_t bits = dtype == ScalarType::kHalf ? Half(narrow).bits : BFloat16(narrow).bits;
  return (bits & 0x8000) != 0 ? -int64_t{bits & 0x7fff} : int64_t{bits};
}

// Returns false if the kernel does not support the dtype.
bool compare(const Kernel& kernel, const OpCall& call, ScalarType dtype, size_t seed) {
  OpCall narrow = call;
  OpCall wide = call;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const std::vector<Number> elements = elements_of(dtype, seed + 7 * i);
    fill(narrow.arguments[i], dtype, elements);
    fill(wide.arguments[i], ScalarType::kDouble, elements);
  }
  ArgumentValues found(narrow.arguments);
  ArgumentValues expected(wide.arguments);
  HeapArena temp;
  if (!found.call(kernel, temp).ok() || !expected.call(kernel, temp).ok()) return false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!narrow.arguments[i].output || !narrow.arguments[i].is_tensor()) continue;
    const Tensor& a = *found.tensor_at(i, 0);
    const Tensor& b = *expected.tensor_at(i, 0);
    if (a.dtype() != dtype) {
      EXPECT_TRUE(std::ranges::equal(found.bytes_of(i), expected.bytes_of(i))) << narrow.text();
      continue;
    }
    for (size_t j = 0; j < static_cast<size_t>(a.numel()); ++j) {
      const double x = element(a, j);
      const double y = element(b, j);
      if (std::isnan(x) && std::isnan(y)) continue;
      EXPECT_LE(std::abs(position(dtype, x) - position(dtype, y)), 1)
          << narrow.text() << ": element " << j << ": expected " << y << ", found " << x;
    }
  }
  return true;
}

TEST(HalfPrecision, KernelsRoundResultsOnlyOnce) {
  // The test skips these kernels. rand, randn and native_dropout return random numbers.
  // scatter_reduce rounds after each addition. The weights of the bicubic kernel cancel each other.
  // The bounds of histc's bins depend on the dtype.
  const std::set<std::string_view> others = {"aten::rand.out",
                                             "aten::randn.out",
                                             "aten::native_dropout.out",
                                             "aten::scatter_reduce.two_out",
                                             "aten::_upsample_bicubic2d_aa.out",
                                             "aten::histc.out"};
  size_t compared = 0;
  for (const KernelTable& table : {portable::kernels(), optimized::kernels()}) {
    std::map<std::string_view, const Kernel*> kernels;
    for (const Kernel* kernel : table.kernels) kernels.emplace(kernel->name, kernel);
    for (const OpCall& call : all_op_calls()) {
      if (!kernels.contains(call.name) || others.contains(call.name)) continue;
      for (const ScalarType dtype : {ScalarType::kHalf, ScalarType::kBFloat16}) {
        bool supported = true;
        for (size_t seed = 0; seed < 8 && supported; ++seed) {
          supported = compare(*kernels.at(call.name), call, dtype, seed);
        }
        compared += supported ? 1 : 0;
      }
    }
  }
  EXPECT_GT(compared, 600);
}

}  // namespace
}  // namespace vitrine::test::half

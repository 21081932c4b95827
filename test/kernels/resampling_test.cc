// Tests resampling against values computed by hand from the formulas of the coordinates.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

using testing::Pointwise;

const std::string kBilinear = "aten::upsample_bilinear2d.vec_out";
const std::string kNearest = "aten::upsample_nearest2d.vec_out";
const std::string kLine = "f32[1,1,1,2]{0,4} ";

TEST(Upsample, BilinearInterpolatesBetweenPixelCentersOrAlignedCorners) {
  check_kernel(kBilinear, {{kLine + "[1,4] false none !f32[1,1,1,4]", "0,1,3,4"},
                           {kLine + "none false [1.0,2.0] !f32[1,1,1,4]", "0,1,3,4"},
                           {kLine + "[1,5] true none !f32[1,1,1,5]", "0,1,2,3,4"}});
}

// The factor 1.2 gives 4 * 1.2 = 4.8 elements, which is truncated to 4. A dimension whose size does
// not change is copied for any factor, as in PyTorch (compute_source_index_and_lambda).
TEST(Upsample, BilinearCopiesUnchangedDimension) {
  check_kernel(kBilinear,
               {{"f32[1,1,1,4]{0,1,2,3} none false [2.0,1.2] !f32[1,1,2,4]", "0,1,2,3,0,1,2,3"}});
}

// If the size of a dimension does not change, the kernel reads each element twice, with the weights
// 1 and 0. An infinite element gives NaN (0 * inf), but the neighboring results stay finite.
TEST(Upsample, BilinearDoesNotReadNeighborsAlongUnchangedDimension) {
  for (const std::string align_corners : {" false", " true"}) {
    check_kernel(
        kBilinear,
        {{"f32[1,1,1,3]{1,inf,2} [2,3]" + align_corners + " none !f32[1,1,2,3]", "1,?,2,1,?,2"},
         {"f32[1,1,3,1]{1,inf,2} [3,2]" + align_corners + " none !f32[1,1,3,2]", "1,1,?,?,2,2"}});
  }
}

// uint8 results round halves up, unlike results of other dtypes.
TEST(Upsample, Uint8BilinearRoundsAfterEachDimension) {
  check_kernel(kBilinear,
               {{"u8[1,1,2,2]{0,1,2,4} [3,3] true none !u8[1,1,3,3]", "0,1,1,1,2,3,2,3,4"}});
}

TEST(Upsample, NearestRepeatsElements) {
  check_kernel(kNearest, {{kLine + "[2,3] none !f32[1,1,2,3]", "0,0,4,0,0,4"},
                          {"f32[1,2,1,2]:0231{1,10,2,20} none [1.0,2.0] !f32[1,2,1,4]:0231",
                           "1,10,1,10,2,20,2,20"}});
}

// PyTorch ignores a scale factor if the image is small and the size of the dimension stays the same
// or doubles. For larger images, it uses the factor.
TEST(Upsample, NearestModeUsesTheScaleFactorExceptForSmallImages) {
  std::string numbers = "0,1";
  std::string expected = "?,0";
  for (int i = 2; i < 130; ++i) {
    numbers += "," + std::to_string(i);
    expected += i < 129 ? ",?" : ",128";
  }
  check_kernel(kNearest,
               {{"f32[1,1,1,4]{0,1,2,3} none [2.1,1.2] !f32[1,1,2,4]", "0,1,2,3,0,1,2,3"},
                {"f32[1,1,1,130]{" + numbers + "} none [1.0,1.005] !f32[1,1,1,130]", expected}});
}

// The scale is 2, so the support is 2 and the centers are 1 and 3. The weights are 3/4 at distance
// 0.5 and 1/4 at distance 1.5. The results are (0 * 3 + 8 * 3 + 16) / 7 and (8 + 16 * 3 + 24 * 3)
// / 7.
TEST(Upsample, AntialiasedDownsamplingByTwoUsesTriangleFilter) {
  const std::string call = "f32[1,1,1,4]{0,8,16,24} [1,2] false none none !f32[1,1,1,2]";
  check_kernel("aten::_upsample_bilinear2d_aa.out", {{call, "5.714285714,?"}}, 2e-6);
  check_kernel("aten::_upsample_bilinear2d_aa.out", {{call, "?,18.285714286"}}, 5e-6);
}

// Keys' cubic convolution with a = -0.5, stretched by the factor `stretch`.
double cubic_tap(double distance, double stretch) {
  const double x = std::fabs(distance) / stretch;
  if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
  return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
}

std::vector<float> resized_line(const std::vector<float>& from, size_t count) {
  std::vector<float> to;
  const double scale = static_cast<double>(from.size()) / static_cast<double>(count);
  const double stretch = std::max(scale, 1.0);
  for (size_t i = 0; i < count; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    double sum = 0, total = 0;
    for (size_t k = 0; k < from.size(); ++k) {
      const double weight = cubic_tap(static_cast<double>(k) - center, stretch);
      sum += weight * static_cast<double>(from[k]);
      total += weight;
    }
    to.push_back(static_cast<float>(sum / total));
  }
  return to;
}

TEST(Upsample, AntialiasedBicubicModeUsesTheKeysCubicFilter) {
  KernelCall call;
  const std::vector<float> elements = {3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5};
  Tensor& self = call.make<float>({1, 1, 1, 11}, elements);
  for (const int32_t count : {3, 5, 11, 17}) {
    Tensor& out =
        call.output_of(ScalarType::kFloat, {1, 1, 1, count}, "aten::_upsample_bicubic2d_aa.out",
                       self, call.ints({1, count}), false, call.none(), call.none());
    EXPECT_THAT(
        values_of<float>(out),
        Pointwise(testing::FloatNear(2e-5f), resized_line(elements, static_cast<size_t>(count))));
  }
  // Results that overshoot are clamped to the range of uint8.
  check_kernel(
      "aten::_upsample_bicubic2d_aa.out",
      {{"u8[1,1,1,4]{0,255,255,0} [1,8] false none none !u8[1,1,1,8]", "0,?,?,255,?,?,?,?"}});
}

// Float cannot represent 16'777'219, the length of the row. Conversion to float rounds the length
// up by one.
TEST(Upsample, AntialiasedDoesNotReadPastTheEndOfALongRow) {
  KernelCall call;
  Tensor& self = call.make<int8_t>({1, 1, 1, 16'777'219}, std::vector<int8_t>(16'777'219));
  Tensor& out = call.output_of(ScalarType::kChar, {1, 1, 1, 1}, "aten::_upsample_bilinear2d_aa.out",
                               self, call.ints({1, 1}), false, call.none(), call.none());
  EXPECT_EQ(out.data<int8_t>()[0], 0);
}

TEST(Upsample, RejectsInvalidSizes) {
  const std::string out = " !f32[1,1,1,4]";
  check_kernel(kBilinear,
               {{kLine + "none false none" + out, "error: output_size or scale_factors"},
                {kLine + "[1,4] false [1.0,2.0]" + out, "error: output_size or scale_factors"},
                {kLine + "[4] false none" + out, "error: two numbers"},
                {kLine + "[0,4] false none" + out, "error: cannot resample"},
                {kLine + "none false [1.0,0.0]" + out, "error: cannot resample"},
                {kLine + "none false [1.0,-1.0]" + out, "error: cannot resample"},
                {kLine + "none false [1.0,1.0e300]" + out, "error: cannot resample"},
                {kLine + "none false [1.0,nan]" + out, "error: cannot resample"}});
}

class GridSampler : public testing::Test {
 protected:
  KernelCall call;
  Tensor& image = call.make<float>({1, 1, 1, 4}, {1, 2, 3, 4});

  // Samples the image at half its height. The range of x from -1 to 1 spans the width.
  float sample(float x, int64_t interpolation, int64_t padding, bool align_corners) {
    Tensor& grid = call.make<float>({1, 1, 1, 2}, {x, 0});
    Tensor& out = call.output_of(ScalarType::kFloat, {1, 1, 1, 1}, "aten::grid_sampler_2d.out",
                                 image, grid, interpolation, padding, align_corners);
    return out.data<float>()[0];
  }
};

TEST_F(GridSampler, BilinearInterpolatesBetweenElements) {
  EXPECT_FLOAT_EQ(sample(0, 0, 0, true), 2.5f);  // position 1.5
  EXPECT_FLOAT_EQ(sample(1, 0, 0, true), 4);
  EXPECT_FLOAT_EQ(sample(1, 0, 0, false), 2);  // position 3.5, half in the padding
  EXPECT_FLOAT_EQ(sample(1, 0, 1, false), 4);
  EXPECT_FLOAT_EQ(sample(-1.5f, 0, 0, false), 0);  // position -1.5
}

TEST_F(GridSampler, NearestRoundsToEven) {
  EXPECT_FLOAT_EQ(sample(0, 1, 0, true), 3);             // position 1.5
  EXPECT_FLOAT_EQ(sample(-2.0f / 3.0f, 1, 0, true), 1);  // position 0.5
  EXPECT_FLOAT_EQ(sample(5, 1, 0, true), 0);
  EXPECT_FLOAT_EQ(sample(5, 1, 1, true), 4);
}

TEST_F(GridSampler, ReflectsAtBordersOrCentersOfEdgePixels) {
  EXPECT_FLOAT_EQ(sample(5.0f / 3.0f, 1, 2, true), 3);  // position 4, reflected at 3 to 2
  EXPECT_FLOAT_EQ(sample(1.25f, 1, 2, false), 4);       // position 4, reflected at 3.5 to 3
}

TEST_F(GridSampler, BicubicReproducesStraightLines) {
  // Cubic convolution reproduces a straight line only away from the edges.
  EXPECT_FLOAT_EQ(sample(0, 2, 1, true), 2.5f);
  EXPECT_FLOAT_EQ(sample(1.0f / 3.0f, 2, 1, true), 3);
}

// The index of the last element is 16'777'219. Float rounds this index up to one past the last
// element. PyTorch samples zeros at that position.
TEST_F(GridSampler, DoesNotReadPastTheEndOfALongRow) {
  Tensor& line = call.make<Half>({1, 1, 1, 16'777'220}, std::vector<Half>(16'777'220));
  Tensor& grid = call.make<Half>({1, 1, 1, 2}, {Half(1.0F), Half(0.0F)});
  for (int64_t mode = 0; mode < 3; ++mode) {
    for (int64_t padding = 0; padding < 3; ++padding) {
      Tensor& out = call.make<Half>({1, 1, 1, 1}, {Half(1.0F)});
      EXPECT_TRUE(
          succeeds(call.run("aten::grid_sampler_2d.out", line, grid, mode, padding, true, out)));
      EXPECT_EQ(float(out.data<Half>()[0]), 0);
    }
  }
}

TEST_F(GridSampler, AcceptsAnyCoordinate) {
  for (const float x : {NAN, INFINITY, -INFINITY, 3e38f, -3e38f}) {
    for (int64_t mode = 0; mode < 3; ++mode) {
      for (int64_t padding = 0; padding < 3; ++padding) {
        (void)sample(x, mode, padding, mode == 0);
      }
    }
  }
  check_kernel("aten::grid_sampler_2d.out",
               {{"f32[1,1,1,4] f32[1,1,1,2]{0} 3 0 true !f32[1,1,1,1]", "error: "},
                {"f32[1,1,1,4] f32[1,1,1,3]{0} 0 0 true !f32[1,1,1,1]", "error: "}});
}

// Samples a volume of shape [2, 3, 4] at one point, directly by the definition.
double sampled(const std::vector<float>& volume, const std::array<double, 3>& xyz, bool nearest,
               bool border, bool align_corners) {
  const std::array<int64_t, 3> sizes = {4, 3, 2};  // of x, y, z
  std::array<double, 3> at{};
  for (size_t i = 0; i < 3; ++i) {
    const auto size = static_cast<double>(sizes[i]);
    at[i] = align_corners ? (xyz[i] + 1) / 2 * (size - 1) : ((xyz[i] + 1) * size - 1) / 2;
    if (border) at[i] = std::clamp(at[i], 0.0, size - 1);
    if (nearest) at[i] = std::nearbyint(at[i]);
  }
  double sum = 0;
  for (int64_t z = 0; z < 2; ++z) {
    for (int64_t y = 0; y < 3; ++y) {
      for (int64_t x = 0; x < 4; ++x) {
        const double weight = std::max(0.0, 1 - std::fabs(at[0] - static_cast<double>(x))) *
                              std::max(0.0, 1 - std::fabs(at[1] - static_cast<double>(y))) *
                              std::max(0.0, 1 - std::fabs(at[2] - static_cast<double>(z)));
        sum += weight * static_cast<double>(volume[static_cast<size_t>((z * 3 + y) * 4 + x)]);
      }
    }
  }
  return sum;
}

TEST(VolumeSampler, InterpolatesAmongEightElements) {
  KernelCall call;
  std::vector<float> volume = count_up(24);
  for (float& element : volume) element = element * element - 40 * std::sin(element);
  Tensor& input = call.make<float>({1, 1, 2, 3, 4}, volume);
  const std::vector<float> points = {0,     0,    0, 0.3f, -0.7f, 0.2f,  -1,   1, 1,
                                     -1.2f, 0.9f, 0, 0.6f, 0.1f,  -0.9f, 1.1f, 0, 1.3f};
  Tensor& grid = call.make<float>({1, 1, 2, 3, 3}, points);
  for (const int mode : {0, 1}) {
    for (const int padding : {0, 1}) {
      for (const bool align_corners : {false, true}) {
        Tensor& out =
            call.output_of(ScalarType::kFloat, {1, 1, 1, 2, 3}, "aten::grid_sampler_3d.out", input,
                           grid, mode, padding, align_corners);
        std::vector<float> expected;
        for (size_t i = 0; i < 18; i += 3) {
          expected.push_back(
              static_cast<float>(sampled(volume, {points[i], points[i + 1], points[i + 2]},
                                         mode == 1, padding == 1, align_corners)));
        }
        EXPECT_THAT(values_of<float>(out), Pointwise(testing::FloatNear(2e-3f), expected));
      }
    }
  }
}

TEST(VolumeSampler, RejectsBicubicModeAndInvalidGrids) {
  const std::string inputs = "f32[1,1,1,1,2]{1,2} f32[1,1,1,1,3]{0,0,nan} ";
  const std::string out = " false !f32[1,1,1,1,1]";
  check_kernel("aten::grid_sampler_3d.out",
               {{inputs + "0 2" + out, "?"},
                {inputs + "2 0" + out, "error: interpolation mode 2"},
                {"f32[1,1,1,1,2] f32[1,1,1,1,2] 0 0" + out, "error: expected a grid"}});
}

}  // namespace
}  // namespace vitrine::test

// Tests p-norm distances.
#include <gtest/gtest.h>

#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(Cdist, ComputesEveryNormAndBroadcastsBatches) {
  const std::string inputs = "f64[2,1,2]{0,0,3,4} f64[1,2,2]{3,4,3,0} ";
  const std::string out = " none !f64[2,1,2]";
  check_kernel("aten::_cdist_forward.out", {{inputs + "0.0" + out, "2,1,0,1"},
                                            {inputs + "1.0" + out, "7,3,0,4"},
                                            {inputs + "2.0" + out, "5,3,0,4"},
                                            {inputs + "inf" + out, "4,3,0,4"},
                                            {inputs + "-1.0" + out, "error: "},
                                            {inputs + "nan" + out, "error: "},
                                            {"f64[2,1,2] f64[1,1,3] 2.0" + out, "error: "}});
  // The first result is the cube root of 27 + 64.
  check_kernel("aten::_cdist_forward.out", {{inputs + "3.0" + out, "4.497941445275415,?,?,?"}},
               1e-12);
}

TEST(Pdist, ReturnsPairsInOrder) {
  check_kernel("aten::_pdist_forward.out",
               {{"f32[3,1]{0,1,5} 2.0 !f32[3]", "1,5,4"}, {"f32[1,1] 2.0 !f32[0]", "empty"}});
}

}  // namespace
}  // namespace vitrine::test

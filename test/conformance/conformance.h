// One node at a time, on XNNPACK and on the portable kernels: both must say the same.
//
// Every case is computed in f32 by portable kernels from the operands as XNNPACK sees them (rounded
// to the case's datatype), and compared in the case's datatype: within a few roundings of f32 or
// f16, or one step of a quantised output.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "test/backends/xnnpack/blob_builder.h"
#include "test/kernels/kernel_call.h"

namespace vitrine::test {

inline constexpr Type kFloat32 = Type::xnn_datatype_fp32;
inline constexpr Type kFloat16 = Type::xnn_datatype_fp16;
inline constexpr Type kBrain16 = Type::xnn_datatype_bf16;
inline constexpr Type kInt8 = Type::xnn_datatype_qint8;
inline constexpr Type kUint8 = Type::xnn_datatype_quint8;
// That most nodes take.
inline constexpr Type kTypes[] = {kFloat32, kFloat16, kInt8, kUint8};
const char* type_name(Type type);
bool is_quantised(Type type);

using Dims = std::vector<uint32_t>;
inline std::vector<int32_t> as_sizes(const Dims& dims) { return {dims.begin(), dims.end()}; }

// Random numbers in [low, high].
struct Operand {
  Dims dims;
  float low = -1;
  float high = 1;
  bool constant = false;
  std::optional<Type> type = {};            // else the case's
  std::optional<int32_t> channel_dim = {};  // quantised by channel
  bool blocks = false;                      // quantised by blocks of 32, with bfloat16 scales
  bool bias = false;                        // of the first two operands: int32 where they are int8
};

struct NodeCase {
  std::string name;
  Tag tag;
  Type type = kFloat32;
  std::vector<Operand> operands;
  Dims out_dims;
  std::function<void(BlobBuilder&, const std::vector<uint32_t>& operands, uint32_t out)> build;
  // In f32, of the delegate's layout.
  std::function<Tensor&(KernelCall&, const std::vector<Tensor*>& operands)> reference;
  // Moves numbers without changing them.
  bool moves_only = false;
  // A quantised output has the first operand's scale and zero point, as moved numbers always have.
  bool keeps_scale = false;
  // Beside rounding of the output: f32 results may differ by this part of max(1, |expected|).
  float tolerance = 1e-5f;
  // The operands' first dimension at run time, if other than declared.
  std::optional<uint32_t> batch = {};
  // What is refused, and with what words.
  std::string refusal = {};
};
std::ostream& operator<<(std::ostream& out, const NodeCase& test);

void expect_conformance(const NodeCase& test);

// A portable kernel whose result has the sizes `out`. The arguments lack `out`.
template <class... Args>
Tensor& compute(KernelCall& call, const char* op, std::vector<int32_t> out, Args&&... args) {
  Tensor& result = call.make(ScalarType::kFloat, std::move(out));
  EXPECT_TRUE(succeeds(call.run(op, std::forward<Args>(args)..., result))) << op;
  return result;
}
// From NHWC to NCHW and back.
Tensor& to_nchw(KernelCall& call, Tensor& tensor);
Tensor& to_nhwc(KernelCall& call, Tensor& tensor);
std::vector<int32_t> sizes_of(const Tensor& tensor);

// A name for gtest of a case's name.
std::string test_name(const testing::TestParamInfo<NodeCase>& test);

}  // namespace vitrine::test

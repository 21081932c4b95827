// Compares XNNPACK nodes, one at a time, with the portable kernels.
//
// XNNPACK and the portable kernels receive the same operands, rounded to the datatypes of the
// payload. The portable kernels compute in f32. The results are compared in the case's datatype.
// They may differ by a few roundings of a float type, or by one step of a quantized output.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "test/backends/xnnpack/payload_builder.h"
#include "test/kernels/kernel_call.h"

namespace vitrine::test {

inline constexpr Type kFloat32 = Type::xnn_datatype_fp32;
inline constexpr Type kFloat16 = Type::xnn_datatype_fp16;
inline constexpr Type kBrain16 = Type::xnn_datatype_bf16;
inline constexpr Type kInt8 = Type::xnn_datatype_qint8;
inline constexpr Type kUint8 = Type::xnn_datatype_quint8;
// The types that most nodes support.
inline constexpr Type kTypes[] = {kFloat32, kFloat16, kInt8, kUint8};
const char* type_name(Type type);
bool is_quantized(Type type);

using Dims = std::vector<uint32_t>;
inline std::vector<int32_t> as_sizes(const Dims& dims) { return {dims.begin(), dims.end()}; }

// An operand with random elements in [low, high].
struct Operand {
  Dims dims;
  float low = -1;
  float high = 1;
  bool constant = false;
  std::optional<Type> type = {};            // unset: the type of the case
  std::optional<int32_t> channel_dim = {};  // set: quantized per channel along this dimension
  bool blocks = false;                      // quantized in blocks of 32, with bfloat16 scales
  bool bias = false;  // a bias of the first two operands: int32 if they are quantized
  std::optional<PerTensor> quant = {};  // unset: the parameters cover [low, high]
  bool scales_in_constant = false;      // the scales per channel are a constant of the payload
};

// The relation between the dimensions of a caller's tensor and those in the payload.
enum class Arguments { kSameDims, kChannelsLast, kRankZero };

using Ids = const std::vector<uint32_t>&;
using Operands = const std::vector<Tensor*>&;
using BuildNode = std::function<void(PayloadBuilder&, Ids operands, uint32_t out)>;
// Computes the expected f32 output in the layout of the delegate.
using Reference = std::function<Tensor&(KernelCall&, Operands operands)>;

// Nodes with one or two inputs and without parameters.
inline BuildNode unary_node(Tag tag, uint32_t flags = 0) {
  return [=](PayloadBuilder& b, Ids in, uint32_t out) { b.unary(tag, in[0], out, flags); };
}
inline BuildNode binary_node(Tag tag, std::optional<Bounds> bounds = {}) {
  return [=](PayloadBuilder& b, Ids in, uint32_t out) { b.binary(tag, in[0], in[1], out, bounds); };
}

struct NodeCase {
  std::string name;
  Type type = kFloat32;
  std::vector<Operand> operands;
  Dims out_dims;
  BuildNode build;
  Reference reference;
  // The node only moves elements, so the result must be exact.
  bool moves_only = false;
  // A quantized output has the scale and zero point of the first operand. `moves_only` implies
  // this.
  bool keeps_scale = false;
  // An f32 result may differ by this fraction of max(1, |expected|), in addition to rounding to the
  // case's type.
  float tolerance = 1e-5f;
  // The sizes of the operands' first dimension, one for each call. If empty, there is one call with
  // the declared size.
  std::vector<uint32_t> batches = {};
  // True if the backend, when built without XNNPACK's private headers, must refuse a call with a
  // changed batch size.
  bool refuses_other_batch = false;
  std::optional<PerTensor> out_quant = {};  // unset: the parameters cover the first call's results
  PayloadBuilder::Constants constants = PayloadBuilder::Constants::kInRegion;
  Arguments arguments = Arguments::kSameDims;
  // Text in the error of a case that the backend must reject. If empty, the case must run.
  std::string expected_error = {};
};
std::ostream& operator<<(std::ostream& out, const NodeCase& test);

void expect_conformance(const NodeCase& test);

// Runs a portable kernel and returns its result, which has the sizes `out`. `args` are all
// arguments except the output.
template <class... Args>
Tensor& compute(KernelCall& call, const char* op, std::vector<int32_t> out, Args&&... args) {
  Tensor& result = call.make(ScalarType::kFloat, std::move(out));
  EXPECT_TRUE(succeeds(call.run(op, std::forward<Args>(args)..., result))) << op;
  return result;
}
Tensor& viewed(KernelCall& call, Tensor& x, const std::vector<int32_t>& sizes);
Tensor& permuted(KernelCall& call, Tensor& x, const std::vector<int64_t>& order);
// Returns `x` itself without bounds.
Tensor& bounded(KernelCall& call, Tensor& x, const std::optional<Bounds>& bounds);
// These functions convert between NHWC and NCHW.
inline Tensor& to_nchw(KernelCall& call, Tensor& x) { return permuted(call, x, {0, 3, 1, 2}); }
inline Tensor& to_nhwc(KernelCall& call, Tensor& x) { return permuted(call, x, {0, 2, 3, 1}); }
std::vector<int32_t> sizes_of(const Tensor& tensor);

// Returns the case's name and index. `_` replaces the characters that gtest does not allow.
std::string test_name(const testing::TestParamInfo<NodeCase>& test);

}  // namespace vitrine::test

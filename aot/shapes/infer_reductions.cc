// Results of reductions, and of what runs along dims.
#include <algorithm>
#include <set>

#include "aot/shapes/infer.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {
namespace {

// Without the dims that `dims` tells, or with them as 1. No dims: all of them.
std::vector<SymInt> reduced(const Call& call, const TensorSpec& self,
                            const std::vector<int64_t>& dims, bool keepdim) {
  std::set<size_t> gone;
  for (const int64_t dim : dims) {
    if (!gone.insert(wrapped(dim, self.rank())).second) call.refuse("it names a dim twice");
  }
  std::vector<SymInt> sizes;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (!dims.empty() && !gone.contains(i)) {
      sizes.push_back(self.sizes[i]);
    } else if (keepdim) {
      sizes.emplace_back(1);
    }
  }
  return sizes;
}

ScalarType summed(ScalarType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? dtype : ScalarType::kLong;
}

enum class Dtype : uint8_t { kSame, kSum, kBool, kLong };

ScalarType dtype_of(ScalarType self, Dtype dtype) {
  switch (dtype) {
    case Dtype::kSame:
      return self;
    case Dtype::kSum:
      return summed(self);
    case Dtype::kBool:
      return ScalarType::kBool;
    case Dtype::kLong:
      break;
  }
  return ScalarType::kLong;
}

// (self, dims, keepdim, *, dtype)
template <Dtype dtype, size_t dims_at = 1, size_t keepdim_at = 2>
Value along_dims(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  const std::vector<SymInt> sizes = reduced(call, self, call.integers(dims_at, "dim", 0, 0),
                                            call.boolean(keepdim_at, "keepdim", false));
  const ScalarType result = call.dtype(99, "dtype", dtype_of(self.dtype, dtype));
  return contiguous_spec(result, sizes);
}

template <Dtype dtype>
Value of_all(const Call& call) {
  return contiguous_spec(call.dtype(99, "dtype", dtype_of(call.tensor(0, "self").dtype, dtype)),
                         {});
}

// (self, dim, keepdim) -> (values, indices)
Value with_indices(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  const std::vector<SymInt> sizes =
      reduced(call, self, {call.integer(1, "dim", -1)}, call.boolean(2, "keepdim", false));
  return Value::Items{contiguous_spec(self.dtype, sizes),
                      contiguous_spec(ScalarType::kLong, sizes)};
}

// (self, dim, *, correction, keepdim)
Value variance(const Call& call) {
  const TensorSpec& self = call.tensor(0, "self");
  return contiguous_spec(self.dtype, reduced(call, self, call.integers(1, "dim", 0, 0),
                                             call.boolean(99, "keepdim", false)));
}
// (self, dim, unbiased, keepdim)
Value variance_unbiased(const Call& call) { return along_dims<Dtype::kSame, 1, 3>(call); }
Value variance_of_all(const Call& call) { return of_all<Dtype::kSame>(call); }

Value variance_and_mean(const Call& call) {
  const Value one = variance(call);
  return Value::Items{one, one};
}

// (self, ord, dim, keepdim, *, dtype)
Value norm(const Call& call) { return along_dims<Dtype::kSame, 2, 3>(call); }

// (x1, x2, dim, eps)
Value similarity(const Call& call) {
  const TensorSpec* const inputs[] = {&call.tensor(0, "x1"), &call.tensor(1, "x2")};
  TensorSpec spec = contiguous_spec(inputs[0]->dtype, broadcast_sizes(call, inputs));
  return contiguous_spec(spec.dtype, reduced(call, spec, {call.integer(2, "dim", 1)}, false));
}

Value running(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  wrapped(call.integer(1, "dim"), spec.rank());
  const TensorSpec* const inputs[] = {&spec};
  std::vector<SymInt> strides = elementwise_strides(inputs, spec.sizes);
  spec.strides = std::move(strides);
  spec.storage_offset = 0;
  return spec;
}

Value softmax(const Call& call) {
  TensorSpec spec = contiguous_spec(call.tensor(0, "self").dtype, call.tensor(0, "self").sizes);
  wrapped(call.integer(1, "dim"), spec.rank());
  spec.dtype = call.dtype(2, "dtype", spec.dtype);
  return spec;
}
// (self, dim, half_to_float)
Value raw_softmax(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  wrapped(call.integer(1, "dim"), spec.rank());
  return contiguous_spec(spec.dtype, spec.sizes);
}

Value cumulative(const Call& call) {
  TensorSpec spec = *running(call).tensor();
  spec.dtype = call.dtype(99, "dtype", summed(spec.dtype));
  return spec;
}

constexpr InferRow kReductionResults[] = {
    {"aten._log_softmax.default", raw_softmax},
    {"aten._softmax.default", raw_softmax},
    {"aten.all.default", of_all<Dtype::kBool>},
    {"aten.all.dim", along_dims<Dtype::kBool>},
    {"aten.all.dims", along_dims<Dtype::kBool>},
    {"aten.amax.default", along_dims<Dtype::kSame>},
    {"aten.amin.default", along_dims<Dtype::kSame>},
    {"aten.any.default", of_all<Dtype::kBool>},
    {"aten.any.dim", along_dims<Dtype::kBool>},
    {"aten.any.dims", along_dims<Dtype::kBool>},
    {"aten.argmax.default", along_dims<Dtype::kLong>},
    {"aten.argmin.default", along_dims<Dtype::kLong>},
    {"aten.cosine_similarity.default", similarity},
    {"aten.cumprod.default", cumulative},
    {"aten.cumsum.default", cumulative},
    {"aten.linalg_vector_norm.default", norm},
    {"aten.log_softmax.int", softmax},
    {"aten.logcumsumexp.default", running},
    {"aten.logsumexp.default", along_dims<Dtype::kSame>},
    {"aten.max.default", of_all<Dtype::kSame>},
    {"aten.max.dim", with_indices},
    {"aten.mean.default", of_all<Dtype::kSame>},
    {"aten.mean.dim", along_dims<Dtype::kSame>},
    {"aten.min.default", of_all<Dtype::kSame>},
    {"aten.min.dim", with_indices},
    {"aten.norm.Scalar", of_all<Dtype::kSame>},
    {"aten.norm.ScalarOpt_dim", norm},
    {"aten.prod.default", of_all<Dtype::kSum>},
    {"aten.prod.dim_int", along_dims<Dtype::kSum>},
    {"aten.softmax.int", softmax},
    {"aten.std.correction", variance},
    {"aten.std.default", variance_of_all},
    {"aten.std.dim", variance_unbiased},
    {"aten.sum.default", of_all<Dtype::kSum>},
    {"aten.sum.dim_IntList", along_dims<Dtype::kSum>},
    {"aten.var.correction", variance},
    {"aten.var.default", variance_of_all},
    {"aten.var.dim", variance_unbiased},
    {"aten.var_mean.correction", variance_and_mean},
};

}  // namespace

std::span<const InferRow> reduction_results() { return kReductionResults; }

}  // namespace vitrine::aot

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

// Removes the reduced dims, or sets their sizes to 1 for `keepdim`. Empty `dims` reduce all dims.
std::vector<SymInt> reduced(const Call& call, const TensorSpec& self,
                            const std::vector<int64_t>& dims, bool keepdim) {
  std::set<size_t> removed;
  for (const int64_t dim : dims) {
    if (!removed.insert(wrapped(dim, self.rank())).second) {
      call.refuse(fmt::format("dim {} is repeated", dim));
    }
  }
  std::vector<SymInt> sizes;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (!dims.empty() && !removed.contains(i)) {
      sizes.push_back(self.sizes[i]);
    } else if (keepdim) {
      sizes.emplace_back(1);
    }
  }
  return sizes;
}

ScalarType sum_dtype(ScalarType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? dtype : ScalarType::kLong;
}

// Reduces all dims if the operator has no argument "dim" or the call omits it.
TensorSpec along_dims(const Call& call, ScalarType dtype) {
  return contiguous_spec(
      call.dtype("dtype", dtype),
      reduced(call, call.self(), call.integers("dim"), call.boolean("keepdim", false)));
}

}  // namespace

Value reduction(const Call& call) { return along_dims(call, call.self().dtype); }
Value sum(const Call& call) { return along_dims(call, sum_dtype(call.self().dtype)); }
Value bool_reduction(const Call& call) { return along_dims(call, ScalarType::kBool); }
Value index_reduction(const Call& call) { return along_dims(call, ScalarType::kLong); }
Value extreme_with_index(const Call& call) {
  return Value::Items{reduction(call), index_reduction(call)};
}
Value two_reductions(const Call& call) { return Value::Items{reduction(call), reduction(call)}; }

Value cosine_similarity(const Call& call) {
  const TensorSpec* const inputs[] = {&call.tensor("x1"), &call.tensor("x2")};
  TensorSpec spec = contiguous_spec(inputs[0]->dtype, broadcast_sizes(call, inputs));
  return contiguous_spec(spec.dtype, reduced(call, spec, {call.integer("dim")}, false));
}

Value running(const Call& call) {
  TensorSpec spec = call.self();
  wrapped(call.integer("dim"), spec.rank());
  const TensorSpec* const inputs[] = {&spec};
  std::vector<SymInt> strides = elementwise_strides(inputs, spec.sizes);
  spec.strides = std::move(strides);
  spec.storage_offset = 0;
  return spec;
}

Value softmax(const Call& call) {
  TensorSpec spec = contiguous_spec(call.self().dtype, call.self().sizes);
  wrapped(call.integer("dim"), spec.rank());
  spec.dtype = call.dtype("dtype", spec.dtype);
  return spec;
}

Value cumulative(const Call& call) {
  TensorSpec spec = *running(call).tensor();
  spec.dtype = call.dtype("dtype", sum_dtype(spec.dtype));
  return spec;
}

}  // namespace vitrine::aot::results

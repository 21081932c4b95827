#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/sizes.h"

namespace vitrine::aot::results {
namespace {

Value product(const Call& call, const TensorSpec& a, const TensorSpec& b, size_t rank) {
  need_rank(call, a, rank, rank, "left matrix");
  need_rank(call, b, rank, rank, "right matrix");
  need_same(call, a.sizes[rank - 1], b.sizes[rank - 2], "inner sizes");
  Sizes sizes = a.sizes;
  sizes.back() = b.sizes.back();
  return contiguous_like(a, std::move(sizes));
}

}  // namespace

Value mm(const Call& call) { return product(call, call.self(), call.tensor("mat2"), 2); }
Value bmm(const Call& call) { return product(call, call.self(), call.tensor("mat2"), 3); }
Value addmm(const Call& call) { return product(call, call.tensor("mat1"), call.tensor("mat2"), 2); }
Value baddbmm(const Call& call) {
  return product(call, call.tensor("batch1"), call.tensor("batch2"), 3);
}

Value mv(const Call& call) {
  const TensorSpec& a = call.self();
  need_rank(call, a, 2, 2, "matrix");
  return contiguous_like(a, {a.sizes[0]});
}
Value dot(const Call& call) { return contiguous_like(call.self(), {}); }

Value matmul(const Call& call) {
  TensorSpec a = call.self();
  TensorSpec b = call.tensor("other");
  if (a.rank() == 0 || b.rank() == 0) call.refuse("both operands must have at least one dim");
  const bool is_row = a.rank() == 1;
  const bool is_column = b.rank() == 1;
  if (is_row) a.sizes.insert(a.sizes.begin(), SymInt(1));
  if (is_column) b.sizes.emplace_back(1);
  need_same(call, a.sizes.back(), b.sizes[b.rank() - 2], "inner sizes");
  TensorSpec batch_a = a;
  TensorSpec batch_b = b;
  batch_a.sizes.resize(a.sizes.size() - 2);
  batch_b.sizes.resize(b.sizes.size() - 2);
  const TensorSpec* const batches[] = {&batch_a, &batch_b};
  Sizes sizes = broadcast_sizes(call, batches);
  if (!is_row) sizes.push_back(a.sizes[a.sizes.size() - 2]);
  if (!is_column) sizes.push_back(b.sizes.back());
  return contiguous_like(a, std::move(sizes));
}

Value linear(const Call& call) {
  const TensorSpec& input = call.self();
  const TensorSpec& weight = call.tensor("weight");
  if (input.rank() == 0) call.refuse("the input must have at least one dim");
  need_rank(call, weight, 1, 2, "weight");
  need_same(call, input.sizes.back(), weight.sizes.back(), "features");
  Sizes sizes = input.sizes;
  if (weight.rank() == 2) {
    sizes.back() = weight.sizes[0];
  } else {
    sizes.pop_back();
  }
  return contiguous_like(input, std::move(sizes));
}

Value attention(const Call& call) {
  const TensorSpec& query = call.tensor("query");
  const TensorSpec& value = call.tensor("value");
  need_rank(call, query, 2, 64, "query");
  need_rank(call, value, 2, 64, "value");
  Sizes sizes = query.sizes;
  sizes.back() = value.sizes.back();
  TensorSpec spec = contiguous_like(query, sizes);
  spec.strides = dense_strides(sizes, dim_order_of(query));  // the query's dim order
  return spec;
}

Value distances(const Call& call) {
  const TensorSpec& a = call.tensor("x1");
  const TensorSpec& b = call.tensor("x2");
  need_rank(call, a, 2, 64, "x1");
  need_rank(call, b, 2, 64, "x2");
  TensorSpec outer_a = a;
  TensorSpec outer_b = b;
  outer_a.sizes.resize(a.rank() - 2);
  outer_b.sizes.resize(b.rank() - 2);
  const TensorSpec* const outer[] = {&outer_a, &outer_b};
  Sizes sizes = broadcast_sizes(call, outer);
  sizes.push_back(a.sizes[a.rank() - 2]);
  sizes.push_back(b.sizes[b.rank() - 2]);
  return contiguous_like(a, std::move(sizes));
}
Value pairwise_distances(const Call& call) {
  const TensorSpec& self = call.self();
  need_rank(call, self, 2, 2, "input");
  const SymInt& rows = self.sizes[0];
  return contiguous_like(self, {rows * (rows - SymInt(1)) / SymInt(2)});
}

}  // namespace vitrine::aot::results

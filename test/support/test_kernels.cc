#include "test/support/test_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace vitrine::test {
namespace {

bool prepare(KernelContext& context, const Tensor& self, Tensor& out) {
  if (self.dtype() == ScalarType::kFloat && out.dtype() == ScalarType::kFloat) {
    return context.resize(out, self.sizes());
  }
  context.fail(ErrorCode::kInvalidArgument, "self and out must be f32");
  return false;
}

void add(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  if (!prepare(context, a, out) || b.dtype() != a.dtype() || b.numel() != a.numel()) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "a and b must have equal dtypes and numbers of elements");
  }
  for (int64_t i = 0; i < a.numel(); ++i) {
    out.mutable_data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
  }
}

void add_derived(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  const auto kept = context.derive(b, 1, b.nbytes());
  if (kept.data == nullptr) return add(context, a, b, out);
  if (kept.is_new) std::memcpy(kept.data, b.raw_data(), b.nbytes());
  Tensor copy = b;
  copy.set_data(kept.data);
  add(context, a, copy, out);
}

void scale(KernelContext& context, const Tensor& self, const Scalar& factor, Tensor& out) {
  if (!prepare(context, self, out)) return;
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data<float>()[i] = self.data<float>()[i] * factor.to<float>();
  }
}

void scale_scratch(KernelContext& context, const Tensor& self, const Scalar& factor, Tensor& out) {
  if (!prepare(context, self, out)) return;
  const auto count = static_cast<size_t>(self.numel());
  const std::span<float> copy = context.allocate_temp_array<float>(count);
  const std::span<float> scaled = context.allocate_temp_array<float>(count);
  if (context.failed()) return;
  std::copy_n(self.data<float>(), count, copy.begin());
  for (size_t i = 0; i < count; ++i) scaled[i] = copy[i] * factor.to<float>();
  std::copy(scaled.begin(), scaled.end(), out.mutable_data<float>());
}

void fail(KernelContext& context, const Tensor&, Tensor&) {
  context.fail(ErrorCode::kInvalidArgument, "this kernel %s fails", "always");
}

// Subtracts modulo 2^64, because numbers from a damaged program can overflow.
void sub_scalar(KernelContext&, int64_t a, int64_t b, EValue& result) {
  result = EValue(static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)));
}

void less_scalar(KernelContext&, int64_t a, int64_t b, EValue& result) { result = EValue(a < b); }

void size_int(KernelContext& context, const Tensor& self, int64_t dim, EValue& result) {
  if (dim < 0 || static_cast<uint64_t>(dim) >= self.rank()) {
    return context.fail(ErrorCode::kInvalidArgument, "dim is out of range");
  }
  result = EValue(int64_t{self.size(static_cast<size_t>(dim))});
}

VITRINE_KERNEL(add, "test::add.out", add);
VITRINE_KERNEL(add_derived, "test::add_derived.out", add_derived);
VITRINE_KERNEL(scale, "test::scale.out", scale);
VITRINE_KERNEL(scale_scratch, "test::scale_scratch.out", scale_scratch);
VITRINE_KERNEL(fail, "test::fail.out", fail);
VITRINE_KERNEL(sub_scalar, "test::sub.Scalar", sub_scalar);
VITRINE_KERNEL(less_scalar, "test::less.Scalar", less_scalar);
VITRINE_KERNEL(size_int, "test::size.int", size_int);

constexpr const Kernel* kTable[] = {&kernel_add,           &kernel_add_derived, &kernel_scale,
                                    &kernel_scale_scratch, &kernel_fail,        &kernel_sub_scalar,
                                    &kernel_less_scalar,   &kernel_size_int};

}  // namespace

const KernelRegistry& test_kernels() {
  static const KernelRegistry registry = [] {
    KernelRegistry tables;
    if (!tables.add("test", kTable).ok()) std::abort();
    return tables;
  }();
  return registry;
}

}  // namespace vitrine::test

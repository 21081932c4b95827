// In memory, a complex number is a real part followed by an imaginary part.
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// T is the type of the real and imaginary parts.
template <class T>
void conjugate(const Tensor& self, Tensor& out) {
  const T* in = self.unchecked_data<T>();
  T* result = out.unchecked_mutable_data<T>();
  for (int64_t i = 0; i < 2 * out.numel(); i += 2) {
    result[i] = in[i];
    result[i + 1] = static_cast<T>(-static_cast<Compute<T>>(in[i + 1]));
  }
}

void conj_physical_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes()) ||
      !check_same_dim_order(context, self, out)) {
    return;
  }
  if (self.dtype() == ScalarType::kComplexHalf) return conjugate<Half>(self, out);
  if (self.dtype() == ScalarType::kComplexFloat) return conjugate<float>(self, out);
  if (self.dtype() == ScalarType::kComplexDouble) return conjugate<double>(self, out);
  fail_unsupported_dtype(context, self.dtype());
}

// The layout of a complex tensor [...] viewed as a real tensor [..., 2] of real and imaginary
// parts.
Layout parts_of(const Tensor& complex) {
  Layout parts(complex);
  for (size_t i = 0; i < parts.rank; ++i) parts.strides[i] *= 2;
  parts.insert(parts.rank, 2, 1);
  return parts;
}

void copy_parts(KernelContext& context, ScalarType part, const Tensor& self, const Layout& from,
                Tensor& out, const Layout& to) {
  if (!check_data(context, {&self, &out})) return;
  const auto mover = ElementMover::make(context, part, part);
  if (!mover) return;
  const BoxLoop<2> loop(from.size_span(), {to.strides.data(), from.strides.data()});
  loop.run({0, 0}, [&](const auto& offsets, int64_t count) {
    mover->move(self.raw_data(), offsets[1], loop.row_stride(1), out.mutable_raw_data(), offsets[0],
                loop.row_stride(0), count);
  });
}

// Converts complex [...] to real [..., 2]: real and imaginary parts.
void view_as_real_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!is_complex(self.dtype())) return fail_unsupported_dtype(context, self.dtype());
  const ScalarType part = real_type(self.dtype());
  const Layout parts = parts_of(self);
  if (!check_dtype(context, out, part, "out") || !resize_to(context, out, parts.size_span())) {
    return;
  }
  copy_parts(context, part, self, parts, out, Layout(out));
}

// Converts real [..., 2] (real and imaginary parts) to complex [...].
void view_as_complex_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!is_complex(out.dtype()) || self.dtype() != real_type(out.dtype())) {
    return fail_unsupported_dtype(context, self.dtype());
  }
  if (self.rank() == 0 || self.sizes().back() != 2) {
    return context.fail(ErrorCode::kInvalidArgument, "the last dimension of self must have size 2");
  }
  if (!context.resize(out, self.sizes().first(self.rank() - 1))) return;
  copy_parts(context, self.dtype(), self, Layout(self), out, parts_of(out));
}

}  // namespace

VITRINE_KERNEL(conj_physical_out, "aten::_conj_physical.out", conj_physical_out);
VITRINE_KERNEL(view_as_real_copy_out, "aten::view_as_real_copy.out", view_as_real_copy_out);
VITRINE_KERNEL(view_as_complex_copy_out, "aten::view_as_complex_copy.out",
               view_as_complex_copy_out);

}  // namespace vitrine::portable

// Random numbers for operators that no program may expect to repeat.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/layout.h"

namespace vitrine {

// xoshiro256** (Blackman and Vigna, 2018), seeded at each construction from the clock and a
// process-wide count. Not for cryptography.
class Random {
 public:
  Random();

  uint64_t next();
  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Mean 0, variance 1 (Box and Muller, 1958).
  double normal();

 private:
  uint64_t state_[4];
};

// Resizes `out`, of a floating dtype, and draws its elements.
template <class Draw>
void fill_random(KernelContext& context, std::span<const int64_t> size, Tensor& out,
                 const Draw& draw) {
  if (!resize_to(context, out, size)) return;
  Random random;
  dispatch<FloatHBF16Types>(context, out.dtype(), [&]<class T>() {
    T* elements = out.unchecked_mutable_data<T>();
    for (int64_t i = 0; i < out.numel(); ++i) {
      elements[i] = static_cast<T>(static_cast<Compute<T>>(draw(random)));
    }
  });
}

}  // namespace vitrine

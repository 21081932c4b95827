#include "kernels/util/reduction.h"

#include <algorithm>
#include <cstring>

#include "kernels/util/box_loop.h"
#include "kernels/util/convert.h"

namespace vitrine {

namespace {

// Sizes and strides for a loop over self and the outputs. Operand 0 is self.
struct Nest {
  static constexpr size_t kOperands = Reduction::kMaxOutputs + 1;

  size_t rank = 0;
  int64_t sizes[kMaxRank];  // only the first `rank` elements are set
  int64_t strides[kOperands][kMaxRank];
};

bool resize_output(KernelContext& context, const Tensor& self, uint32_t mask, bool keepdim,
                   Tensor& out) {
  int32_t sizes[kMaxRank];
  size_t rank = 0;
  for (size_t dim = 0; dim < self.rank(); ++dim) {
    const bool reduced = ((mask >> dim) & 1u) != 0;
    if (!reduced) {
      sizes[rank++] = self.size(dim);
    } else if (keepdim) {
      sizes[rank++] = 1;
    }
  }
  return context.resize(out, {sizes, rank});
}

Nest kept_nest(const Tensor& self, uint32_t mask, bool keepdim, std::span<Tensor* const> outs) {
  Nest nest;
  size_t out_dim = 0;
  for (size_t dim = 0; dim < self.rank(); ++dim) {
    if (((mask >> dim) & 1u) != 0) {
      if (keepdim) ++out_dim;
      continue;
    }
    nest.sizes[nest.rank] = self.size(dim);
    // A tensor without elements may have no memory. Zero strides keep every offset at zero.
    nest.strides[0][nest.rank] = self.numel() == 0 ? 0 : self.strides()[dim];
    for (size_t k = 0; k < Reduction::kMaxOutputs; ++k) {
      const bool exists = k < outs.size() && outs[k] != nullptr;
      nest.strides[k + 1][nest.rank] = exists ? outs[k]->strides()[out_dim] : 0;
    }
    ++nest.rank;
    ++out_dim;
  }
  return nest;
}

Nest reduced_nest(const Tensor& self, uint32_t mask) {
  Nest nest;
  for (size_t dim = 0; dim < self.rank(); ++dim) {
    if (((mask >> dim) & 1u) == 0) continue;
    nest.sizes[nest.rank] = self.size(dim);
    nest.strides[0][nest.rank++] = self.strides()[dim];
  }
  return nest;
}

}  // namespace

void run_reduction(KernelContext& context, const Reduction& reduction, const Tensor& self,
                   uint32_t mask, bool keepdim, std::span<Tensor* const> outs) {
  Conversion input;
  if (!input.set(self.dtype(), reduction.rules.common, reduction.in)) {
    return fail_unsupported_dtype(context, self.dtype());
  }
  Conversion outputs[Reduction::kMaxOutputs];
  for (size_t k = 0; k < outs.size(); ++k) {
    if (outs[k] == nullptr) continue;
    const ScalarType type = outs[k]->dtype();
    if (!outputs[k].set(reduction.results[k], type, type)) {
      return fail_unsupported_dtype(context, type);
    }
    if (!resize_output(context, self, mask, keepdim, *outs[k])) return;
  }

  const size_t element_size = self.element_size();
  Chunk chunk;
  alignas(64) std::byte state[Reduction::kMaxState];
  const auto begin = [&] { std::memcpy(state, reduction.initial, reduction.state_size); };
  const auto add = [&](int64_t first, int64_t stride, int64_t length) {
    const std::byte* const values =
        self.unchecked_data<std::byte>() + static_cast<size_t>(first) * element_size;
    if (input.identity() && stride == 1) return reduction.add(state, values, length);
    for (int64_t done = 0; done < length; done += kChunkLength) {
      const int64_t part = std::min(kChunkLength, length - done);
      input.run(values + static_cast<size_t>(done * stride) * element_size, stride, &chunk, 1,
                part);
      reduction.add(state, &chunk, part);
    }
  };
  const auto write = [&](const std::array<int64_t, Reduction::kMaxOutputs>& offsets) {
    uint64_t results[Reduction::kMaxOutputs];
    void* result_pointers[Reduction::kMaxOutputs] = {&results[0], &results[1]};
    reduction.result(state, result_pointers);
    for (size_t k = 0; k < outs.size(); ++k) {
      if (outs[k] == nullptr) continue;
      std::byte* to = outs[k]->unchecked_mutable_data<std::byte>() +
                      static_cast<size_t>(offsets[k]) * outs[k]->element_size();
      outputs[k].run(result_pointers[k], 0, to, 1, 1);  // faster for one element than stride 1
    }
  };

  const uint32_t all = (1u << self.rank()) - 1;
  if ((mask & all) == all && self.is_contiguous() && self.numel() != 0) {
    begin();
    add(0, 1, self.numel());
    return write({});
  }
  const Nest kept = kept_nest(self, mask, keepdim, outs);
  const Nest reduced = reduced_nest(self, mask);
  using OuterLoop = BoxLoop<Nest::kOperands>;
  const OuterLoop outer({kept.sizes, kept.rank},
                        {kept.strides[0], kept.strides[1], kept.strides[2]});
  const BoxLoop<1> inner({reduced.sizes, reduced.rank}, {reduced.strides[0]},
                         reduction.rules.logical_order ? LoopOrder::kRowMajor : LoopOrder::kFree);
  const bool is_empty = std::any_of(reduced.sizes, reduced.sizes + reduced.rank,
                                    [](int64_t size) { return size == 0; });

  outer.run({}, [&](const OuterLoop::Offsets& first, int64_t count) {
    if (context.failed()) return;
    if (is_empty && reduction.rules.needs_elements) {
      return context.fail(ErrorCode::kInvalidArgument,
                          "a reduced dimension has size 0, but this reduction needs elements");
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto at = [&](size_t k) { return first[k] + i * outer.row_stride(k); };
      begin();
      inner.run({at(0)}, [&](const BoxLoop<1>::Offsets& row, int64_t length) {
        add(row[0], inner.row_stride(0), length);
      });
      write({at(1), at(2)});
    }
  });
}

}  // namespace vitrine

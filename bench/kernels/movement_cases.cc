// Benchmarks of data movement, pooling and quantisation.
#include "bench/kernels/kernel_cases.h"

namespace vitrine::bench {
namespace {

void add_copies() {
  add("aten::permute_copy.out", "4096x4096 transposed", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({4096, 4096})), s.call.ints({1, 0}),
                          EValue(&s.call.floats({4096, 4096}))});
    s.bytes = 8.0 * 4096 * 4096;
  });
  add("dim_order_ops::_clone_dim_order.out", "NCHW to NHWC", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({1, 96, 112, 112})), EValue(false),
                          s.call.ints({0, 2, 3, 1}),
                          EValue(&s.call.floats({1, 96, 112, 112}, {0, 2, 3, 1}))});
    s.bytes = 8.0 * 96 * 112 * 112;
  });
  add("aten::cat.out", "2 of 8M", [](Setup& s) {
    s.call.set_arguments(
        {s.call.tensors({&s.call.floats({4096, 2048}), &s.call.floats({4096, 2048})}),
         EValue(int64_t{1}), EValue(&s.call.floats({4096, 4096}))});
    s.bytes = 8.0 * 4096 * 4096;
  });
  add("aten::slice_copy.Tensor_out", "half of 16M", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({4096, 4096})), EValue(int64_t{1}),
                          EValue(int64_t{1024}), EValue(int64_t{3072}), EValue(int64_t{1}),
                          EValue(&s.call.floats({4096, 2048}))});
    s.bytes = 8.0 * 4096 * 2048;
  });
}

void add_selections() {
  add("aten::embedding.out", "16k of 768", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({30000, 768})),
                          EValue(&s.call.filled(ScalarType::kLong, {16384}, 30000)),
                          EValue(int64_t{-1}), EValue(false), EValue(false),
                          EValue(&s.call.floats({16384, 768}))});
    s.bytes = 8.0 * 16384 * 768;
  });
  add("aten::index.Tensor_out", "16k rows of 768", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({30000, 768})),
                          s.call.tensors({&s.call.filled(ScalarType::kLong, {16384}, 30000)}, true),
                          EValue(&s.call.floats({16384, 768}))});
    s.bytes = 8.0 * 16384 * 768;
  });
  add("aten::gather.out", "1M", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({1024, 1024})), EValue(int64_t{1}),
                          EValue(&s.call.filled(ScalarType::kLong, {1024, 1024}, 1024)),
                          EValue(false), EValue(&s.call.floats({1024, 1024}))});
    s.bytes = 16.0 * 1024 * 1024;
  });
  add("aten::index_put.out", "16k rows of 768", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({30000, 768})),
                          s.call.tensors({&s.call.filled(ScalarType::kLong, {16384}, 30000)}, true),
                          EValue(&s.call.floats({16384, 768})), EValue(false),
                          EValue(&s.call.floats({30000, 768}))});
    s.bytes = 8.0 * (30000 + 16384) * 768;
  });
}

void add_images() {
  add("aten::max_pool2d_with_indices.out", "64x112x112 3x3/2", [](Setup& s) {
    const auto two = [&](int64_t n) { return s.call.ints({n, n}); };
    s.call.set_arguments({EValue(&s.call.floats({1, 64, 112, 112})), two(3), two(2), two(1), two(1),
                          EValue(false), EValue(&s.call.floats({1, 64, 56, 56})),
                          EValue(&s.call.filled(ScalarType::kLong, {1, 64, 56, 56}, 2))});
    s.bytes = 64.0 * (112 * 112 * 4 + 56 * 56 * 12);
  });
  add("aten::avg_pool2d.out", "64x112x112 2x2/2", [](Setup& s) {
    const auto two = [&](int64_t n) { return s.call.ints({n, n}); };
    s.call.set_arguments({EValue(&s.call.floats({1, 64, 112, 112})), two(2), two(2), two(0),
                          EValue(false), EValue(true), EValue(),
                          EValue(&s.call.floats({1, 64, 56, 56}))});
    s.bytes = 64.0 * (112 * 112 * 4 + 56 * 56 * 4);
  });
  add("aten::upsample_bilinear2d.vec_out", "64x56x56 to 112x112", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({1, 64, 56, 56})), s.call.ints({112, 112}),
                          EValue(false), EValue(), EValue(&s.call.floats({1, 64, 112, 112}))});
    s.bytes = 64.0 * (112 * 112 * 4 + 56 * 56 * 4);
  });
  add("aten::upsample_nearest2d.vec_out", "64x56x56 to 112x112", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({1, 64, 56, 56})), s.call.ints({112, 112}),
                          EValue(), EValue(&s.call.floats({1, 64, 112, 112}))});
    s.bytes = 64.0 * (112 * 112 * 4 + 56 * 56 * 4);
  });
}

void add_conversions() {
  add("quantized_decomposed::quantize_per_tensor.out", "4M to int8", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({4 << 20})), EValue(0.02), EValue(int64_t{3}),
                          EValue(int64_t{-128}), EValue(int64_t{127}),
                          EValue(static_cast<int64_t>(ScalarType::kChar)),
                          EValue(&s.call.filled(ScalarType::kChar, {4 << 20}, 128))});
    s.bytes = 5.0 * (4 << 20);
  });
  add("quantized_decomposed::dequantize_per_tensor.out", "4M from int8", [](Setup& s) {
    s.call.set_arguments({EValue(&s.call.filled(ScalarType::kChar, {4 << 20}, 128)), EValue(0.02),
                          EValue(int64_t{3}), EValue(int64_t{-128}), EValue(int64_t{127}),
                          EValue(static_cast<int64_t>(ScalarType::kChar)), EValue(),
                          EValue(&s.call.floats({4 << 20}))});
    s.bytes = 5.0 * (4 << 20);
  });
}

}  // namespace

void add_movement() {
  add_copies();
  add_selections();
  add_images();
  add_conversions();
}

}  // namespace vitrine::bench

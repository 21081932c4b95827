// Decompositions of short-time Fourier transforms.
#include "aot/decompose/decompositions.h"

namespace vitrine::aot::decompositions {

// Cuts the signal into windows of n_fft elements, hop_length apart, multiplies each with the window
// function, and transforms it. The result is [batch?, frequencies, windows].
void short_time_transform(Decomposition& to) {
  Node* x = to.self();
  const int64_t length = to.integer("n_fft");
  const int64_t hop = to.integer("hop_length", length / 4);
  const int64_t window_length = to.integer("win_length", length);
  const bool is_complex_input = is_complex(x->tensor()->dtype);
  if (rank_of(x) < 1 || rank_of(x) > 2) to.refuse("the signal must have one or two dims");
  if (length < 1 || hop < 1 || window_length < 1 || window_length > length) {
    to.refuse("n_fft and hop_length must be positive, and win_length from 1 to n_fft");
  }
  if (to.boolean("align_to_window", false)) to.refuse("align_to_window is not supported");
  const bool has_batch = rank_of(x) == 2;
  if (!has_batch) x = to.unsqueeze(x, 0);
  x = to("unfold", x, -1, length, hop);
  Node* window = to.optional_tensor("window");
  if (window == nullptr && window_length < length) {
    window = to.full({SymInt(window_length)}, 1, real_type(x->tensor()->dtype));
  }
  if (window != nullptr) {
    const int64_t missing = length - window_length;
    if (missing != 0) {
      window = to("constant_pad_nd", window, Dims{missing / 2, missing - missing / 2}, 0);
    }
    x = to.mul(x, window);
  }
  const int64_t normalization = to.boolean("normalized", false) ? 1 : 0;
  x = is_complex_input ? to("_fft_c2c", x, Dims{2}, normalization, true)
                       : to("_fft_r2c", x, Dims{2}, normalization, to.boolean("onesided", true));
  x = to.transpose(x, 1, 2);
  if (!has_batch) x = to.squeeze(x, 0);
  if (!to.boolean("return_complex", true)) x = to("view_as_real", x);
  to.replace(x);
}

}  // namespace vitrine::aot::decompositions

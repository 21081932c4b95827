#include <algorithm>
#include <optional>
#include <string>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

struct Frames {
  int64_t length;  // number of elements of a transform
  int64_t hop;     // distance between the starts of windows
  int64_t window_length;
};

Frames read_frames(Decomposition& to) {
  Frames frames{.length = to.integer("n_fft"), .hop = 0, .window_length = 0};
  frames.hop = to.integer("hop_length", frames.length / 4);
  frames.window_length = to.integer("win_length", frames.length);
  if (frames.length < 1 || frames.length > INT32_MAX || frames.hop < 1 || frames.hop > INT32_MAX ||
      frames.window_length < 1 || frames.window_length > frames.length) {
    to.refuse("n_fft and hop_length must be positive, and win_length from 1 to n_fft");
  }
  return frames;
}

// Returns the window function, centered in a frame of n_fft elements. Null means all ones.
Node* read_window(Decomposition& to, const Frames& frames, ScalarType dtype) {
  Node* window = to.optional_tensor("window");
  const int64_t missing = frames.length - frames.window_length;
  if (missing == 0) return window;
  if (window == nullptr) window = to.full({SymInt(frames.window_length)}, 1, dtype);
  return to("constant_pad_nd", window, Dims{missing / 2, missing - missing / 2}, 0);
}

// Adds up windows [batch, windows, length], which may overlap. Window i starts at element i * `hop`
// of the result [batch, elements].
Node* add_overlapping(Decomposition& to, Node* windows, int64_t hop) {
  const Sizes sizes = windows->tensor()->sizes;
  Node* begins = to.unsqueeze(to.mul(to.count(0, sizes[1]), hop), -1);
  Node* at = to.add(begins, to.count(0, sizes[2]));
  Node* sum = to.full({sizes[0], (sizes[1] - SymInt(1)) * SymInt(hop) + sizes[2]}, 0,
                      windows->tensor()->dtype);
  return to("index_put", sum, Argument::list({Argument(), at}), windows, true);
}

// The values of the argument `normalization` of _fft_r2c, _fft_c2c and _fft_c2r.
enum Scale : int64_t { kUnscaled, kByRoot, kByLength };

// Returns the scale for the argument `norm`. "backward", the default, divides inverse transforms by
// their length. "forward" divides forward transforms by their length. "ortho" divides all
// transforms by the square root of the length.
int64_t read_scale(Decomposition& to, bool is_inverse) {
  const Argument value = to.value("norm");
  const auto* text = value.get<std::string>();
  const std::string norm = text == nullptr ? "backward" : *text;
  if (norm == "ortho") return kByRoot;
  if (norm != "backward" && norm != "forward") {
    to.refuse("norm must be backward, ortho or forward");
  }
  return is_inverse == (norm == "backward") ? kByLength : kUnscaled;
}

std::optional<int64_t> stated_length(Decomposition& to) {
  if (to.value("n").is_none()) return std::nullopt;
  const int64_t length = to.integer("n");
  if (length < 1 || length > INT32_MAX) to.refuse("n must be from 1 to 2^31 - 1");
  return length;
}

// Cuts dim `dim` after `length` elements, or appends zeros up to this length.
Node* resize_dim(Decomposition& to, Node* x, size_t dim, int64_t length) {
  const SymInt size = size_at(x, dim);
  if (!size.is_static()) to.refuse("n is supported only if the size of dim is not symbolic");
  if (size.value() == length) return x;
  const bool has_pairs = is_complex(x->tensor()->dtype);
  if (has_pairs) x = to("view_as_real", x);
  if (size.value() > length) {
    x = to.slice(x, dim, 0, length);
  } else {
    Dims padding(2 * (rank_of(x) - dim), 0);
    padding.back() = length - size.value();
    x = to("constant_pad_nd", x, padding, 0);
  }
  return has_pairs ? to("view_as_complex", x) : x;
}

size_t transformed_dim(Decomposition& to) {
  const auto rank = static_cast<int64_t>(rank_of(to.self()));
  const int64_t dim = to.integer("dim");
  if (dim < -rank || dim >= rank) to.refuse("dim is out of range");
  return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

Node* float_self(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  return is_floating(dtype) || is_complex(dtype) ? x : to.convert(x, ScalarType::kFloat);
}

void transform(Decomposition& to, bool is_inverse) {
  const size_t dim = transformed_dim(to);
  Node* x = float_self(to);
  const bool is_real = !is_complex(x->tensor()->dtype);
  if (is_real && is_inverse) to.refuse("the input must be complex");
  if (const auto length = stated_length(to)) x = resize_dim(to, x, dim, *length);
  const int64_t scale = read_scale(to, is_inverse);
  to.replace(is_real ? to("_fft_r2c", x, Dims{static_cast<int64_t>(dim)}, scale, false)
                     : to("_fft_c2c", x, Dims{static_cast<int64_t>(dim)}, scale, !is_inverse));
}

}  // namespace

// Computes the Fourier transform of one dim. The result is complex and has all frequencies.
void fourier_transform(Decomposition& to) { transform(to, false); }

void inverse_fourier_transform(Decomposition& to) { transform(to, true); }

// Computes the Fourier transform of one real dim. The result has the frequencies 0 to n / 2.
void real_fourier_transform(Decomposition& to) {
  const size_t dim = transformed_dim(to);
  Node* x = float_self(to);
  if (is_complex(x->tensor()->dtype)) to.refuse("the input must be real");
  if (const auto length = stated_length(to)) x = resize_dim(to, x, dim, *length);
  to.replace(to("_fft_r2c", x, Dims{static_cast<int64_t>(dim)}, read_scale(to, false), true));
}

// Computes the inverse Fourier transform of one dim with the frequencies 0 to n / 2. The result is
// real and has n elements.
void inverse_real_fourier_transform(Decomposition& to) {
  const size_t dim = transformed_dim(to);
  Node* x = to.self();
  if (!is_complex(x->tensor()->dtype)) to.refuse("the input must be complex");
  SymInt length = (size_at(x, dim) - SymInt(1)) * SymInt(2);
  if (const auto stated = stated_length(to)) {
    x = resize_dim(to, x, dim, *stated / 2 + 1);
    length = SymInt(*stated);
  }
  if (length.is_static() && length.value() < 1) to.refuse("the result must not be empty");
  to.replace(
      to("_fft_c2r", x, Dims{static_cast<int64_t>(dim)}, read_scale(to, true), to.size(length)));
}

// Cuts the signal into windows of n_fft elements, which begin every hop_length elements. Multiplies
// each window by the window function, and computes the Fourier transform of the product. The result
// is [batch?, frequencies, windows].
void short_time_transform(Decomposition& to) {
  Node* x = to.self();
  const Frames frames = read_frames(to);
  const bool is_complex_input = is_complex(x->tensor()->dtype);
  if (rank_of(x) < 1 || rank_of(x) > 2) to.refuse("the signal must have one or two dims");
  if (to.boolean("align_to_window", false)) to.refuse("align_to_window is not supported");
  const bool has_batch = rank_of(x) == 2;
  if (!has_batch) x = to.unsqueeze(x, 0);
  x = to("unfold", x, -1, frames.length, frames.hop);
  if (Node* window = read_window(to, frames, real_type(x->tensor()->dtype))) x = to.mul(x, window);
  const int64_t normalization = to.boolean("normalized", false) ? 1 : 0;
  x = is_complex_input ? to("_fft_c2c", x, Dims{2}, normalization, true)
                       : to("_fft_r2c", x, Dims{2}, normalization, to.boolean("onesided", true));
  x = to.transpose(x, 1, 2);
  if (!has_batch) x = to.squeeze(x, 0);
  if (!to.boolean("return_complex", true)) x = to("view_as_real", x);
  to.replace(x);
}

// Computes the inverse Fourier transform of [batch?, frequencies, windows]. Multiplies each window
// by the window function, and adds up the windows. Divides the result by the sum of the squared
// window functions.
void inverse_short_time_transform(Decomposition& to) {
  Node* x = to.self();
  const Frames frames = read_frames(to);
  if (!is_complex(x->tensor()->dtype)) to.refuse("the input must be complex");
  if (rank_of(x) < 2 || rank_of(x) > 3) to.refuse("the input must have two or three dims");
  if (to.boolean("return_complex", false)) to.refuse("return_complex is not supported");
  const bool has_batch = rank_of(x) == 3;
  if (!has_batch) x = to.unsqueeze(x, 0);
  const SymInt half(frames.length / 2 + 1);
  const bool is_one_sided = to.boolean("onesided", size_at(x, 1) != SymInt(frames.length));
  if (size_at(x, 1) != (is_one_sided ? half : SymInt(frames.length))) {
    to.refuse("the number of frequencies does not match n_fft and onesided");
  }
  x = to.transpose(x, 1, 2);
  if (!is_one_sided) x = to.slice(x, 2, 0, half.value());
  const int64_t normalization = to.boolean("normalized", false) ? 1 : 2;
  x = to("_fft_c2r", x, Dims{2}, normalization, frames.length);

  const ScalarType dtype = x->tensor()->dtype;
  Node* window = read_window(to, frames, dtype);
  if (window == nullptr) window = to.full({SymInt(frames.length)}, 1, dtype);
  Node* sum = add_overlapping(to, to.mul(x, window), frames.hop);
  Node* square =
      to.expand(to.mul(window, window), {SymInt(1), size_at(x, 1), SymInt(frames.length)});
  sum = to.div(sum, add_overlapping(to, square, frames.hop));

  const SymInt whole = size_at(sum, 1);
  const SymInt begin(to.boolean("center", true) ? frames.length / 2 : 0);
  SymInt end = whole - begin;
  int64_t missing = 0;
  if (to.value("length").get<int64_t>() != nullptr) {
    if (!whole.is_static())
      to.refuse("length is supported only if the number of windows is not symbolic");
    end = begin + SymInt(to.integer("length"));
    missing = std::max<int64_t>(end.value() - whole.value(), 0);
    end = std::min(end.value(), whole.value());
  }
  if (whole.is_static() && end.value() <= begin.value()) to.refuse("the result must not be empty");
  x = to.slice(sum, 1, begin.value(), to.size(end));
  if (missing != 0) x = to("constant_pad_nd", x, Dims{0, missing}, 0);
  to.replace(has_batch ? x : to.squeeze(x, 0));
}

}  // namespace vitrine::aot::decompositions

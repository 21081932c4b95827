// Convolutions with weights that are packed once. The products read pixels directly from a
// channels-last image. Other images are first copied to this layout and padded, but patches are
// never copied.
#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/optimized/convolution_shape.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/optimized/simd/transpose.h"
#include "kernels/util/packing_key.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

constexpr int64_t kBlockPixels = 128;  // maximum number of pixels in a work item
constexpr int64_t kCopyPixels = 256;   // pixels that are copied at a time
constexpr int64_t kItemsPerWorker = 4;

int64_t round_up_by(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

class TapConvolution {
 public:
  TapConvolution(const ConvolutionShape& shape, int64_t rows, int64_t lanes)
      : shape_(shape), tile_rows_(rows) {
    channels_ = shape.input_layout.sizes[1];
    merged_ = shape.window.groups == 1 && shape.window.dilation[2] == 1;
    const Layout& in = shape.input_layout;
    in_place_ = in.strides[1] == 1 && shape.window.padding == Spatial{0, 0, 0} &&
                (!merged_ || shape.kernel[2] == 1 || in.strides[4] == channels_);
    for (size_t i = 0; i < 3; ++i) padded_[i] = shape.in[i] + 2 * shape.window.padding[i];
    steps_ = in_place_
                 ? Spatial{in.strides[2], in.strides[3], in.strides[4]}
                 : Spatial{padded_[1] * padded_[2] * channels_, padded_[2] * channels_, channels_};
    width_ = round_up_by(shape.group_rows, lanes);
    panel_width_ = simd::kGemmMaxVectors * lanes;
    panels_ = (width_ + panel_width_ - 1) / panel_width_;
    pixels_out_ = shape.out_layout.strides[1] == 1 && is_plane(shape.out_layout);
  }

  bool is_supported() const {
    // For 1 x 1 kernels, the matrix product already reads planes in place.
    if (shape_.taps() == 1 && shape_.positions() > 1) return false;
    const Layout& in = shape_.input_layout;
    const Layout& out = shape_.out_layout;
    return (in.strides[1] == 1 || in.strides[4] == 1 || in.sizes[4] == 1) &&
           (pixels_out_ || (is_plane(out) && (out.strides[4] == 1 || shape_.positions() == 1)));
  }

  std::optional<int64_t> packed_bytes() const {
    return checked_product({shape_.window.groups, shape_.depth(), width_, sizeof(float)});
  }
  // A hash of the numbers that determine the order of the packed weights.
  uint64_t packing_key() const {
    const Layout& layout = shape_.weight_layout;
    PackingKey key;
    const auto add = [&key](int64_t number) { key.add(number); };
    add(shape_.window.groups);
    std::for_each_n(layout.sizes.begin(), 5, add);
    std::for_each_n(layout.strides.begin(), 5, add);
    return key.value();
  }

  // Writes an array of shape [taps, group_channels, columns of the panel] for each group and panel.
  void pack(float* to) const {
    const Layout& layout = shape_.weight_layout;
    for (int64_t group = 0; group < shape_.window.groups; ++group) {
      for (int64_t panel = 0; panel < panels_; ++panel) {
        const int64_t first = panel * panel_width_;
        const int64_t columns = std::min(panel_width_, shape_.group_rows - first);
        const int64_t width = std::min(panel_width_, width_ - first);
        const float* const filters =
            shape_.weight + (group * shape_.group_rows + first) * layout.strides[0];
        for (int64_t tap = 0; tap < shape_.taps(); ++tap) {
          const float* from = filters + weight_offset(tap);
          for (int64_t c = 0; c < shape_.group_channels; ++c, to += width) {
            for (int64_t k = 0; k < columns; ++k) {
              to[k] = from[k * layout.strides[0] + c * layout.strides[1]];
            }
            std::fill(to + columns, to + width, 0.0F);
          }
        }
      }
    }
  }

  // Computes all images from packed weights. Fails the context if temporary memory runs out.
  void run(KernelContext& context, const float* weights) const {
    const KernelContext::TemporaryScope scope(context);
    const int64_t work = work_of({shape_.positions(), shape_.out_layout.sizes[1], shape_.depth()});
    const int64_t workers = worker_count(context, work);
    const int64_t num_taps = merged_ ? shape_.taps() / shape_.kernel[2] : shape_.taps();
    const std::span<int64_t> offsets =
        context.allocate_temp_array<int64_t>(static_cast<size_t>(num_taps));
    if (offsets.empty()) return;
    set_offsets(offsets);
    float* image = nullptr;
    if (!in_place_) {
      image = static_cast<float*>(
          context.allocate_temp({padded_[0], padded_[1], padded_[2], channels_, sizeof(float)}));
      if (image == nullptr) return;
    }
    float* sums = nullptr;
    if (!pixels_out_) {
      sums = static_cast<float*>(
          context.allocate_temp({workers, kBlockPixels, panel_width_, sizeof(float)}));
      if (sums == nullptr) return;
    }
    const int64_t panels = shape_.window.groups * panels_;
    const int64_t tiles = (shape_.positions() + tile_rows_ - 1) / tile_rows_;
    const int64_t block_tiles =
        std::clamp<int64_t>(workers == 1 ? tiles : tiles * panels / (workers * kItemsPerWorker), 1,
                            kBlockPixels / tile_rows_);
    const int64_t blocks = (tiles + block_tiles - 1) / block_tiles;
    for (int64_t n = 0; n < shape_.out_layout.sizes[0]; ++n) {
      const float* in = shape_.input + n * shape_.input_layout.strides[0];
      float* const out = shape_.out + n * shape_.out_layout.strides[0];
      if (!in_place_) {
        copy_image(context, in, image);
        in = image;
      }
      parallel(context, blocks * panels, work, [&](int64_t item, int64_t worker) {
        const int64_t begin = item % blocks * block_tiles * tile_rows_;
        const int64_t end = std::min(shape_.positions(), begin + block_tiles * tile_rows_);
        multiply_block({in, weights, offsets, out, begin, end, item / blocks},
                       sums == nullptr ? nullptr : sums + worker * kBlockPixels * panel_width_);
      });
    }
  }

 private:
  struct PixelBlock {
    const float* in;
    const float* weights;
    std::span<const int64_t> offsets;
    float* out;
    int64_t begin;
    int64_t end;
    int64_t panel;  // index over groups and panels
  };

  int64_t weight_offset(int64_t tap) const {
    const Layout& layout = shape_.weight_layout;
    const int64_t line = tap / shape_.kernel[2];
    return line / shape_.kernel[1] * layout.strides[2] +
           line % shape_.kernel[1] * layout.strides[3] + tap % shape_.kernel[2] * layout.strides[4];
  }

  void set_offsets(std::span<int64_t> offsets) const {
    const Spatial& dilation = shape_.window.dilation;
    const int64_t columns = merged_ ? 1 : shape_.kernel[2];
    for (size_t i = 0; i < offsets.size(); ++i) {
      const auto tap = static_cast<int64_t>(i);
      const int64_t line = tap / columns;
      offsets[i] = line / shape_.kernel[1] * dilation[0] * steps_[0] +
                   line % shape_.kernel[1] * dilation[1] * steps_[1] +
                   tap % columns * dilation[2] * steps_[2];
    }
  }

  void copy_image(KernelContext& context, const float* in, float* image) const {
    const int64_t lines = padded_[0] * padded_[1];
    const int64_t chunks = (shape_.in[2] + kCopyPixels - 1) / kCopyPixels;
    const int64_t work = work_of({lines, padded_[2], channels_, 8});
    parallel(context, lines * chunks, work, [&](int64_t item, int64_t) {
      const int64_t line = item / chunks;
      const int64_t first = item % chunks * kCopyPixels;
      copy_line(in, line, first, std::min(kCopyPixels, shape_.in[2] - first),
                image + line * padded_[2] * channels_);
    });
  }

  void copy_line(const float* in, int64_t line, int64_t first, int64_t count, float* to) const {
    const Layout& layout = shape_.input_layout;
    const Spatial& padding = shape_.window.padding;
    const int64_t z = line / padded_[1] - padding[0];
    const int64_t y = line % padded_[1] - padding[1];
    const int64_t side = padding[2] * channels_;
    float* const pixels = to + side + first * channels_;
    const bool is_inside = z >= 0 && z < shape_.in[0] && y >= 0 && y < shape_.in[1];
    if (first == 0) std::fill_n(to, side, 0.0F);
    if (first + count == shape_.in[2]) std::fill_n(pixels + count * channels_, side, 0.0F);
    if (!is_inside) {
      std::fill_n(pixels, count * channels_, 0.0F);
      return;
    }
    const float* const from =
        in + z * layout.strides[2] + y * layout.strides[3] + first * layout.strides[4];
    if (layout.strides[1] != 1) {
      return simd::transpose(from, layout.strides[1], pixels, channels_, count, channels_);
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(pixels + i * channels_, from + i * layout.strides[4],
                  static_cast<size_t>(channels_) * sizeof(float));
    }
  }

  void multiply_block(const PixelBlock& block, float* sums) const {
    const int64_t group = block.panel / panels_;
    const int64_t first = block.panel % panels_ * panel_width_;
    const int64_t column = group * shape_.group_rows + first;
    const int64_t packed = (group * width_ + first) * shape_.depth();
    simd::TapTile tile{};
    tile.offsets = block.offsets.data();
    tile.taps = static_cast<int64_t>(block.offsets.size());
    tile.depth = merged_ ? shape_.kernel[2] * channels_ : shape_.group_channels;
    tile.weights = block.weights + packed;
    tile.bias = shape_.bias == nullptr ? nullptr : shape_.bias + column;
    tile.columns = std::min(panel_width_, shape_.group_rows - first);
    tile.out_stride = pixels_out_ ? shape_.out_layout.strides[4] : panel_width_;
    const float* const in = block.in + group * shape_.group_channels;
    Spatial position{block.begin / shape_.output[2] / shape_.output[1],
                     block.begin / shape_.output[2] % shape_.output[1],
                     block.begin % shape_.output[2]};
    for (int64_t pixel = block.begin; pixel < block.end; pixel += tile_rows_) {
      tile.rows = std::min(tile_rows_, block.end - pixel);
      for (int64_t r = 0; r < tile_rows_; ++r) {
        tile.inputs[r] = r < tile.rows ? in + input_offset(position) : tile.inputs[0];
        if (r < tile.rows) advance(position);
      }
      tile.out = pixels_out_ ? block.out + pixel * tile.out_stride + column
                             : sums + (pixel - block.begin) * panel_width_;
      simd::multiply_taps(tile);
    }
    if (pixels_out_) return;
    const int64_t plane = shape_.out_layout.strides[1];
    simd::transpose(sums, panel_width_, block.out + column * plane + block.begin, plane,
                    tile.columns, block.end - block.begin);
  }

  int64_t input_offset(const Spatial& position) const {
    const Spatial& stride = shape_.window.stride;
    return position[0] * stride[0] * steps_[0] + position[1] * stride[1] * steps_[1] +
           position[2] * stride[2] * steps_[2];
  }
  void advance(Spatial& position) const {
    if (++position[2] < shape_.output[2]) return;
    position[2] = 0;
    if (++position[1] < shape_.output[1]) return;
    position[1] = 0;
    ++position[0];
  }

  const ConvolutionShape& shape_;
  const int64_t tile_rows_;
  int64_t channels_;
  bool merged_;      // the taps of a line are one tap with kernel_width * channels inputs
  bool in_place_;    // the input needs no copy
  bool pixels_out_;  // the output is channels-last
  Spatial padded_;   // sizes of the image with padding
  Spatial steps_;    // distances between neighbors in the image
  int64_t width_;    // columns of a group, in full vectors
  int64_t panel_width_;
  int64_t panels_;  // panels of a group
};

}  // namespace

bool convolve_by_taps(KernelContext& context, const Tensor& weight, const ConvolutionShape& shape) {
  const simd::GemmShape machine = simd::gemm_shape();
  const TapConvolution convolution(shape, machine.rows, machine.lanes);
  if (!convolution.is_supported()) return false;
  const std::optional<int64_t> bytes = convolution.packed_bytes();
  if (!bytes) return false;
  const auto packed =
      context.derive(weight, convolution.packing_key(), static_cast<size_t>(*bytes));
  if (packed.data == nullptr) return context.failed();
  auto* const weights = static_cast<float*>(packed.data);
  if (packed.is_new) convolution.pack(weights);
  convolution.run(context, weights);
  return true;
}

}  // namespace vitrine::optimized

// Convolutions with a 3 x 3 window, stride 1 and dilation 1 by Winograd's algorithm. For each pair
// of channels, a tile of t x t results takes (t + 2)^2 multiplications instead of 9 t^2.
//
// Sources: Winograd, "Arithmetic Complexity of Computations", 1980; Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015.
//
// The rounding error is at most four times the error of a plain sum of products. Tiles of 4 use the
// points 0, +-2/3, +-3/2 and infinity. The common points 0, +-1, +-2 and infinity would about
// double the error.
//
// The layout of images is N, H, W, C. An infinity or a NaN in the input can affect every result of
// a tile.
#pragma once

#include <cstdint>

#include "vitrine/half.h"

namespace vitrine::optimized::simd {

// The properties that determine the layout of the transformed weights. Output channels are divided
// into independent panels.
struct WinogradShape {
  int64_t tile;  // lines and columns of a tile: 2 or 4
  int64_t in_channels;
  int64_t out_channels;

  int64_t points() const { return (tile + 2) * (tile + 2); }
};
struct WinogradPanel {
  int64_t first;  // first output channel
  int64_t width;  // full vectors; the last panel may end after the last channel
};
int64_t winograd_panels(const WinogradShape& shape);
WinogradPanel winograd_panel(const WinogradShape& shape, int64_t panel);

// Number of tiles that are multiplied at a time.
int64_t winograd_tile_step();

// Number of floats in the transformed weights, and in the scratch memory for `tiles` tiles.
int64_t winograd_weights(const WinogradShape& shape);
int64_t winograd_scratch(const WinogradShape& shape, int64_t tiles);

// Transforms the weights of one panel from filter[(out_channel * 9 + tap) * in_channels +
// in_channel]. `weights` is the start of the transformed weights of the convolution.
void winograd_transform(const WinogradShape& shape, int64_t panel, const float* filter,
                        float* weights);

// T is float or Half. Sums are floats. Strides are in elements. Output pixel (y, x) is the sum over
// ky, kx of weights[ky][kx] * input(y + ky - top, x + kx - left), plus the bias, within [min, max].
template <class T>
struct WinogradImages {
  WinogradShape shape;
  const float* weights;  // transformed weights
  const float* bias;     // null means zero
  float min;
  float max;
  const T* in;
  int64_t in_stride;  // distance between two pixels
  int64_t height;
  int64_t width;
  int64_t top;
  int64_t left;
  T* out;
  int64_t out_stride;
  int64_t out_height;
  int64_t out_width;

  int64_t tile_lines() const { return (out_height + shape.tile - 1) / shape.tile; }
  int64_t tile_columns() const { return (out_width + shape.tile - 1) / shape.tile; }
};

// Computes a range of panels for a range of tiles. Tiles are numbered line by line, from the first
// image to the last.
struct WinogradPart {
  int64_t first_tile;
  int64_t tiles;
  int64_t first_panel;
  int64_t panels;
};
void winograd_convolve(const WinogradImages<float>& images, const WinogradPart& part,
                       float* scratch);
void winograd_convolve(const WinogradImages<Half>& images, const WinogradPart& part,
                       float* scratch);

}  // namespace vitrine::optimized::simd

#include "backends/xnnpack/runtime/execution/own_kernels/winograd.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "backends/xnnpack/runtime/execution/own_kernels/own_layout.h"
#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "runtime/core/sort.h"
#include "runtime/platform/memory.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

constexpr const char* kName = "Vitrine Winograd Convolution (NHWC, F32)";
constexpr const char* kHalfName = "Vitrine Winograd Convolution (NHWC, F16)";

// Number of tiles in a task. Their transformed pixels and results stay in the second-level cache,
// and the transformed weights are read once for all of them.
constexpr int64_t kTaskTiles = 32;

constexpr int64_t round_up(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

int64_t tile_count(int64_t tile, const WinogradSize& size) {
  return size.images * divide_up(size.height, tile) * divide_up(size.width, tile);
}

bool is_half(const xnn_operator& op) { return op.type == xnn_operator_type_convolution_nhwc_f16; }

bool is_candidate(const xnn_operator& op) {
  if ((op.type != xnn_operator_type_convolution_nhwc_f32 && !is_half(op)) ||
      op.ukernel.type != xnn_microkernel_type_igemm) {
    return false;
  }
  const auto& convolution = convolution_of(op);
  return convolution.groups == 1 && convolution.kernel_height == 3 &&
         convolution.kernel_width == 3 && convolution.stride_height == 1 &&
         convolution.stride_width == 1 && convolution.dilation_height == 1 &&
         convolution.dilation_width == 1;
}

int64_t in_channels(const xnn_operator& op) {
  return static_cast<int64_t>(convolution_of(op).group_input_channels);
}
int64_t out_channels(const xnn_operator& op) {
  return static_cast<int64_t>(convolution_of(op).group_output_channels);
}

// Returns the size of the result. Empty if the input does not have four dims.
WinogradSize result_size(const xnn_operator& op, const RuntimeTensor& input) {
  if (input.shape.num_dims != 4) return {};
  const size_t* const dims = input.shape.dim;
  const auto& convolution = convolution_of(op);
  return {static_cast<int64_t>(dims[0]),
          static_cast<int64_t>(dims[1] + convolution.padding_top + convolution.padding_bottom) - 2,
          static_cast<int64_t>(dims[2] + convolution.padding_left + convolution.padding_right) - 2};
}

WinogradSize result_size(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  return {static_cast<int64_t>(op.batch_size), static_cast<int64_t>(convolution.output_height),
          static_cast<int64_t>(convolution.output_width)};
}

int64_t layer_floats(const simd::WinogradShape& shape) {
  return round_up(shape.out_channels + simd::winograd_weights(shape), 16);
}

size_t layer_bytes(const simd::WinogradShape& shape) {
  return static_cast<size_t>(layer_floats(shape)) * sizeof(float);
}

bool is_candidate(const Graph& graph, const Node& node) {
  const Window& w = node.window;
  const xnn_datatype image = graph.values[node.inputs[0]].datatype->xnn;
  return node.live && is_kind(node, "Conv2d") && node.groups == 1 && w.kernel_height == 3 &&
         w.kernel_width == 3 && w.stride_height == 1 && w.stride_width == 1 &&
         w.dilation_height == 1 && w.dilation_width == 1 &&
         (image == xnn_datatype_fp16 || image == xnn_datatype_fp32) &&
         graph.values[node.inputs[1]].datatype->xnn == xnn_datatype_fp32;
}

WinogradSize result_size(const Shape& out) {
  return {static_cast<int64_t>(out[0]), static_cast<int64_t>(out[1]), static_cast<int64_t>(out[2])};
}

// Returns the bytes of all values in f32, which is an upper bound for all dtypes.
uint64_t bytes_of_values(const Graph& graph, std::span<const Shape> shapes) {
  uint64_t elements = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    uint64_t count = 1;
    for (size_t k = 0; k < shapes[i].rank; ++k) count *= shapes[i][k];
    elements += count;
  }
  return elements * sizeof(float);
}

}  // namespace

double winograd_direct_time(bool is_half) {
  if (!is_half) return 1;
#if XNN_ARCH_X86 || XNN_ARCH_X86_64
  // XNNPACK's AVX2 kernel for f16 takes 2.5 to 3 times as long as the f32 kernel, so 2 is a
  // cautious estimate. Without AVX512-FP16, XNNPACK also uses the AVX2 kernel on processors with
  // AVX-512.
  constexpr uint32_t kAvx2Columns = 16;
  const xnn_gemm_config* const config = xnn_init_f16_gemm_config();
  if (config != nullptr && config->nr == kAvx2Columns) return 2;
#endif
  return 0;
}

int64_t choose_winograd_tile(int64_t in_channels, int64_t out_channels, const WinogradSize& size,
                             double direct) {
  // The time to transform a value and the time to read a weight, in units of one multiplication.
  // These are medians over layers of ResNet-18, VGG-16 and U-Nets on a Xeon with AVX-512.
  constexpr double kTransformation = 12;
  constexpr double kWeight = 8;
  // A Winograd convolution may take at most this fraction of the time of a direct convolution.
  constexpr double kMaxRatio = 0.8;
  // A partly filled vector takes the time of a full vector, so channel counts are rounded up.
  // Vectors hold input channels while pixels are transformed, and output channels afterward.
  // XNNPACK's kernels compute 16 or 32 output channels at a time.
  constexpr int64_t kLanes = 16;
  // XNNPACK and Vitrine have special kernels for fewer output channels.
  constexpr int64_t kMinOutputs = 5;

  if (out_channels < kMinOutputs) return 0;
  const auto outputs = static_cast<double>(round_up(out_channels, kLanes));
  const double channels = static_cast<double>(round_up(in_channels, kLanes)) + outputs;
  const double pairs = static_cast<double>(in_channels) * outputs;
  const auto direct_pairs = static_cast<double>(
      in_channels * round_up(out_channels, out_channels <= kLanes ? kLanes : 2 * kLanes));
  const auto pixels = static_cast<double>(size.images * size.height * size.width);
  double least = 9 * direct_pairs * (pixels + kWeight) * direct * kMaxRatio;
  int64_t best = 0;
  bool saves_half = false;
  for (const int64_t tile : {int64_t{4}, int64_t{2}}) {
    const auto points = static_cast<double>((tile + 2) * (tile + 2));
    const auto tiles = static_cast<double>(tile_count(tile, size));
    saves_half = saves_half || 2 * tiles * points <= 9 * pixels * direct;
    const double time = points * (tiles * (pairs + kTransformation * channels) + kWeight * pairs);
    if (time >= least) continue;
    least = time;
    best = tile;
  }
  return saves_half ? best : 0;
}

Error Winograd::plan(Graph& graph, std::span<const Shape> shapes, const OwnKernelLimits& limits) {
  // The graph's values use a part of the memory. Half of the rest is for transformed weights and
  // scratch memory, and half for XNNPACK's weights and tables.
  const uint64_t needed = bytes_of_values(graph, shapes);
  const uint64_t room = (limits.max_bytes - std::min(limits.max_bytes, needed)) / 2;
  uint64_t scratch = 0;
  for (Node& node : graph.nodes) {
    if (!is_candidate(graph, node)) continue;
    const WinogradSize size = result_size(shapes[node.outputs[0]]);
    simd::WinogradShape shape{0, node.group_input_channels, node.group_output_channels};
    const bool is_half = graph.values[node.inputs[0]].datatype->xnn == xnn_datatype_fp16;
    shape.tile = choose_winograd_tile(shape.in_channels, shape.out_channels, size,
                                      winograd_direct_time(is_half));
    if (shape.tile == 0) continue;
    const int64_t tiles = std::min(kTaskTiles, tile_count(shape.tile, size));
    const uint64_t all_bytes = uint64_t{weight_bytes_} + layer_bytes(shape);
    const uint64_t all_scratch =
        std::max(scratch, static_cast<uint64_t>(simd::winograd_scratch(shape, tiles)));
    if (all_bytes + limits.threads * all_scratch * sizeof(float) > room) continue;
    weight_bytes_ = static_cast<size_t>(all_bytes);
    scratch = all_scratch;
    VITRINE_RETURN_IF_ERROR(filters_.push_back(graph.values[node.inputs[1]].data));
    if (limits.has_fixed_sizes) node.weights = Node::Weights::kOwnWithoutTables;
  }
  sort(std::span(filters_.data(), filters_.size()), std::less<>());
  return Error();
}

// The tasks that transform the weights at load, one per panel.
struct Winograd::Transformation {
  void run(size_t index) const {
    const Layer* layer = layers;
    auto panel = static_cast<int64_t>(index);
    for (; layer->made == nullptr || panel >= simd::winograd_panels(layer->shape); ++layer) {
      if (layer->made != nullptr) panel -= simd::winograd_panels(layer->shape);
    }
    simd::winograd_transform(layer->shape, panel, layer->filter,
                             layer->made + layer->shape.out_channels);
  }

  static void run_task(void* transformation, size_t index) {
    static_cast<const Transformation*>(transformation)->run(index);
  }

  const Layer* layers;
};

Error Winograd::load(xnn_runtime_t runtime, ThreadPool* pool, PackedWeights& weights) {
  const size_t threads = pool != nullptr ? pool->threads() : 1;
  size_t thread_scratch = 0;
  size_t panels = 0;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator_data& data = runtime->opdata[i];
    const xnn_operator_t op = data.operator_objects[0];
    if (op == nullptr || !is_candidate(*op)) continue;
    const RawWeights raw(*runtime, data);
    if (!std::ranges::binary_search(filters_, reinterpret_cast<const std::byte*>(raw.f32_filter()),
                                    std::less<>())) {
      continue;
    }
    const WinogradSize size = result_size(*op, runtime->values[data.inputs[0]]);
    const int64_t tile = choose_winograd_tile(in_channels(*op), out_channels(*op), size,
                                              winograd_direct_time(is_half(*op)));
    if (tile == 0) continue;
    Layer layer{};
    layer.op = i;
    layer.op_object = op;
    layer.shape = {tile, in_channels(*op), out_channels(*op)};
    layer.tiles = std::min(kTaskTiles, tile_count(tile, size));
    layer.filter = raw.f32_filter();
    layer.is_half = is_half(*op);
    layer.runs_always = weights.is_unpacked(layer.filter);
    const size_t bytes = layer_bytes(layer.shape);
    layer.weights =
        reinterpret_cast<const float*>(weights.find_own(layer.filter, own_layout(tile), bytes));
    if (layer.weights == nullptr) {
      layer.made = reinterpret_cast<float*>(weights.reserve_own(bytes));
      if (layer.made == nullptr && !layer.runs_always) continue;
      if (layer.made == nullptr) return no_memory(bytes);
      for (int64_t k = 0; k < layer.shape.out_channels; ++k) {
        layer.made[k] = raw.bias(static_cast<size_t>(k));
      }
      panels += static_cast<size_t>(simd::winograd_panels(layer.shape));
    }
    VITRINE_RETURN_IF_ERROR(layers_.push_back(layer));
    thread_scratch = std::max(
        thread_scratch, static_cast<size_t>(simd::winograd_scratch(layer.shape, layer.tiles)));
    // Makes XNNPACK's operator drop its table of pointers, which Vitrine's kernel does not need.
    if (layer.runs_always) op->flags |= XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER;
  }
  filters_.clear();
  if (layers_.empty()) return Error();
  thread_scratch = static_cast<size_t>(round_up(static_cast<int64_t>(thread_scratch), 16));
  scratch_bytes_ = threads * thread_scratch * sizeof(float);
  scratch_.reset(platform::allocate_aligned(64, scratch_bytes_));
  if (!scratch_) return no_memory(scratch_bytes_);
  platform::provide_pages({static_cast<std::byte*>(scratch_.get()), scratch_bytes_});
  threads_ = static_cast<int64_t>(threads);
  Transformation transformation{layers_.data()};
  if (pool != nullptr && panels != 0) {
    pool->run(panels, &Transformation::run_task, &transformation);
  } else {
    for (size_t i = 0; i < panels; ++i) transformation.run(i);
  }
  for (Layer& layer : layers_) {
    layer.scratch = static_cast<float*>(scratch_.get());
    layer.thread_scratch = thread_scratch;
    if (layer.made == nullptr) continue;
    layer.weights = reinterpret_cast<const float*>(
        weights.insert_own(layer.filter, own_layout(layer.shape.tile),
                           reinterpret_cast<std::byte*>(std::exchange(layer.made, nullptr))));
    if (layer.weights == nullptr) return no_memory(layer_bytes(layer.shape));
  }
  return Error();
}

bool Winograd::runs_always(xnn_operator_t op) const {
  return std::ranges::any_of(
      layers_, [op](const Layer& layer) { return layer.op_object == op && layer.runs_always; });
}

void Winograd::drop_tables(xnn_runtime_t runtime) const {
  for (const Layer& layer : layers_) {
    if (layer.runs_always) runtime->opdata[layer.op].workspace_size = 0;
  }
}

void Winograd::use(xnn_runtime_t runtime, const char** names) {
  size_t running = 0;
  size_t i = 0;
  for (Layer& layer : layers_) {
    for (; i < layer.op; ++i) {
      if (runtime->opdata[i].operator_objects[0] != nullptr) ++running;
    }
    xnn_operator& op = *layer.op_object;
    const simd::WinogradShape& shape = layer.shape;
    const WinogradSize size = result_size(op);
    const int64_t tile = layer.runs_always
                             ? shape.tile
                             : choose_winograd_tile(shape.in_channels, shape.out_channels, size,
                                                    winograd_direct_time(layer.is_half));
    if (op.state == xnn_run_state_invalid || op.state == xnn_run_state_skip || tile == 0 ||
        tile != shape.tile) {
      continue;
    }
    names[running] = layer.is_half ? kHalfName : kName;
    // Divides the tiles into tasks of equal size. If there are fewer tasks than threads, also
    // divides the panels of weights.
    const int64_t tiles = tile_count(tile, size);
    const int64_t rows = simd::winograd_tile_step();
    int64_t tasks = divide_up(tiles, layer.tiles);
    if (tiles >= rows * round_up(tasks, threads_)) tasks = round_up(tasks, threads_);
    layer.task_tiles = std::min(layer.tiles, round_up(divide_up(tiles, tasks), rows));
    tasks = divide_up(tiles, layer.task_tiles);
    const int64_t panels = simd::winograd_panels(shape);
    layer.task_panels = divide_up(panels, divide_up(threads_, tasks));
    igemm_context_of(op).packed_w = &layer;
    compute_parameters& compute = op.compute[0];
    compute.type = xnn_parallelization_type_2d_with_thread;
    compute.task_2d_with_thread = reinterpret_cast<pthreadpool_task_2d_with_thread_t>(
        layer.is_half ? &Winograd::run_task<Half> : &Winograd::run_task<float>);
    compute.context_offset = 0;
    compute.range[0] = static_cast<size_t>(tasks);
    compute.range[1] = static_cast<size_t>(divide_up(panels, layer.task_panels));
    op.compute[1].type = xnn_parallelization_type_invalid;  // omits XNNPACK's second step, the sums
  }
}

template <class T>
void Winograd::run_task(const void* context, size_t thread, size_t tiles, size_t panels) {
  const auto& layer =
      *static_cast<const Layer*>(static_cast<const igemm_context*>(context)->packed_w);
  const xnn_operator& op = *layer.op_object;
  const auto& convolution = convolution_of(op);
  simd::WinogradImages<T> images{.shape = layer.shape,
                                 .weights = layer.weights + layer.shape.out_channels,
                                 .bias = layer.weights,
                                 .min = 0,
                                 .max = 0,
                                 .in = static_cast<const T*>(convolution.input),
                                 .in_stride = static_cast<int64_t>(op.input_pixel_stride),
                                 .height = static_cast<int64_t>(convolution.input_height),
                                 .width = static_cast<int64_t>(convolution.input_width),
                                 .top = convolution.padding_top,
                                 .left = convolution.padding_left,
                                 .out = static_cast<T*>(convolution.output),
                                 .out_stride = static_cast<int64_t>(op.output_pixel_stride),
                                 .out_height = static_cast<int64_t>(convolution.output_height),
                                 .out_width = static_cast<int64_t>(convolution.output_width)};
  if constexpr (std::is_same_v<T, Half>) {
    const auto& bounds = op.params.f16_minmax.scalar;
    images.min = std::bit_cast<Half>(bounds.min);
    images.max = std::bit_cast<Half>(bounds.max);
  } else {
    images.min = op.params.f32_minmax.scalar.min;
    images.max = op.params.f32_minmax.scalar.max;
  }
  const auto first_tile = static_cast<int64_t>(tiles) * layer.task_tiles;
  const auto first_panel = static_cast<int64_t>(panels) * layer.task_panels;
  simd::winograd_convolve(
      images,
      {.first_tile = first_tile,
       .tiles =
           std::min(layer.task_tiles, tile_count(layer.shape.tile, result_size(op)) - first_tile),
       .first_panel = first_panel,
       .panels = std::min(layer.task_panels, simd::winograd_panels(layer.shape) - first_panel)},
      layer.scratch + thread * layer.thread_scratch);
}

}  // namespace vitrine::xnnpack::own_kernels

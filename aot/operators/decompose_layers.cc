#include <limits>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Converts "valid" (no padding) or "same" (keeps the size of the image) to one number per dim,
// which applies to both ends of the dim. If a dim needs an odd number of padding elements, appends
// one 0 to this dim of `x`.
Argument padding_of_word(Decomposition& to, const std::string& word, size_t dims, Node*& x) {
  Dims padding(dims, 0);
  if (word == "valid") return padding;
  if (word != "same") to.refuse("unknown padding; expected \"same\" or \"valid\"");
  const Dims dilation = to.integers("dilation", dims);
  Dims extra(2 * dims, 0);
  bool is_lopsided = false;
  for (size_t i = 0; i < dims; ++i) {
    const SymInt& kernel = to.tensor("weight")->tensor()->sizes.at(i + 2);
    if (!kernel.is_static()) to.refuse("the kernel sizes of the weight must be numbers");
    if (kernel.value() > INT32_MAX || dilation[i] > INT32_MAX || dilation[i] < 1) {
      to.refuse("kernel size or dilation is out of range");
    }
    const int64_t total = dilation[i] * (kernel.value() - 1);
    padding[i] = total / 2;
    extra[2 * (dims - 1 - i) + 1] = total % 2;
    is_lopsided = is_lopsided || total % 2 != 0;
  }
  if (is_lopsided) x = to("constant_pad_nd", x, extra, 0);
  return padding;
}

// Replaces the call with aten.convolution. An image without a batch dim becomes a batch of one.
// `rest` contains the arguments of aten.convolution after the bias.
void replace_by_convolution(Decomposition& to, Node* x, size_t dims, const ArgumentList& rest) {
  const bool is_single = x->tensor()->rank() == dims + 1;
  if (is_single) x = to.unsqueeze(x, 0);
  ArgumentList args = {x, to.tensor("weight"), to.arg("bias")};
  args.insert(args.end(), rest.begin(), rest.end());
  if (!is_single) return to.replace(to.call("aten.convolution.default", args, to.spec()));
  Node* made = to.make("aten.convolution.default", args);
  to.replace(to.squeeze(made, 0));
}

template <size_t dims>
void convolution(Decomposition& to) {
  Node* x = to.self();
  Argument padding;
  if (const Argument word = to.value("padding"); word.get<std::string>() != nullptr) {
    padding = padding_of_word(to, *word.get<std::string>(), dims, x);
  }
  const auto list = [&](const char* name) -> Argument { return to.integers(name, dims); };
  replace_by_convolution(to, x, dims,
                         {list("stride"), padding.is_none() ? list("padding") : padding,
                          list("dilation"), false, Dims(dims, 0), to.integer("groups")});
}

template <size_t dims>
void transposed_convolution(Decomposition& to) {
  const auto list = [&](const char* name) -> Argument { return to.integers(name, dims); };
  replace_by_convolution(to, to.self(), dims,
                         {list("stride"), list("padding"), list("dilation"), true,
                          list("output_padding"), to.integer("groups")});
}

TensorSpec vector_spec(ScalarType dtype, const SymInt& size) {
  return contiguous_spec(dtype, {size});
}

}  // namespace

void batch_norm(Decomposition& to) {
  const TensorSpec spec = to.spec();
  if (to.boolean("training")) {
    // A batch norm without running statistics uses the statistics of its input, even in evaluation
    // mode.
    if (!to.arg("running_mean").is_none())
      to.refuse("training mode is not supported; export the model in evaluation mode");
    Node* norm = to.make(
        "aten._native_batch_norm_legit.no_stats",
        {to.self(), to.arg("weight"), to.arg("bias"), true, to.arg("momentum"), to.arg("eps")});
    return to.replace(to.item(norm, 0));
  }
  const TensorSpec empty = vector_spec(spec.dtype, 0);
  Node* norm = to.call("aten._native_batch_norm_legit_no_training.default",
                       {to.self(), to.arg("weight"), to.arg("bias"), to.tensor("running_mean"),
                        to.tensor("running_var"), to.arg("momentum"), to.arg("eps")},
                       Value::Items{spec, empty, empty});
  to.replace(to.item(norm, 0));
}

void layer_norm(Decomposition& to) {
  const TensorSpec spec = to.spec();
  const Dims shape = to.integers("normalized_shape");
  Sizes outer = spec.sizes;
  for (size_t i = 0; i < shape.size() && i < spec.rank(); ++i) outer[spec.rank() - 1 - i] = 1;
  const TensorSpec moments = contiguous_spec(spec.dtype, outer);
  Node* norm = to.call("aten.native_layer_norm.default",
                       {to.self(), shape, to.arg("weight"), to.arg("bias"), to.value("eps")},
                       Value::Items{spec, moments, moments});
  to.replace(to.item(norm, 0));
}

void group_norm(Decomposition& to) {
  const TensorSpec spec = to.spec();
  const int64_t groups = to.integer("num_groups");
  if (spec.rank() < 2) to.refuse("the input must have a batch dim and a channel dim");
  SymInt area = 1;
  for (size_t i = 2; i < spec.rank(); ++i) area = area * spec.sizes[i];
  const TensorSpec moments = contiguous_spec(spec.dtype, {spec.sizes[0], SymInt(groups)});
  // Converts channels-last images, because native_group_norm's kernel needs row-major images.
  const auto in_format = [&](Node* x, MemoryFormat format) {
    return to.make("aten.clone.default", {x}, {{"memory_format", format}});
  };
  Node* x = to.self();
  if (is_channels_last(*x->tensor())) x = in_format(x, MemoryFormat::kContiguous);
  const TensorSpec row_major = contiguous_spec(spec.dtype, spec.sizes);
  Node* norm = to.call("aten.native_group_norm.default",
                       {x, to.arg("weight"), to.arg("bias"), to.size(spec.sizes[0]),
                        to.size(spec.sizes[1]), to.size(area), groups, to.value("eps")},
                       Value::Items{row_major, moments, moments});
  Node* result = to.item(norm, 0);
  if (is_channels_last(spec)) {
    result = in_format(
        result, spec.rank() == 4 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d);
  }
  to.replace(result);
}

// Computes instance_norm as a batch norm of one sample that has the channels of all samples.
void instance_norm(Decomposition& to) {
  Node* x = to.self();
  const Sizes sizes = x->tensor()->sizes;
  if (sizes.size() < 3) to.refuse("the input must have at least 3 dims");
  const SymInt& batch = sizes[0];
  const auto repeated = [&](const Argument& argument) -> Argument {
    if (argument.node() == nullptr) return {};
    return to.make("aten.repeat.default", {argument, Argument::list({to.size(batch)})});
  };
  const bool uses_input = to.boolean("use_input_stats");
  if (uses_input && to.arg("running_mean").node() != nullptr) {
    to.refuse("updating the running statistics is not supported");
  }
  Sizes single_batch = sizes;
  single_batch[0] = 1;
  single_batch[1] = batch * sizes[1];
  const Argument weight = repeated(to.arg("weight"));
  const Argument bias = repeated(to.arg("bias"));
  const Argument momentum = to.arg("momentum");
  const Argument eps = to.arg("eps");
  Node* norm = nullptr;
  if (uses_input) {
    norm = to.make("aten._native_batch_norm_legit.no_stats",
                   {to.reshape(x, single_batch), weight, bias, true, momentum, eps});
  } else {
    const Argument mean = repeated(to.arg("running_mean"));
    const Argument variance = repeated(to.arg("running_var"));
    norm = to.make("aten._native_batch_norm_legit_no_training.default",
                   {to.reshape(x, single_batch), weight, bias, mean, variance, momentum, eps});
  }
  to.replace(to.reshape(to.item(norm, 0), sizes));
}

// Computes weight_norm: v g / |v|. If `dim` is -1, |v| is over all dims, and otherwise over all
// dims except `dim`.
void weight_norm(Decomposition& to) {
  Node* direction = to.self();
  const int64_t dim = to.integer("dim");
  Dims dims;
  const size_t rank = direction->tensor()->rank();
  for (size_t i = 0; i < rank; ++i) {
    if (dim == -1 || i != wrapped(dim, rank)) dims.push_back(static_cast<int64_t>(i));
  }
  // Without dims to reduce, each norm is the magnitude of one element. linalg_vector_norm would
  // reduce all dims for an empty list of dims.
  Node* length =
      dims.empty() ? to("abs", direction) : to("linalg_vector_norm", direction, 2, dims, dim != -1);
  Node* scale = to.make("aten.div.Tensor", {to.tensor("g"), length});
  to.replace(to.mul(direction, scale));
}

namespace {

double epsilon(ScalarType dtype) {
  return dtype == ScalarType::kDouble ? std::numeric_limits<double>::epsilon()
                                      : static_cast<double>(std::numeric_limits<float>::epsilon());
}

}  // namespace

void rms_norm(Decomposition& to) {
  Node* x = to.self();
  const size_t rank = x->tensor()->rank();
  const size_t count = to.integers("normalized_shape").size();
  if (count == 0 || count > rank)
    to.refuse("the length of normalized_shape must be from 1 to the rank of the input");
  Dims dims;
  for (size_t i = rank - count; i < rank; ++i) dims.push_back(static_cast<int64_t>(i));
  Argument eps = to.arg("eps");
  if (eps.is_none()) eps = epsilon(x->tensor()->dtype);
  Node* squares = to.pow(x, 2);
  Node* mean = to.make("aten.mean.dim", {squares, dims, true});
  Node* scale = to.make("aten.rsqrt.default", {to.make("aten.add.Scalar", {mean, eps})});
  Node* result = to.mul(x, scale);
  if (const Argument weight = to.arg("weight"); weight.node() != nullptr) {
    result = to.mul(result, weight);
  }
  to.replace(result);
}

void convolution1d(Decomposition& to) { convolution<1>(to); }
void convolution2d(Decomposition& to) { convolution<2>(to); }
void convolution3d(Decomposition& to) { convolution<3>(to); }
void transposed_convolution1d(Decomposition& to) { transposed_convolution<1>(to); }
void transposed_convolution2d(Decomposition& to) { transposed_convolution<2>(to); }
void transposed_convolution3d(Decomposition& to) { transposed_convolution<3>(to); }

}  // namespace vitrine::aot::decompositions

#include "test/differential/random_model.h"

#include <algorithm>
#include <string>

#include "aot/graph/aot_error.h"
#include "examples/models/layers.h"
#include "examples/models/model_builder.h"
#include "test/support/choices.h"

namespace vitrine::test {
namespace {

using aot::Argument;
using aot::ArgumentList;
using aot::Node;
namespace nn = aot::nn;
using Integers = std::vector<int64_t>;

constexpr int64_t kMaxElements = 8192;
constexpr int64_t kMaxBatch = 3;
constexpr size_t kMaxSteps = 14;

class RandomModelBuilder {
 public:
  explicit RandomModelBuilder(std::span<const uint8_t> bytes) : choose(bytes), build("Random") {}

  Node* call(const std::string& op, ArgumentList args) {
    return build.call("aten." + op, std::move(args));
  }
  template <class... Names>
  const char* one_of(const Names*... names) {
    const char* const all[] = {names...};
    return all[choose.below(sizeof...(names))];
  }
  // Returns a result of rank `min_rank` to `max_rank`; null if none exists.
  Node* pick(size_t min_rank, size_t max_rank) {
    std::vector<Node*> fitting;
    for (Node* node : results) {
      const size_t rank = node->tensor()->rank();
      if (rank >= min_rank && rank <= max_rank) fitting.push_back(node);
    }
    // Prefers results of later calls, so that models are deep.
    if (fitting.empty()) return nullptr;
    const size_t back = std::min(choose.below(fitting.size()), choose.below(fitting.size()));
    return fitting[fitting.size() - 1 - back];
  }
  Node* like(const Node* other) {
    std::vector<Node*> fitting;
    for (Node* node : results) {
      if (node->tensor()->sizes == other->tensor()->sizes) fitting.push_back(node);
    }
    return fitting[choose.below(fitting.size())];
  }
  int64_t dim_of(const Node* x, size_t first = 0) {
    return static_cast<int64_t>(first + choose.below(x->tensor()->rank() - first));
  }
  // Returns the size of a dim, or its upper bound if it is dynamic.
  static int64_t size(const Node* x, int64_t dim) {
    const aot::SymInt& size = x->tensor()->sizes[static_cast<size_t>(dim)];
    return size.is_static() ? size.value() : kMaxBatch;
  }
  static bool is_static(const Node* x, int64_t dim) {
    return x->tensor()->sizes[static_cast<size_t>(dim)].is_static();
  }
  std::string fresh_name() { return "layer" + std::to_string(layers_++); }

  Choices choose;
  aot::ModelBuilder build;
  std::vector<Node*> results;

 private:
  int layers_ = 0;
};

// Adds calls to the model and returns the result; null if no existing result is suitable.
using Step = Node* (*)(RandomModelBuilder&);

Node* unary(RandomModelBuilder& m) {
  Node* x = m.pick(0, 4);
  const char* op = m.one_of("relu.default", "neg.default", "abs.default", "tanh.default",
                            "sigmoid.default", "hardswish.default", "silu.default", "elu.default",
                            "hardtanh.default", "leaky_relu.default", "sin.default", "erf.default");
  return m.call(op, {x});
}

Node* gelu(RandomModelBuilder& m) {
  return m.build.call("aten.gelu.default", {m.pick(0, 4)},
                      {{"approximate", Argument(m.one_of("none", "tanh"))}});
}

Node* root_or_exponential(RandomModelBuilder& m) {
  Node* x = m.pick(0, 4);
  if (m.choose.below(2) == 0) {  // keeps away from zero, where sqrt amplifies errors
    x = m.call("add.Scalar", {m.call("abs.default", {x}), 0.25});
    return m.call("sqrt.default", {x});
  }
  return m.call("exp.default", {m.call("clamp.default", {x, -4.0, 2.0})});
}

Node* binary(RandomModelBuilder& m) {
  Node* x = m.pick(0, 4);
  const char* op = m.one_of("add.Tensor", "sub.Tensor", "mul.Tensor", "maximum.default",
                            "minimum.default", "div.Tensor");
  Node* y = m.like(x);
  if (std::string_view(op) == "div.Tensor") {
    y = m.call("add.Scalar", {m.call("abs.default", {y}), 1.0});
  }
  return m.call(op, {x, y});
}

Node* broadcast(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  const int64_t dim = m.dim_of(x);
  Node* mean = m.call("mean.dim", {x, Integers{dim}, true});
  const char* op = m.one_of("add.Tensor", "sub.Tensor", "mul.Tensor");
  return m.choose.below(2) == 0 ? m.call(op, {x, mean}) : m.call(op, {mean, x});
}

Node* with_number(RandomModelBuilder& m) {
  Node* x = m.pick(0, 4);
  const double number = static_cast<double>(m.choose.below(9)) / 4 - 1;
  return m.call(m.one_of("add.Tensor", "mul.Tensor", "sub.Tensor"), {x, number});
}

Node* reduction(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  const char* op = m.one_of("mean.dim", "sum.dim_IntList", "amax.default", "amin.default");
  Integers dims = {m.dim_of(x)};
  const int64_t other = m.dim_of(x);
  if (other != dims[0] && m.choose.below(2) == 0) dims.push_back(other);
  return m.call(op, {x, dims, m.choose.below(2) == 0});
}

Node* softmax(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  return m.call(m.one_of("softmax.int", "log_softmax.int"), {x, m.dim_of(x)});
}

Node* permutation(RandomModelBuilder& m) {
  Node* x = m.pick(2, 4);
  Integers order(x->tensor()->rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[m.choose.below(i)]);
  return m.call("permute.default", {x, order});
}

Node* view(RandomModelBuilder& m) {
  switch (m.choose.below(4)) {
    case 0: {
      Node* x = m.pick(3, 4);
      return x == nullptr ? nullptr : m.call("flatten.using_ints", {x, 1, -1});
    }
    case 1: {
      Node* x = m.pick(0, 3);
      return x == nullptr
                 ? nullptr
                 : m.call("unsqueeze.default",
                          {x, static_cast<int64_t>(m.choose.below(x->tensor()->rank() + 1))});
    }
    case 2: {
      Node* x = m.pick(1, 4);
      const int64_t dim = m.dim_of(x);
      return RandomModelBuilder::is_static(x, dim) ? m.call("squeeze.dim", {x, dim}) : nullptr;
    }
    default: {
      Node* x = m.pick(1, 3);
      if (x == nullptr) return nullptr;
      const int64_t dim = m.dim_of(x), size = RandomModelBuilder::size(x, dim);
      if (!RandomModelBuilder::is_static(x, dim) || size % 2 != 0) return nullptr;
      return m.call("unflatten.int", {x, dim, Integers{2, size / 2}});
    }
  }
}

Node* part(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  const int64_t dim = m.dim_of(x), size = RandomModelBuilder::size(x, dim);
  if (!RandomModelBuilder::is_static(x, dim) || size < 2) return nullptr;
  const auto start = static_cast<int64_t>(m.choose.below(static_cast<size_t>(size)));
  switch (m.choose.below(3)) {
    case 0:
      return m.call("select.int", {x, dim, start});
    case 1:
      return m.call("slice.Tensor",
                    {x, dim, start, size, 1 + static_cast<int64_t>(m.choose.below(2))});
    default: {
      Node* halves = m.call("split_with_sizes.default", {x, Integers{1, size - 1}, dim});
      Node* first = m.build.item(halves, 0);
      m.results.push_back(first);
      return m.build.item(halves, 1);
    }
  }
}

Node* joined(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  ArgumentList tensors = {x, m.like(x)};
  if (m.choose.below(2) == 0) tensors.emplace_back(m.like(x));
  return m.call(m.one_of("cat.default", "stack.default"),
                {Argument::list(std::move(tensors)), m.dim_of(x)});
}

Node* padded(RandomModelBuilder& m) {
  Node* x = m.pick(1, 4);
  const auto before = static_cast<int64_t>(m.choose.below(3));
  const auto after = static_cast<int64_t>(m.choose.below(3));
  return m.call("constant_pad_nd.default",
                {x, Integers{before, after}, static_cast<double>(m.choose.below(3)) - 1});
}

Node* image_layer(RandomModelBuilder& m) {
  Node* x = m.pick(4, 4);
  if (x == nullptr) return nullptr;
  for (const int64_t dim : {1, 2, 3}) {
    if (!RandomModelBuilder::is_static(x, dim)) return nullptr;
  }
  const int64_t channels = RandomModelBuilder::size(x, 1), height = RandomModelBuilder::size(x, 2),
                width = RandomModelBuilder::size(x, 3);
  const std::string name = m.fresh_name();
  const int64_t kernel = 1 + 2 * static_cast<int64_t>(m.choose.below(2));
  if (height < kernel || width < kernel) return nullptr;
  switch (m.choose.below(6)) {
    case 0:
      return nn::conv2d(m.build, name, x, channels,
                        {.kernel = kernel, .padding = kernel / 2, .groups = channels});
    case 1:
      return nn::batch_norm2d(m.build, name, x);
    case 2:
      return m.call("max_pool2d.default", {x, Integers{kernel, kernel}, Integers{2, 2}});
    case 3:
      return m.call("avg_pool2d.default", {x, Integers{kernel, kernel}, Integers{1, 1},
                                           Integers{kernel / 2, kernel / 2}});
    default:
      return nn::conv2d(m.build, name, x, 1 + static_cast<int64_t>(m.choose.below(20)),
                        {.kernel = kernel,
                         .stride = 1 + static_cast<int64_t>(m.choose.below(2)),
                         .padding = static_cast<int64_t>(m.choose.below(2)),
                         .bias = m.choose.below(2) == 0});
  }
}

Node* row_layer(RandomModelBuilder& m) {
  Node* x = m.pick(2, 4);
  if (x == nullptr ||
      !RandomModelBuilder::is_static(x, -1 + static_cast<int64_t>(x->tensor()->rank()))) {
    return nullptr;
  }
  const std::string name = m.fresh_name();
  if (m.choose.below(3) == 0) return nn::layer_norm(m.build, name, x);
  return nn::linear(m.build, name, x, 1 + static_cast<int64_t>(m.choose.below(40)),
                    m.choose.below(2) == 0);
}

Node* product(RandomModelBuilder& m) {
  Node* x = m.pick(3, 4);
  if (x == nullptr) return nullptr;
  Node* y = m.like(x);
  if (m.choose.below(2) == 0 && x->tensor()->rank() == 4) {
    return m.call("scaled_dot_product_attention.default", {x, y, m.like(x)});
  }
  return m.call("matmul.default", {x, m.call("transpose.int", {y, -1, -2})});
}

constexpr Step kSteps[] = {
    unary,       unary,       gelu,        root_or_exponential, binary,    binary, broadcast,
    with_number, reduction,   softmax,     permutation,         view,      part,   joined,
    padded,      image_layer, image_layer, row_layer,           row_layer, product};

int64_t elements(const Node* x) {
  int64_t count = 1;
  for (size_t d = 0; d < x->tensor()->rank(); ++d) {
    count *= RandomModelBuilder::size(x, static_cast<int64_t>(d));
  }
  return count;
}

// Adds a random step. Later steps do not use its result if the step is invalid, or if the result is
// empty, too large, or not an f32 tensor of at most four dims.
void add_step(RandomModelBuilder& m) {
  const size_t before = m.results.size();
  try {
    Node* made = kSteps[m.choose.below(std::size(kSteps))](m);
    if (made != nullptr) m.results.push_back(made);
  } catch (const aot::AotError&) {
    m.results.resize(before);
  }
  std::erase_if(m.results, [](const Node* node) {
    return node->tensor()->dtype != ScalarType::kFloat || node->tensor()->rank() > 4 ||
           elements(node) > kMaxElements || elements(node) == 0;
  });
}

}  // namespace

RandomModel random_model(std::span<const uint8_t> choices) {
  RandomModelBuilder m(choices);
  RandomModel made;
  const int32_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 12};
  const size_t rank = 2 + m.choose.below(3);
  made.dynamic_batch = m.choose.one_in(3);
  made.input_sizes = {static_cast<int32_t>(made.dynamic_batch ? kMaxBatch : 1)};
  for (size_t d = 1; d < rank; ++d) {
    made.input_sizes.push_back(sizes[m.choose.below(std::size(sizes))]);
  }
  std::vector<aot::SymInt> shape(made.input_sizes.begin(), made.input_sizes.end());
  if (made.dynamic_batch) shape[0] = m.build.dynamic_size(1, kMaxBatch);
  made.num_inputs = 1 + m.choose.below(2);
  for (size_t i = 0; i < made.num_inputs; ++i) {
    m.results.push_back(m.build.input("x" + std::to_string(i), ScalarType::kFloat, shape));
  }
  for (size_t step = 0; step < kMaxSteps && (step == 0 || m.choose.has_bytes_left()); ++step)
    add_step(m);
  // Outputs must not be inputs, so that every model has at least one call.
  const std::vector<Node*> computed(
      m.results.begin() + static_cast<std::ptrdiff_t>(made.num_inputs), m.results.end());
  std::vector<Node*> outputs;
  if (computed.empty()) {
    outputs = {m.call("neg.default", {m.results[0]})};
  } else {
    outputs = {computed.back()};
    Node* second = computed[m.choose.below(computed.size())];
    if (second != outputs[0]) outputs.push_back(second);
  }
  made.program = m.build.finish(outputs);
  return made;
}

}  // namespace vitrine::test

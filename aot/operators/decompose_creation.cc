#include <fmt/format.h>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

void dropout(Decomposition& to) {
  if (to.boolean("train"))
    to.refuse("training mode is not supported; export the model in evaluation mode");
  to.replace(to.self());
}

// Decomposes conversions such as to.dtype. The result's spec states the dtype and strides.
void convert(Decomposition& to) {
  Node* x = to.self();
  const TensorSpec& before = *x->tensor();
  const TensorSpec& after = to.spec();
  if (before.dtype == after.dtype && before.strides == after.strides) return to.replace(x);
  ArgumentMap kwargs;
  if (to.node().target().overload() == "dtype_layout") {
    kwargs = to.kwargs({"dtype", "layout", "device", "memory_format"});
  } else if (before.dtype != after.dtype) {
    kwargs.emplace_back("dtype", after.dtype);
  }
  to.replace(to.call("aten._to_copy.default", {x}, after, std::move(kwargs)));
}

void clone(Decomposition& to) { to.replace(to.call("aten.clone.default", {to.self()}, to.spec())); }

// Replaces a copying operator, such as "aten.t_copy.default", with a view and a copy of the view.
void copy_of_view(Decomposition& to) {
  const Target target = to.node().target();
  const std::string_view op = target.op().substr(0, target.op().rfind("_copy"));
  const std::string view = fmt::format("aten.{}.{}", op, target.overload());
  Node* made = to.make(view, to.node().args(), to.node().kwargs());
  to.replace(to.make("aten.clone.default", {made}, {{"memory_format", MemoryFormat::kContiguous}}));
}

void fill(Decomposition& to) {
  to.replace(to.call("aten.full_like.default", {to.self(), to.arg("value")}, to.spec(),
                     {{"pin_memory", false}}));
}
void fill_with_tensor(Decomposition& to) {
  to.replace(to.call("aten.copy.default", {to.self(), to.arg("value")}, to.spec()));
}

namespace {

// Returns the keyword arguments of a call that creates the result. If the call omits the dtype and
// `adds_dtype` is set, uses the result's dtype.
ArgumentMap creation_kwargs(Decomposition& to, bool adds_dtype) {
  ArgumentMap kwargs = to.kwargs({"dtype"});
  if (kwargs.empty() && adds_dtype) return Decomposition::creation_kwargs(to.spec().dtype);
  kwargs.emplace_back("layout", Layout::kStrided);
  kwargs.emplace_back("device", Device());
  kwargs.emplace_back("pin_memory", false);
  return kwargs;
}

template <int value>
void filled(Decomposition& to) {
  const bool is_bool = to.spec().dtype == ScalarType::kBool;
  const Argument number = is_bool ? Argument(value != 0) : Argument(value);
  to.replace(
      to.call("aten.full.default", {to.arg("size"), number}, to.spec(), creation_kwargs(to, true)));
}
template <int value>
void filled_like(Decomposition& to) {
  ArgumentMap kwargs = to.kwargs({"dtype", "layout", "device"});
  kwargs.emplace_back("pin_memory", false);
  kwargs.emplace_back("memory_format", to.arg("memory_format", MemoryFormat::kPreserve));
  to.replace(to.call("aten.full_like.default", {to.self(), value}, to.spec(), std::move(kwargs)));
}

}  // namespace

// Decomposes new_zeros(self, size) and similar operators. The default dtype is that of self.
void filled_new(Decomposition& to) {
  const std::string_view op = to.node().target().op();
  const ScalarType dtype = to.spec().dtype;
  Argument number = op == "new_full" ? to.arg("fill_value") : Argument(op == "new_ones" ? 1 : 0);
  to.replace(to.call("aten.full.default", {to.arg("size"), number}, to.spec(),
                     Decomposition::creation_kwargs(dtype)));
}

void uninitialized(Decomposition& to) {
  const TensorSpec spec = to.spec();
  to.replace(to.make("aten.empty.memory_format", {to.size_list(spec.sizes)},
                     Decomposition::creation_kwargs(spec.dtype)));
}
void random_like(Decomposition& to) {
  const TensorSpec spec = to.spec();
  const bool is_normal = to.node().target().op() == "randn_like";
  to.replace(to.call(is_normal ? "aten.randn.default" : "aten.rand.default",
                     {to.size_list(spec.sizes)}, contiguous_spec(spec.dtype, spec.sizes),
                     Decomposition::creation_kwargs(spec.dtype)));
}

void arange(Decomposition& to) {
  ArgumentList args = to.node().args();
  if (to.node().target().overload() == "default") args.insert(args.begin(), Argument(0));
  to.replace(
      to.call("aten.arange.start_step", std::move(args), to.spec(), creation_kwargs(to, false)));
}

void eye(Decomposition& to) {
  const Sizes& sizes = to.spec().sizes;
  const auto count = [&](const SymInt& size) {
    const bool fits_a_byte = size.is_static() && size.value() <= 255;
    return to.make(
        "aten.arange.start_step", {0, to.size(size)},
        Decomposition::creation_kwargs(fits_a_byte ? ScalarType::kByte : ScalarType::kLong));
  };
  Node* rows = count(sizes.at(0));
  Node* columns = count(sizes.at(1));
  rows = to.unsqueeze(rows, -1);
  to.replace(to.convert(to.make("aten.eq.Tensor", {rows, columns}), to.spec().dtype));
}

// Computes each element of linspace from the nearer end of the range, so that both ends are exact.
void linspace(Decomposition& to) {
  const Argument start = to.arg("start");
  const Argument end = to.arg("end");
  const int64_t steps = to.integer("steps");
  const ScalarType dtype = to.spec().dtype;
  if (!is_floating(dtype)) to.refuse("only float dtypes are supported");
  if (steps < 1) to.refuse("steps must be positive");
  const double step =
      steps == 1 ? 0 : (to.number("end") - to.number("start")) / static_cast<double>(steps - 1);
  if (steps == 1) {
    to.replace(to.make("aten.full.default", {Dims{1}, start}, {{"dtype", dtype}}));
    return;
  }
  Node* index = to.range(0, steps);
  Node* is_first = to.make("aten.lt.Scalar", {index, static_cast<double>(steps) / 2});
  Node* first = to.make("aten.mul.Tensor", {to.convert(index, dtype), step});
  first = to.add(first, start);
  Node* second = to.convert(to.sub(steps - 1, index), dtype);
  second = to.mul(second, step);
  second = to.sub(end, second);
  to.replace(to.where(is_first, first, second));
}

// Decomposes tril and triu, which set the elements on one side of a diagonal to 0.
void triangle(Decomposition& to) {
  Node* x = to.self();
  const TensorSpec& spec = *x->tensor();
  if (spec.rank() < 2) to.refuse("the input must have at least two dims");
  const SymInt rows = spec.sizes[spec.rank() - 2];
  const SymInt columns = spec.sizes[spec.rank() - 1];
  Node* column = to.make("aten.unsqueeze.default", {to.range(0, columns), -2});
  Node* row = to.make("aten.unsqueeze.default", {to.range(0, rows), -1});
  Node* distance = to.sub(column, row);
  const bool is_lower = to.node().target().op() == "tril";
  Node* kept =
      to.make(is_lower ? "aten.le.Scalar" : "aten.ge.Scalar", {distance, to.integer("diagonal")});
  if (spec.dtype == ScalarType::kBool) {
    to.replace(to("logical_and", kept, x));
  } else {
    to.replace(to.make("aten.where.self", {kept, x, to.scalar(0, spec.dtype)}));
  }
}

// Computes the row and column of each element in a triangle of a matrix. The elements are numbered
// row by row. The row of element i is the number of rows that end before element i.
void triangle_indices(Decomposition& to) {
  const int64_t rows = to.integer("row");
  const int64_t columns = to.integer("col");
  const int64_t offset = to.integer("offset");
  constexpr int64_t kMax = 1 << 15;
  if (rows < 0 || columns < 0 || rows > kMax || columns > kMax || offset > kMax || offset < -kMax) {
    to.refuse("row and col must be from 0 to 32768, and offset from -32768 to 32768");
  }
  const bool is_lower = to.node().target().op() == "tril_indices";
  // Each tensor has one item per row of the matrix. `begins` is the row's first column in the
  // triangle, `widths` is the number of columns in the triangle, and `ends` is the running sum of
  // `widths`.
  Node* row = to.count(0, rows);
  Node* diagonal = to.add(row, offset);
  Node* begins = is_lower ? to.mul(row, 0) : to("clamp", diagonal, 0, columns);
  Node* widths = is_lower ? to("clamp", to.add(diagonal, 1), 0, columns) : to.sub(columns, begins);
  Node* ends = to("cumsum", widths, 0);
  const SymInt count = to.spec().sizes.at(1);
  Node* index = to.count(0, count);
  Node* is_past = to.compare("ge", to.unsqueeze(index, -1), ends);
  Node* row_of = to.sum(is_past, {-1});
  Node* before = to.sub(to.index(ends, {row_of}), to.index(widths, {row_of}));
  Node* column_of = to.add(to.sub(index, before), to.index(begins, {row_of}));
  Node* both = to.make("aten.stack.default", {Argument::list({row_of, column_of})});
  to.replace(to.convert(both, to.spec().dtype));
}

// Computes logspace: powers of `base` with evenly spaced exponents.
void logspace(Decomposition& to) {
  const ScalarType dtype = to.spec().dtype;
  const double base = to.number("base");
  Node* exponents = to.make("aten.linspace.default",
                            {to.arg("start"), to.arg("end"), to.arg("steps")}, {{"dtype", dtype}});
  to.replace(to.make("aten.pow.Scalar", {base, exponents}));
}

void one_hot(Decomposition& to) {
  const int64_t classes = to.integer("num_classes");
  if (classes < 1) to.refuse("num_classes must be given");
  Node* labels = to.make("aten.unsqueeze.default", {to.self(), -1});
  Node* numbers = to.make("aten.arange.start_step", {0, classes},
                          Decomposition::creation_kwargs(ScalarType::kLong));
  Node* equal = to.make("aten.eq.Tensor", {labels, numbers});
  to.replace(to.convert(equal, ScalarType::kLong));
}

void ones(Decomposition& to) { filled<1>(to); }
void ones_like(Decomposition& to) { filled_like<1>(to); }
void zeros(Decomposition& to) { filled<0>(to); }
void zeros_like(Decomposition& to) { filled_like<0>(to); }

}  // namespace vitrine::aot::decompositions

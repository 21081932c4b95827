// Every kernel, called with whatever a program may hold: it returns, with an Error where the call
// is wrong, reads and writes nothing but its arguments, and takes little memory and time. Most of
// this only shows under AddressSanitizer and UndefinedBehaviorSanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/op_arguments.h"

// Of the sanitizers, where they are.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace vitrine::test {
namespace {

using Kind = Argument::Kind;
using Arguments = std::vector<Argument>;

constexpr size_t kMaxTemp = size_t{64} << 20;
constexpr int kRandomCalls = 250;  // for each line of the table

const std::map<std::string_view, const Kernel*>& kernels_by_name() {
  static const auto kernels = [] {
    std::map<std::string_view, const Kernel*> result;
    // The optimised kernels take over in a run of their own.
    if (std::getenv("VITRINE_TEST_OPTIMIZED") != nullptr) {
      for (const Kernel* kernel : optimized::kernels().kernels) {
        result.emplace(kernel->name, kernel);
      }
    }
    for (const KernelTable& table : {portable::kernels(), quantized::kernels()}) {
      for (const Kernel* kernel : table.kernels) result.emplace(kernel->name, kernel);
    }
    return result;
  }();
  return kernels;
}

const std::vector<OpCall>& op_calls() {
  static const std::vector<OpCall> calls = all_op_calls();
  return calls;
}

// What a sanitizer's report is about.
const OpCall* current_call = nullptr;
void print_current_call() {
  if (current_call != nullptr) std::fprintf(stderr, "CALL %s\n", current_call->text().c_str());
}

// Calls, and demands what holds for every call.
Error run(const OpCall& call) {
  Values values(call.arguments);
  HeapArena temp(1, kMaxTemp);  // chunks of what is asked for, for AddressSanitizer
  current_call = &call;
  const std::clock_t start = std::clock();
  Error error = values.call(*kernels_by_name().at(call.name), temp);
  const auto seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  current_call = nullptr;
  EXPECT_TRUE(values.inputs_intact()) << call.text() << ": an input was written to";
  EXPECT_LT(seconds, 1) << call.text();
  if (!error.ok()) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << call.text() << ": " << error.message();
    EXPECT_NE(error.code(), ErrorCode::kMemoryAllocationFailed)
        << call.text() << ": " << error.message();
    EXPECT_STRNE(error.message(), "") << call.text();
  }
  return error;
}

// ---- Hostile values

std::vector<int64_t> hostile_ints(size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  return {INT64_MIN,
          INT64_MIN + 1,
          INT32_MIN,
          -r - 1,
          -r,
          -2,
          -1,
          0,
          1,
          2,
          3,
          r,
          1 << 20,
          INT32_MAX,
          int64_t{1} << 31,
          int64_t{1} << 32,
          int64_t{1} << 62,
          INT64_MAX - 1,
          INT64_MAX};
}

constexpr double kHostileDoubles[] = {std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      1e300,
                                      -1e300,
                                      0x1p63,
                                      -0x1p63,
                                      0x1p31,
                                      -1.5,
                                      0.0,
                                      -0.0,
                                      5e-324,
                                      1e-40};

constexpr int64_t kHostileTypes[] = {INT64_MIN, -129, -128, -1,  30,  31,
                                     127,       128,  255,  256, 261, INT64_MAX};

std::vector<std::vector<int32_t>> hostile_shapes(const std::vector<int32_t>& sizes) {
  std::vector<std::vector<int32_t>> shapes = {{},
                                              {0},
                                              {1},
                                              {7},
                                              {2, 3},
                                              {3, 2},
                                              {1, 1},
                                              {0, 3},
                                              {2, 0},
                                              {2, 2, 2},
                                              {1, 2, 0, 2},
                                              {1, 1, 4, 4},
                                              {1, 2, 2, 2, 2},
                                              {2, 1, 1, 1, 1, 1, 1, 2},
                                              std::vector<int32_t>(16, 1),
                                              {0, INT32_MAX},
                                              {INT32_MAX, 0},
                                              {0, INT32_MAX, INT32_MAX, INT32_MAX},
                                              {INT32_MAX, INT32_MAX, 0}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int32_t old = std::min(sizes[i], 1000);
    for (const int32_t size : {0, 1, old - 1, old + 1, 2 * old}) {
      if (size < 0 || size > 1000) continue;
      shapes.push_back(sizes);
      shapes.back()[i] = size;
    }
  }
  if (!sizes.empty()) {
    shapes.emplace_back(sizes.begin() + 1, sizes.end());
    shapes.emplace_back(sizes.begin(), sizes.end() - 1);
    shapes.emplace_back(sizes.rbegin(), sizes.rend());
  }
  for (const int32_t size : {0, 1, 2}) {
    shapes.push_back(sizes);
    shapes.back().insert(shapes.back().begin(), size);
    shapes.push_back(sizes);
    shapes.back().push_back(size);
  }
  std::erase_if(shapes, [](const auto& shape) {
    const Result<int64_t> numel = checked_numel(shape);
    return shape.size() > kMaxRank || !numel.ok() || *numel > 4096;
  });
  return shapes;
}

// Dim orders of a tensor of this rank besides 0, 1, 2, ...
std::vector<std::vector<uint8_t>> dim_orders(size_t rank) {
  std::vector<std::vector<uint8_t>> orders;
  if (rank < 2) return orders;
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::swap(order[rank - 2], order[rank - 1]);
  orders.push_back(order);
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::rotate(order.begin() + 1, order.begin() + (rank > 2 ? 2 : 1), order.end());
  if (rank > 2) orders.push_back(order);  // channels last
  std::reverse(order.begin(), order.end());
  orders.push_back(order);
  return orders;
}

Argument parsed(std::string_view text) {
  return ArgumentParser("=" + std::string(text)).arguments().at(0);
}

// A value of every kind.
const std::vector<Argument>& any_values() {
  static const auto values = [] {
    std::vector<Argument> result;
    for (const char* text :
         {"none", "1", "-1", "1.5", "true", "'text'", "[1,2]", "[0.5]", "[true]", "[]", "f32[2,3]",
          "!f32[2,3]", "i64[2]", "(f32[2,3])", "!(f32[2,3])", "?(none,i64[2])"}) {
      std::string argument("=");
      result.push_back(ArgumentParser(argument.append(text)).arguments().at(0));
    }
    return result;
  }();
  return values;
}

class Mutator {
 public:
  explicit Mutator(const Arguments& arguments) : arguments_(arguments), rank_(rank_of(arguments)) {}

  static size_t rank_of(const Arguments& arguments) {
    for (const Argument& argument : arguments) {
      if (argument.is_tensor()) return argument.sizes.size();
      if (argument.is_list_of_tensors()) return rank_of(argument.items);
    }
    return 0;
  }

  // Everything that argument `index` may become.
  std::vector<Argument> variants(size_t index) const {
    std::vector<Argument> result = variants_of(arguments_[index]);
    for (Argument value : any_values()) {
      value.name = arguments_[index].name;
      value.output = arguments_[index].output;
      for (Argument& item : value.items) item.output = value.output;
      result.push_back(std::move(value));
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (i == index) continue;
      Argument& same = result.emplace_back();
      same.kind = Kind::kSame;
      same.name = arguments_[index].name;
      same.integer = static_cast<int64_t>(i);
      if (!arguments_[index].output) continue;
      result.push_back(arguments_[index]);
      result.back().shares_memory_of = static_cast<int>(i);
    }
    return result;
  }

 private:
  std::vector<Argument> variants_of(const Argument& value) const {
    std::vector<Argument> result;
    const auto add = [&](const auto& change) {
      Argument& variant = result.emplace_back(value);
      change(variant);
    };
    switch (value.kind) {
      case Kind::kNone:
      case Kind::kSame:
        break;
      case Kind::kInt:
        for (const int64_t number : hostile_ints(rank_)) add([&](auto& v) { v.integer = number; });
        for (const double number : kHostileDoubles) add([&](auto& v) { set_real(v, number); });
        break;
      case Kind::kDouble:
        for (const double number : kHostileDoubles) add([&](auto& v) { v.real = number; });
        for (const int64_t number : hostile_ints(rank_)) add([&](auto& v) { set_int(v, number); });
        break;
      case Kind::kBool:
        add([](auto& v) { v.integer = 1 - v.integer; });
        break;
      case Kind::kString:
        for (const char* text : {"", "none", "tanh", "trunc", "floor", "tan", "tanhh"}) {
          add([&](auto& v) { v.text = text; });
        }
        add([](auto& v) { v.text = std::string(4000, 'x'); });
        break;
      case Kind::kScalarType:
        for (const int64_t number : kHostileTypes) add([&](auto& v) { v.integer = number; });
        for (int i = 0; i < kNumScalarTypes; ++i) add([&](auto& v) { v.integer = i; });
        break;
      case Kind::kInts:
        for (size_t i = 0; i < value.ints.size(); ++i) {
          for (const int64_t number : hostile_ints(rank_)) {
            add([&](auto& v) { v.ints[i] = number; });
          }
        }
        for (const int64_t number : hostile_ints(rank_)) {
          add([&](auto& v) { std::fill(v.ints.begin(), v.ints.end(), number); });
        }
        resize_list(value.ints, [&](const auto& list) { add([&](auto& v) { v.ints = list; }); });
        break;
      case Kind::kDoubles:
        for (size_t i = 0; i < value.doubles.size(); ++i) {
          for (const double number : kHostileDoubles) add([&](auto& v) { v.doubles[i] = number; });
        }
        resize_list(value.doubles,
                    [&](const auto& list) { add([&](auto& v) { v.doubles = list; }); });
        break;
      case Kind::kBools:
        for (size_t i = 0; i < value.bools.size(); ++i) add([&](auto& v) { v.bools[i].flip(); });
        resize_list(value.bools, [&](const auto& list) { add([&](auto& v) { v.bools = list; }); });
        break;
      case Kind::kTensors:
      case Kind::kOptionalTensors:
        for (size_t i = 0; i < value.items.size(); ++i) {
          for (const Argument& item : variants_of(value.items[i])) {
            add([&](auto& v) { v.items[i] = item; });
          }
          add([&](auto& v) { v.items[i] = Argument(); });
        }
        add([](auto& v) { std::reverse(v.items.begin(), v.items.end()); });
        add([](auto& v) { v.items.assign(40, v.items[0]); });
        resize_list(value.items, [&](const auto& list) { add([&](auto& v) { v.items = list; }); });
        break;
      case Kind::kTensor:
        add_tensors(add, value);
        break;
    }
    return result;
  }

  template <class Add>
  void add_tensors(const Add& add, const Argument& value) const {
    for (const auto& sizes : hostile_shapes(value.sizes)) {
      add([&](auto& v) { v.sizes = sizes; });
      if (value.output) {
        add([&](auto& v) {
          v.sizes = sizes;
          v.is_static = true;
        });
      }
    }
    for (const auto& order : dim_orders(value.sizes.size())) {
      add([&](auto& v) { v.dim_order = order; });
    }
    for (int i = 0; i < kNumScalarTypes; ++i) {
      add([&](auto& v) { v.dtype = static_cast<ScalarType>(i); });
    }
    for (const int64_t number : hostile_ints(rank_)) {
      add([&](auto& v) { v.elements = {Number::of(number)}; });
      add([&](auto& v) { v.elements = {Number::of(int64_t{0}), Number::of(number)}; });
    }
    for (const double number : kHostileDoubles) {
      add([&](auto& v) { v.elements = {Number::of(number)}; });
      add([&](auto& v) { v.elements = {Number::of(1.0), Number::of(number), Number::of(-2.0)}; });
    }
    for (const int byte : {0x7f, 0x80, 0xcd, 0xff}) add([&](auto& v) { v.pattern = byte; });
    add([](auto& v) { v.is_static = true; });
    add([](auto& v) { v.roomy = true; });
    add([](auto& v) { v.no_memory = true; });
    add([](auto& v) { v.read_only = true; });
  }

  static void set_real(Argument& value, double number) {
    value.kind = Kind::kDouble;
    value.real = number;
  }
  static void set_int(Argument& value, int64_t number) {
    value.kind = Kind::kInt;
    value.integer = number;
  }

  template <class List, class Add>
  static void resize_list(const List& list, const Add& add) {
    add(List());
    if (list.empty()) return;
    add(List(list.begin() + 1, list.end()));
    for (const size_t count : {list.size() + 1, size_t{16}, size_t{17}, size_t{20}}) {
      List longer = list;
      longer.resize(count, list.back());
      add(longer);
      longer = list;
      longer.insert(longer.begin(), count - std::min(count, list.size()), list.front());
      add(longer);
    }
    List turned = list;
    std::reverse(turned.begin(), turned.end());
    add(turned);
  }

  const Arguments& arguments_;
  size_t rank_;
};

// Changes that fit together lead kernels past their checks.
void for_tensors(Arguments& arguments, const std::function<void(Argument&)>& change) {
  for (Argument& argument : arguments) {
    if (argument.is_tensor()) change(argument);
    if (argument.is_list_of_tensors()) for_tensors(argument.items, change);
  }
}

void change_jointly(Arguments& arguments, std::mt19937& random) {
  const auto choose = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  switch (choose(6)) {
    case 0: {  // the floats are of another dtype
      const auto dtype = static_cast<ScalarType>(choose(kNumScalarTypes));
      const ScalarType old = choose(4) == 0 ? ScalarType::kLong : ScalarType::kFloat;
      for_tensors(arguments, [&](Argument& tensor) {
        if (tensor.dtype == old) tensor.dtype = dtype;
      });
      break;
    }
    case 1: {  // tensors of one shape are of another one
      std::vector<int32_t> old;
      for_tensors(arguments, [&](Argument& tensor) {
        if (old.empty() || choose(3) == 0) old = tensor.sizes;
      });
      const auto shapes = hostile_shapes(old);
      const auto& sizes = shapes[choose(shapes.size())];
      for_tensors(arguments, [&](Argument& tensor) {
        if (tensor.sizes == old) tensor.sizes = sizes;
      });
      break;
    }
    case 2: {  // tensors of one rank are of another dim order
      size_t rank = 4;
      for_tensors(arguments, [&](Argument& tensor) {
        if (choose(2) == 0) rank = tensor.sizes.size();
      });
      const auto orders = dim_orders(rank);
      if (orders.empty()) break;
      const auto& order = orders[choose(orders.size())];
      for_tensors(arguments, [&](Argument& tensor) {
        if (tensor.sizes.size() == rank) tensor.dim_order = order;
      });
      break;
    }
    case 3: {  // every number of all tensors is hostile
      const Number number = choose(2) == 0
                                ? Number::of(kHostileDoubles[choose(std::size(kHostileDoubles))])
                                : Number::of(hostile_ints(2)[choose(hostile_ints(2).size())]);
      for_tensors(arguments, [&](Argument& tensor) {
        if (tensor.dtype != ScalarType::kLong) tensor.elements = {number};
      });
      break;
    }
    default:
      break;
  }
  if (choose(2) == 0) {
    for_tensors(arguments, [](Argument& tensor) { tensor.roomy = tensor.output; });
  }
}

// ---- Every kernel

TEST(HostileArguments, EveryKernelHasALine) {
  std::set<std::string_view> named;
  for (const OpCall& call : op_calls()) {
    EXPECT_TRUE(kernels_by_name().contains(call.name)) << "no kernel " << call.name;
    named.insert(call.name);
  }
  for (const auto& [name, kernel] : kernels_by_name()) {
    EXPECT_TRUE(named.contains(name)) << "op_arguments.inc has no line for " << name;
  }
}

TEST(HostileArguments, TheTableIsRight) {
  for (const OpCall& call : op_calls()) EXPECT_TRUE(succeeds(run(call))) << call.text();
}

class HostileCall : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (__sanitizer_set_death_callback != nullptr) {
      __sanitizer_set_death_callback(print_current_call);
    }
  }
  const OpCall& sample() const { return op_calls()[GetParam()]; }
};

TEST_P(HostileCall, OneArgument) {
  const Mutator mutator(sample().arguments);
  for (size_t i = 0; i < sample().arguments.size(); ++i) {
    for (Argument& variant : mutator.variants(i)) {
      OpCall call = sample();
      call.arguments[i] = std::move(variant);
      (void)run(call);
    }
  }
}

// Tensors of one shape become tensors of another one, together: past the checks of shapes.
TEST_P(HostileCall, OneShape) {
  std::set<std::vector<int32_t>> olds;
  OpCall call = sample();
  for_tensors(call.arguments, [&](Argument& tensor) { olds.insert(tensor.sizes); });
  for (const std::vector<int32_t>& old : olds) {
    for (const std::vector<int32_t>& sizes : hostile_shapes(old)) {
      call = sample();
      for_tensors(call.arguments, [&](Argument& tensor) {
        if (tensor.sizes == old) tensor.sizes = sizes;
      });
      (void)run(call);
    }
  }
}

TEST_P(HostileCall, SeveralArguments) {
  if (sample().arguments.size() < 2) return;
  const Mutator mutator(sample().arguments);
  std::vector<std::vector<Argument>> variants;
  for (size_t i = 0; i < sample().arguments.size(); ++i) variants.push_back(mutator.variants(i));
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  for (int i = 0; i < kRandomCalls; ++i) {
    OpCall call = sample();
    for (auto n = random() % 3; n > 0; --n) {
      const size_t index = random() % call.arguments.size();
      call.arguments[index] = variants[index][random() % variants[index].size()];
    }
    change_jointly(call.arguments, random);
    (void)run(call);
  }
}

std::string test_name(const testing::TestParamInfo<size_t>& info) {
  std::string name = std::to_string(info.param);
  for (const char c : op_calls()[info.param].name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllKernels, HostileCall, testing::Range(size_t{0}, op_calls().size()),
                         test_name);

// ---- Wrong calls that must be refused, for all operators that have such an argument

testing::AssertionResult refused(const OpCall& call) {
  const Error error = run(call);
  if (!error.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << call.text();
}

// change(argument, try_call): for each argument of all operators; try_call() calls as it is now.
template <class Change>
void each_argument(const Change& change) {
  for (const OpCall& sample : op_calls()) {
    OpCall call = sample;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      change(call, call.arguments[i]);
      call.arguments[i] = sample.arguments[i];
    }
  }
}

bool is_one_of_names(const Argument& argument, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, std::string_view(argument.name)) != names.end();
}

int64_t rank_for_dims(const OpCall& call) {
  const auto rank = static_cast<int64_t>(Mutator::rank_of(call.arguments));
  // These make a dimension.
  return call.name.starts_with("aten::unsqueeze_copy") || call.name.starts_with("aten::stack")
             ? rank + 1
             : rank;
}

TEST(RefusedCall, DimensionOutOfRange) {
  size_t calls = 0;
  each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"dim", "dim0", "dim1", "dim2", "dims", "dimension", "axis"})) {
      return;
    }
    const int64_t rank = rank_for_dims(call);
    for (const int64_t dim : {rank, -rank - 1, INT64_MIN, INT64_MAX}) {
      if (argument.kind == Kind::kInt) argument.integer = dim;
      if (argument.kind == Kind::kInts) argument.ints.back() = dim;
      EXPECT_TRUE(refused(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 150u);
}

TEST(RefusedCall, DimensionNamedTwice) {
  each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"dim", "dims"}) || argument.kind != Kind::kInts) return;
    if (call.name == "aten::roll.out") return;  // rolls twice, as PyTorch
    const int64_t rank = rank_for_dims(call);
    argument.ints = {0, -rank};
    EXPECT_TRUE(refused(call));
    argument.ints.assign(20, 1);
    EXPECT_TRUE(refused(call));
  });
}

TEST(RefusedCall, IndexOutOfRange) {
  size_t calls = 0;
  const auto refuse_indices = [&](const OpCall& call, Argument& tensor) {
    for (const int64_t index : {int64_t{1} << 20, int64_t{-1} << 20, int64_t{INT32_MIN}}) {
      tensor.elements = {Number::of(int64_t{0}), Number::of(index)};
      EXPECT_TRUE(refused(call));
      ++calls;
    }
  };
  each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"index", "indices"}) || argument.output) return;
    if (argument.is_tensor()) refuse_indices(call, argument);
    if (argument.kind == Kind::kOptionalTensors) {
      for (Argument& item : argument.items) {
        if (item.is_tensor() && item.dtype != ScalarType::kBool) refuse_indices(call, item);
      }
    }
    if (argument.kind != Kind::kInt) return;
    for (const int64_t index : {int64_t{1} << 20, int64_t{-1} << 20, INT64_MIN, INT64_MAX}) {
      argument.integer = index;
      EXPECT_TRUE(refused(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 50u);
}

TEST(RefusedCall, NumberOutOfRange) {
  // At least this, in every place of a list.
  struct Least {
    std::string_view name;
    int64_t value;
  };
  constexpr Least kLeast[] = {
      {"size", -1},
      {"output_size", 0},
      {"repeats", 0},
      {"split_sizes", 0},
      {"normalized_shape", 0},
      {"kernel_size", 1},
      {"length", 0},
      {"split_size", 0},
      {"k", 0},
      {"groups", 1},
      {"group", 1},
      {"N", 0},
      {"C", 0},
      {"HxW", 0},
      {"dilation", 1},
      {"step", 1},
      {"upscale_factor", 1},
      {"downscale_factor", 1},
      {"storage_offset", 0},
      {"output_padding", 0},
  };
  size_t calls = 0;
  each_argument([&](OpCall& call, Argument& argument) {
    const auto* least = std::ranges::find(kLeast, std::string_view(argument.name), &Least::name);
    int64_t lowest = least != std::end(kLeast) ? least->value : INT64_MAX;
    // Strides of windows are positive, of memory not negative; padding of windows likewise.
    const bool windows =
        call.name.find("pool") != call.name.npos || call.name.find("convolution") != call.name.npos;
    if (argument.name == "stride") lowest = windows ? 1 : 0;
    if (argument.name == "padding" && windows) lowest = 0;
    if (lowest == INT64_MAX || call.name.starts_with("aten::arange")) return;
    const Argument original = argument;
    for (const int64_t number : {lowest - 1, int64_t{-2}, INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
      if (argument.name == "step" && number == INT64_MAX) continue;  // one step is enough
      if (argument.kind == Kind::kInt) {
        argument.integer = number;
        EXPECT_TRUE(refused(call));
        ++calls;
      }
      for (size_t i = 0; i < argument.ints.size(); ++i) {
        argument.ints[i] = number;
        EXPECT_TRUE(refused(call));
        argument = original;
        ++calls;
      }
    }
  });
  EXPECT_GT(calls, 250u);
}

TEST(RefusedCall, ShapesThatDoNotMatch) {
  size_t calls = 0;
  each_argument([&](OpCall& call, Argument& argument) {
    if (argument.output || !argument.is_tensor()) return;
    if (!is_one_of_names(argument, {"other",
                                    "mask",
                                    "exponent",
                                    "mat1",
                                    "mat2",
                                    "weight",
                                    "bias",
                                    "min",
                                    "max",
                                    "src",
                                    "grad_output",
                                    "grid",
                                    "b",
                                    "x2",
                                    "values",
                                    "running_mean",
                                    "running_var",
                                    "copy_from",
                                    "scales",
                                    "weight_scales",
                                    "weight_zero_points",
                                    "zero_points"})) {
      return;
    }
    if (call.name.starts_with("aten::pow.Scalar") || argument.sizes.empty()) return;
    if (call.name.starts_with("aten::embedding") ||
        (argument.name == "weight" && call.name.find("embedding") != call.name.npos)) {
      return;  // weight alone decides the shape
    }
    // What is beyond the index is not read.
    if (argument.name == "src" && call.name.starts_with("aten::scatter")) return;
    // Neither broadcast to what the others are.
    for (const std::vector<int32_t>& sizes :
         {std::vector<int32_t>{7}, {7, 5}, {5, 7, 5}, {3, 5, 7, 5}}) {
      argument.sizes = sizes;
      EXPECT_TRUE(refused(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 200u);
}

TEST(RefusedCall, OutputOfAnotherStaticShape) {
  size_t calls = 0;
  each_argument([&](OpCall& call, Argument& argument) {
    const auto refuse = [&](Argument& tensor) {
      tensor.is_static = true;
      tensor.sizes.push_back(7);
      EXPECT_TRUE(refused(call));
      tensor.sizes.pop_back();
      if (tensor.sizes.empty()) return;
      tensor.sizes.back() += 1;
      EXPECT_TRUE(refused(call));
      ++calls;
    };
    if (!argument.output) return;
    if (argument.is_tensor()) refuse(argument);
    for (Argument& item : argument.items) {
      const Argument original = item;
      refuse(item);
      item = original;
    }
  });
  EXPECT_GT(calls, 200u);
}

TEST(RefusedCall, ValueOfAnotherKind) {
  each_argument([&](OpCall& call, Argument& argument) {
    if (call.name == "executorch_prim::sym_ite.Scalar" && argument.kind != Kind::kBool) {
      return;  // not read unless chosen
    }
    const Argument original = argument;
    for (const char* text : {"'text'", "[0.5]", "2", "f32[2]"}) {
      argument = parsed(text);
      // Numbers may stand for numbers.
      const bool number = argument.kind == Kind::kInt &&
                          (original.kind == Kind::kInt || original.kind == Kind::kDouble ||
                           original.kind == Kind::kBool || original.kind == Kind::kScalarType);
      if (number || argument.kind == original.kind || original.kind == Kind::kNone) continue;
      EXPECT_TRUE(refused(call));
    }
  });
}

// A kernel that has read the shape of an input must not see it change.
TEST(RefusedCall, OutputThatIsAnInputOfAnotherShape) {
  for (const auto& [name, arguments] : std::vector<std::pair<const char*, const char*>>{
           {"quantized_decomposed::mixed_mm.out",
            "input=!f32[2,3] weight=i8[3,4] weight_scales=f32[3] weight_zero_points=none out=none"},
           {"aten::pixel_unshuffle.out", "self=!f32[1,4,2,2] downscale_factor=2 out=none"}}) {
    OpCall call{name, ArgumentParser(arguments).arguments()};
    call.arguments.front().roomy = true;
    call.arguments.back().kind = Kind::kSame;  // as the first, 0
    EXPECT_TRUE(fails(run(call), ErrorCode::kInvalidProgram, "an input of the operator as well"))
        << call.text();
  }
  KernelCall call;
  Tensor& out = call.make(ScalarType::kFloat, {4, 3}, {}, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(out.resize(std::vector<int32_t>{1, 3}).ok());
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({&out, &out}), 0, out),
                    ErrorCode::kInvalidProgram, "an input of the operator as well"));
  // In place is fine.
  EXPECT_TRUE(succeeds(call.run("aten::relu.out", out, out)));
}

TEST(RefusedCall, TensorWithoutMemory) {
  each_argument([&](OpCall& call, Argument& argument) {
    if (!argument.is_tensor() || call.name.starts_with("aten::sym_")) return;
    if (call.name == "executorch_prim::et_view.default" && argument.output) return;  // gets it
    argument.no_memory = true;
    EXPECT_TRUE(refused(call));
    argument.no_memory = false;
    argument.read_only = true;
    if (argument.output) {
      EXPECT_TRUE(refused(call));
    }
  });
}

}  // namespace
}  // namespace vitrine::test

// Makes invalid and unusual arguments that a program may pass to an operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "test/kernels/op_arguments.h"

namespace vitrine::test {

using Kind = Argument::Kind;
using Arguments = std::vector<Argument>;

inline std::vector<int64_t> hostile_ints(size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  constexpr int64_t kBit31 = int64_t{1} << 31, kBit32 = int64_t{1} << 32, kBit62 = int64_t{1} << 62;
  return {kMin, kMin + 1, INT32_MIN, -r - 1,    -r,     -2,     -1,     0,        1,   2,
          3,    r,        1 << 20,   INT32_MAX, kBit31, kBit32, kBit62, kMax - 1, kMax};
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHostileDoubles[] = {kNan,   kInf, -kInf, 1e300, -1e300, 0x1p63, -0x1p63,
                                      0x1p31, -1.5, 0.0,   -0.0,  5e-324, 1e-40};

constexpr int64_t kHostileTypes[] = {INT64_MIN, -129, -128, -1,  30,  31,
                                     127,       128,  255,  256, 261, INT64_MAX};

inline std::vector<std::vector<int32_t>> hostile_shapes(const std::vector<int32_t>& sizes) {
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
                                              {0, 1 << 20, 1 << 20, 1 << 18},
                                              {1 << 28, 1 << 30, 0},
                                              {1 << 29, 0, 1 << 29}};
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

// Returns some dim orders for tensors of this rank, such as channels-last. None of them is
// row-major.
inline std::vector<std::vector<uint8_t>> dim_orders(size_t rank) {
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

inline Argument parsed(std::string_view text) {
  return ArgumentParser("=" + std::string(text)).arguments().at(0);
}

inline const std::vector<Argument>& any_values() {
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

  // Returns all values that the tests try in place of argument `index`.
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
        add([](auto& v) {
          if (!v.items.empty()) v.items.assign(40, Argument(v.items[0]));
        });
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
    List reversed = list;
    std::reverse(reversed.begin(), reversed.end());
    add(reversed);
  }

  const Arguments& arguments_;
  size_t rank_;
};

// Applies the same change to all tensors. A kernel that only checks whether its tensors match may
// accept such a change.
inline void for_tensors(Arguments& arguments, const std::function<void(Argument&)>& change) {
  for (Argument& argument : arguments) {
    if (argument.is_tensor()) change(argument);
    if (argument.is_list_of_tensors()) for_tensors(argument.items, change);
  }
}

// Returns byte offsets at which tensor `a` can begin in tensor `b`, such as the second element or
// the middle of `b`. If an offset is negative, `b` begins in `a`.
inline std::vector<int64_t> overlaps(const Argument& a, const Argument& b) {
  std::vector<int64_t> result{0};
  const auto add = [&](const Argument& guest, const Argument& host, int64_t sign) {
    const auto element = static_cast<int64_t>(element_size(guest.dtype));
    auto bytes = static_cast<int64_t>(element_size(host.dtype));
    for (const int32_t size : host.sizes) bytes *= size;
    for (const int64_t offset :
         {element, 2 * element, 3 * element, bytes / 4, bytes / 2, bytes - element}) {
      if (offset > 0) result.push_back(sign * offset);
    }
  };
  add(a, b, 1);
  add(b, a, -1);
  return result;
}

// For each pair of an output and another tensor of the call, and each offset from overlaps(): calls
// visit() with a call in which the two tensors share memory.
template <class Visit>
void for_overlaps(OpCall call, const Visit& visit) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.arguments[i].output) continue;
    const Argument output = call.arguments[i];
    for (size_t k = 0; k < call.arguments.size(); ++k) {
      const Argument other = call.arguments[k];
      for (size_t a = 0; a < output.tensors().size(); ++a) {
        for (size_t b = i == k ? a + 1 : 0; b < other.tensors().size(); ++b) {
          if (!other.tensors()[b].is_tensor()) continue;
          for (const int64_t offset : overlaps(output.tensors()[a], other.tensors()[b])) {
            Argument& sharing = call.arguments[i];
            sharing.shares_memory_of = static_cast<int>(k);
            sharing.shares_item = a;
            sharing.shared_item = b;
            sharing.shares_from = offset;
            visit(call);
          }
        }
      }
    }
    call.arguments[i] = output;
  }
}

// Applies a random change to several arguments at once.
inline void change_jointly(Arguments& arguments, std::mt19937& random) {
  const auto choose = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  switch (choose(6)) {
    case 0: {  // changes the dtype of all tensors of one dtype
      const auto dtype = static_cast<ScalarType>(choose(kNumScalarTypes));
      const ScalarType old = choose(4) == 0 ? ScalarType::kLong : ScalarType::kFloat;
      for_tensors(arguments, [&](Argument& tensor) {
        if (tensor.dtype == old) tensor.dtype = dtype;
      });
      break;
    }
    case 1: {  // changes the shape of all tensors of one shape
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
    case 2: {  // changes the dim order of all tensors of one rank
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
    case 3: {  // sets all elements to a hostile number
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

}  // namespace vitrine::test

#include "aot/import/native_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "aot/import/import_error.h"
#include "aot/import/import_limits.h"
#include "formats/native/native_schema.h"

namespace vitrine::aot {
namespace {

using delegates::FlatTable;

constexpr size_t kMaxQuoted = 80;
constexpr int64_t kMaxDim = int64_t{1} << 31;

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", text.substr(0, kMaxQuoted));
}

using native::ArgumentKind;

enum OpKind : int8_t { kCallFunction = 0 };
enum ResultKind : int8_t {
  kTensorResult = 0,
  kListResult = 1,
  kIntResult = 2,
  kBoolResult = 3,
  kFloatResult = 4,
};

const Operator* find_any(Target target) {
  const Operator* op = operator_of(target);
  return op == nullptr ? find_functional(target.name()) : op;
}

// True if the value is the operator's default. torch.export omits such arguments, but Native files
// contain them.
bool is_default(const Argument& value, const OperatorArgument& declared) {
  if (!declared.has_default) return false;
  struct Compare {
    const Argument& value;
    bool operator()(std::monostate) const { return value.is_none(); }
    bool operator()(bool wanted) const {
      const bool* found = value.get<bool>();
      return found != nullptr && *found == wanted;
    }
    bool operator()(int64_t wanted) const {
      if (const int64_t* found = value.get<int64_t>()) return *found == wanted;
      return (*this)(static_cast<double>(wanted));
    }
    bool operator()(double wanted) const { return value == Argument(wanted); }
    bool operator()(std::string_view wanted) const {
      const std::string* found = value.get<std::string>();
      return found != nullptr && *found == wanted;
    }
    bool operator()(const std::vector<int64_t>& wanted) const { return value == Argument(wanted); }
  };
  return std::visit(Compare{value}, declared.default_value);
}

template <class T>
struct Named {
  std::string_view name;
  T value;
};
constexpr Named<MemoryFormat> kMemoryFormats[] = {
    {"contiguous_format", MemoryFormat::kContiguous},
    {"preserve_format", MemoryFormat::kPreserve},
    {"channels_last", MemoryFormat::kChannelsLast},
    {"channels_last_3d", MemoryFormat::kChannelsLast3d}};

// Converts a number or text to the declared type, if possible. The file's schema lacks types for
// layouts, devices and memory formats.
Argument converted(Argument value, const OperatorArgument& declared) {
  if (value.is_none()) return value;
  const std::string* text = value.get<std::string>();
  const int64_t* number = value.get<int64_t>();
  std::string_view name = text == nullptr ? std::string_view() : std::string_view(*text);
  if (name.starts_with("torch.")) name.remove_prefix(std::string_view("torch.").size());
  switch (declared.type) {
    case ArgumentType::kMemoryFormat: {
      // Row i of kMemoryFormats is the c10::MemoryFormat with the numeric value i.
      if (number != nullptr && *number >= 0 && *number < std::ssize(kMemoryFormats)) {
        return kMemoryFormats[*number].value;
      }
      const auto* row = std::ranges::find(kMemoryFormats, name, &Named<MemoryFormat>::name);
      return row == std::end(kMemoryFormats) ? value : Argument(row->value);
    }
    case ArgumentType::kLayout: {
      const bool is_strided = name == "strided" || (number != nullptr && *number == 0);
      return is_strided ? Argument(Layout::kStrided) : value;
    }
    case ArgumentType::kDevice:
      return name.starts_with("cpu") ? Argument(Device{}) : value;
    case ArgumentType::kBool:
      return number == nullptr ? value : Argument(*number != 0);
    case ArgumentType::kFloat:
      return number == nullptr ? value : Argument(static_cast<double>(*number));
    default:
      return value;
  }
}

template <class T, class Make>
Argument list_of(const std::vector<T>& items, Make make) {
  ArgumentList list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(make(item));
  return Argument::list(std::move(list));
}

bool is_condition(std::string_view target) {
  return target == "cond" || (target.ends_with(".cond") && !target.starts_with("torch.ops.aten."));
}

}  // namespace

TensorSpec read_native_meta(const FlatTable& meta, const std::string& place) {
  const auto fail = [&](std::string_view what) {
    throw ImportError(fmt::format("{}: {}", place, what));
  };
  const auto number = meta.number<int8_t>(0);
  const auto dtype = native::native_dtype(number);
  if (!dtype) fail(fmt::format("unknown dtype {}", number));
  if (meta.has(3)) {
    fail(
        "is quantized (QuantSpec), which is not supported: write the model with float weights, or "
        "with the operators of quantized_decomposed");
  }
  const std::vector<FlatTable> dims = meta.tables(1);
  if (dims.size() > kMaxRank) fail(fmt::format("has more than {} dims", kMaxRank));
  std::vector<SymInt> sizes;
  for (const FlatTable& dim : dims) {
    const auto min = dim.number<int64_t>(0);
    const auto max = dim.number<int64_t>(1, -1);
    if (min != max) {
      fail(fmt::format("dim {} is dynamic ({} to {}); only static shapes are supported",
                       sizes.size(), min, max < 0 ? "any size" : fmt::to_string(max)));
    }
    if (min < 0 || min >= kMaxDim)
      fail(fmt::format("dim {} has the invalid size {}", sizes.size(), min));
    sizes.emplace_back(min);
  }
  TensorSpec spec = contiguous_spec(*dtype, std::move(sizes));
  const auto order = meta.numbers<int32_t>(2);
  if (order.empty()) return spec;
  std::vector<uint8_t> dim_order(order.begin(), order.end());
  std::vector<int32_t> sorted = order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != spec.rank() || sorted[i] != static_cast<int32_t>(i)) {
      fail("its dim order does not list each dim once");
    }
  }
  spec.strides = dense_strides(spec.sizes, dim_order);
  return spec;
}

NativeGraphReader::NativeGraphReader(const FlatTable& table, Graph& graph, std::string place,
                                     int depth)
    : table_(table), graph_(graph), place_(std::move(place)), depth_(depth) {
  for (const FlatTable& value : table_.tables(3)) {
    if (const auto meta = value.table(1)) metas_.emplace(value.text(0), *meta);
  }
}

void NativeGraphReader::fail(std::string_view what) const {
  throw ImportError(node_.empty() ? fmt::format("{}: {}", place_, what)
                                  : fmt::format("{}: node {}: {}", place_, in_quotes(node_), what));
}

void NativeGraphReader::define(std::string_view name, Node* node) {
  if (!values_.emplace(name, node).second) {
    fail(fmt::format("value {} is defined twice", in_quotes(name)));
  }
}

Node* NativeGraphReader::value_of(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    fail(fmt::format("value {} is not defined before its use", in_quotes(name)));
  }
  return found->second;
}

TensorSpec NativeGraphReader::spec_of(std::string_view name) const {
  const auto found = metas_.find(name);
  if (found == metas_.end()) fail(fmt::format("tensor_values lacks {}", in_quotes(name)));
  return read_native_meta(found->second, fmt::format("{}: value {}", place_, in_quotes(name)));
}

Node* NativeGraphReader::add_input(std::string_view name, TensorSpec spec) {
  Node* node = graph_.placeholder(name.empty() ? "input" : name);
  node->meta.value = std::move(spec);
  define(name, node);
  return node;
}

void NativeGraphReader::read() {
  for (const FlatTable& node : table_.tables(0)) {
    if (node.number<int8_t>(1) == kCallFunction) read_node(node);
  }
  node_.clear();
  ArgumentList results;
  for (const std::string_view name : table_.texts(2)) results.emplace_back(value_of(name));
  graph_.set_output(Argument::tuple(std::move(results)));
}

Argument NativeGraphReader::subgraph(const FlatTable& argument) {
  if (depth_ == kMaxGraphDepth) {
    fail(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
  }
  const std::string_view name = argument.text(0);
  Node* node = graph_.get_attr(graph_.unique_name(name.empty() ? "graph" : name));
  const FlatTable table = argument.needed_table(1, "the graph of an argument");
  auto inner = std::make_unique<Graph>();
  NativeGraphReader reader(table, *inner, fmt::format("{}: graph {}", place_, in_quotes(name)),
                           depth_ + 1);
  for (const std::string_view input : table.texts(1)) reader.add_input(input);
  reader.read();
  graph_.subgraphs()[node->attribute()] = std::move(inner);
  return node;
}

Argument NativeGraphReader::argument(const FlatTable& wrapped) {
  const auto kind = static_cast<ArgumentKind>(wrapped.number<uint8_t>(0));
  const auto body = wrapped.table(1);
  if (kind == ArgumentKind::kNone) return {};
  if (!body) fail("an argument has no value");
  const auto tensor = [&](std::string_view name) -> Argument { return value_of(name); };
  switch (kind) {
    case ArgumentKind::kTensor:
      return tensor(body->text(0));
    case ArgumentKind::kInt:
      if (!body->text(1).empty()) return tensor(body->text(1));
      return body->number<int64_t>(0);
    case ArgumentKind::kFloat:
      if (!body->text(1).empty()) return tensor(body->text(1));
      return body->number<double>(0);
    case ArgumentKind::kBool:
      if (!body->text(1).empty()) return tensor(body->text(1));
      return body->flag(0);
    case ArgumentKind::kString:
      return std::string(body->text(0));
    case ArgumentKind::kDtype: {
      const auto number = body->number<int8_t>(0);
      const auto dtype = native::native_dtype(number);
      if (!dtype) fail(fmt::format("unknown dtype {}", number));
      return *dtype;
    }
    case ArgumentKind::kIntList: {
      const auto values = body->numbers<int64_t>(0);
      const auto refs = body->texts(1);
      if (!refs.empty() && refs.size() != values.size()) {
        fail(
            fmt::format("a list has {} numbers and {} references; expected no references or "
                        "one per number",
                        values.size(), refs.size()));
      }
      ArgumentList list;
      for (size_t i = 0; i < values.size(); ++i) {
        const bool is_literal = refs.empty() || refs[i].empty();
        list.push_back(is_literal ? Argument(values[i]) : tensor(refs[i]));
      }
      return Argument::list(std::move(list));
    }
    case ArgumentKind::kFloatList:
      return list_of(body->numbers<double>(0), [](double item) { return Argument(item); });
    case ArgumentKind::kBoolList:
      return list_of(body->numbers<uint8_t>(0), [](uint8_t item) { return Argument(item != 0); });
    case ArgumentKind::kTensorList:
      return list_of(body->texts(0), tensor);
    case ArgumentKind::kOptionalTensorList: {
      const auto names = body->texts(0);
      const auto has_value = body->numbers<uint8_t>(1);
      if (names.size() != has_value.size()) {
        fail(fmt::format("a list has {} names and {} flags; expected one flag per name",
                         names.size(), has_value.size()));
      }
      ArgumentList list;
      for (size_t i = 0; i < names.size(); ++i) {
        list.push_back(has_value[i] == 0 ? Argument() : tensor(names[i]));
      }
      return Argument::list(std::move(list));
    }
    case ArgumentKind::kGraph:
      return subgraph(*body);
    default:
      fail(fmt::format("arguments of kind {} are not supported (a newer schema?)",
                       wrapped.number<uint8_t>(0)));
  }
}

void NativeGraphReader::read_arguments(const FlatTable& table, Target target, ArgumentList& args,
                                       ArgumentMap& kwargs) {
  const Operator* op = find_any(target);
  size_t needed = 0;  // positional arguments up to the last that is not a default
  for (const FlatTable& named : table.tables(3)) {
    const std::string_view name = named.text(0);
    Argument value = argument(named.needed_table(1, "the value of an argument"));
    const OperatorArgument* declared = op == nullptr ? nullptr : op->argument(name);
    if (op != nullptr && declared == nullptr) {
      fail(fmt::format("{} has no argument {}", target.name(), in_quotes(name)));
    }
    if (declared != nullptr) value = converted(std::move(value), *declared);
    const bool is_unneeded = declared != nullptr && is_default(value, *declared);
    if (declared != nullptr && declared->is_keyword_only) {
      if (!is_unneeded) kwargs.emplace_back(name, std::move(value));
      continue;
    }
    if (declared != nullptr &&
        (args.size() >= op->arguments.size() || op->arguments[args.size()].name != name)) {
      fail(fmt::format("argument {} of {} is at the wrong position", in_quotes(name),
                       target.name()));
    }
    args.push_back(std::move(value));
    if (!is_unneeded) needed = args.size();
  }
  args.resize(needed);
}

Value NativeGraphReader::read_result(const FlatTable& output) const {
  const auto kind = output.number<int8_t>(2);
  Value::Number number;
  switch (kind) {
    case kTensorResult: {
      const std::string_view name = output.text(0);
      return metas_.contains(name) ? Value(spec_of(name)) : Value();
    }
    case kListResult: {
      Value::Items items;
      for (const std::string_view name : output.texts(3)) {
        items.push_back(metas_.contains(name) ? Value(spec_of(name)) : Value());
      }
      return items;
    }
    case kIntResult:
      return number;
    case kBoolResult:
      number.kind = Value::Number::Kind::kBool;
      return number;
    case kFloatResult:
      number.kind = Value::Number::Kind::kFloat;
      return number;
    default:
      fail(fmt::format("results of kind {} are not supported (a newer schema?)", kind));
  }
}

void NativeGraphReader::add_getitem(std::string_view name, Node* from, size_t index,
                                    const Value& value) {
  if (name.empty()) return;
  Node* item = graph_.call(getitem(), {from, static_cast<int64_t>(index)}, {}, nullptr, name);
  item->meta.value = value;
  define(name, item);
}

void NativeGraphReader::read_results(const FlatTable& table, Node* node, bool is_tuple) {
  const std::vector<FlatTable> outputs = table.tables(4);
  if (outputs.size() == 1 && !is_tuple) {
    node->meta.value = read_result(outputs.front());
    const std::vector<std::string_view> names = outputs.front().texts(3);
    if (const Value::Items* items = node->meta.value.items()) {
      const Value::Items values = *items;
      for (size_t i = 0; i < names.size(); ++i) add_getitem(names[i], node, i, values[i]);
    } else {
      define(outputs.front().text(0), node);
    }
    return;
  }
  Value::Items items;
  for (const FlatTable& output : outputs) {
    if (output.number<int8_t>(2) == kListResult) {
      fail("one of several results is a list, which is not supported");
    }
    items.push_back(read_result(output));
    add_getitem(output.text(0), node, items.size() - 1, items.back());
  }
  if (!items.empty()) node->meta.value = std::move(items);
}

void NativeGraphReader::read_node(const FlatTable& table) {
  node_ = table.text(0);
  const std::string_view text = table.text(2);
  if (text.empty() || text.size() > kMaxTargetLength) {
    fail(fmt::format("its target has {} characters; expected 1 to {}", text.size(),
                     kMaxTargetLength));
  }
  const bool is_cond = is_condition(text);
  const Target target = is_cond ? Target::of("cond", Dialect::kHigherOrder) : Target::parse(text);
  ArgumentList args;
  ArgumentMap kwargs;
  read_arguments(table, target, args, kwargs);
  const Operator* op = find_any(target);
  const bool is_tuple = is_cond || (op != nullptr && op->results.size() > 1);
  Node* node = graph_.call(target, std::move(args), std::move(kwargs), nullptr, node_);
  read_results(table, node, is_tuple);
}

}  // namespace vitrine::aot

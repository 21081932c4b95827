#include "test/aot/import/native_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "operators/operator.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/flat_writer.h"

namespace vitrine::test {
namespace {

using aot::Argument;
using aot::ArgumentList;
using aot::Node;
using Flat = FlatWriter;

// A dtype with its number in the schema's enum ScalarType and its name in safetensors.
struct DtypeName {
  ScalarType dtype;
  int8_t number;
  const char* name;
};
constexpr DtypeName kDtypes[] = {
    {ScalarType::kByte, 0, "U8"},    {ScalarType::kChar, 1, "I8"},
    {ScalarType::kShort, 2, "I16"},  {ScalarType::kInt, 3, "I32"},
    {ScalarType::kLong, 4, "I64"},   {ScalarType::kHalf, 5, "F16"},
    {ScalarType::kFloat, 6, "F32"},  {ScalarType::kDouble, 7, "F64"},
    {ScalarType::kBool, 11, "BOOL"}, {ScalarType::kBFloat16, 15, "BF16"}};

const DtypeName& dtype_name(ScalarType dtype) {
  const auto* row = std::ranges::find(kDtypes, dtype, &DtypeName::dtype);
  if (row == std::end(kDtypes)) throw NotExpressible("a dtype");
  return *row;
}

class PackageWriter {
 public:
  void add_method(const std::string& name, const aot::ExportedProgram& program) {
    std::vector<Flat::Offset> constants, buffers, outputs;
    std::set<std::string> weights;
    for (const aot::InputSpec& input : program.signature.inputs) {
      if (input.kind == aot::InputSpec::Kind::kUserInput && input.literal.is_none()) continue;
      const aot::TensorData* data = program.data_of(input);
      if (data == nullptr) throw NotExpressible("an input that is a literal");
      weights.insert(input.name);
      const bool is_mutated = program.is_mutated(input);
      const std::vector<std::byte> bytes = aot::row_major_bytes(*data);
      const bool is_zero =
          std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
      if (is_mutated && is_zero) {
        buffers.push_back(flat_.table({text(0, input.name), text(1, input.target)}));
        continue;
      }
      add_data(input.target, *data, bytes);
      const int8_t kind = input.kind == aot::InputSpec::Kind::kParameter ? 1
                          : input.kind == aot::InputSpec::Kind::kBuffer  ? 2
                                                                         : 3;
      const aot::TensorSpec spec =
          aot::contiguous_spec(data->dtype, {data->sizes.begin(), data->sizes.end()});
      constants.push_back(flat_.table({text(0, input.name), text(1, input.target),
                                       Flat::link(2, meta(spec)), Flat::number<int8_t>(3, kind),
                                       Flat::number<uint8_t>(4, is_mutated ? 1 : 0)}));
    }
    for (const aot::OutputSpec& output : program.signature.outputs) {
      if (output.name.empty()) throw NotExpressible("an output that is a literal");
      using Kind = aot::OutputSpec::Kind;
      const int8_t kind = output.kind == Kind::kUserOutput          ? 0
                          : output.kind == Kind::kBufferMutation    ? 1
                          : output.kind == Kind::kUserInputMutation ? 2
                                                                    : -1;
      if (kind < 0) throw NotExpressible("an output of another kind");
      outputs.push_back(flat_.table(
          {text(0, output.name), Flat::number<int8_t>(1, kind), text(2, output.target)}));
    }
    const Flat::Offset graph = write_graph(*program.graph, weights);
    methods_.push_back(
        flat_.table({text(0, name), Flat::link(1, graph), Flat::link(2, flat_.list(constants)),
                     Flat::link(3, flat_.list(outputs)), Flat::link(4, flat_.list(buffers))}));
  }

  std::vector<std::byte> finish() {
    const AlignedBytes graph =
        flat_.finish(flat_.table({text(0, "1"), Flat::link(1, flat_.list(methods_))}), "NPTG");
    ArchiveMembers members = {
        {"program.ptg", {reinterpret_cast<const char*>(graph.data()), graph.size()}}};
    if (!header_.empty()) {
      std::string header = header_.dump();
      header.resize((header.size() + 7) / 8 * 8, ' ');
      const uint64_t size = header.size();
      std::string file(reinterpret_cast<const char*>(&size), sizeof size);
      members.emplace_back("program.safetensors", file + header + data_);
    }
    return write_zip(members);
  }

 private:
  Flat::Field text(uint16_t slot, const std::string& text) {
    return Flat::link(slot, flat_.text(text));
  }

  void add_data(const std::string& key, const aot::TensorData& data,
                const std::vector<std::byte>& bytes) {
    if (const auto old = stored_.find(key); old != stored_.end()) {
      if (old->second != bytes) throw NotExpressible("a key with two values");
      return;
    }
    stored_.emplace(key, bytes);
    const size_t begin = data_.size();
    data_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    header_[key] = {{"dtype", dtype_name(data.dtype).name},
                    {"shape", data.sizes},
                    {"data_offsets", {begin, data_.size()}}};
  }

  Flat::Offset meta(const aot::TensorSpec& spec) {
    if (!spec.is_static()) throw NotExpressible("a dynamic shape");
    std::vector<Flat::Offset> dims;
    for (const aot::SymInt& size : spec.sizes) {
      dims.push_back(flat_.table(
          {Flat::number<int64_t>(0, size.value()), Flat::number<int64_t>(1, size.value())}));
    }
    std::vector<Flat::Field> fields = {Flat::number<int8_t>(0, dtype_name(spec.dtype).number),
                                       Flat::link(1, flat_.list(dims))};
    if (spec.strides != aot::contiguous_strides(spec.sizes)) {
      const std::vector<uint8_t> order = aot::dim_order_of(spec);
      fields.push_back(
          Flat::link(2, flat_.numbers(std::vector<int32_t>(order.begin(), order.end()))));
    }
    return flat_.table(fields);
  }

  void add_value(const std::string& name, const aot::Value& value,
                 std::vector<Flat::Offset>& values) {
    if (value.tensor() == nullptr) return;
    values.push_back(flat_.table({text(0, name), Flat::link(1, meta(*value.tensor()))}));
  }

  Flat::Offset write_graph(const aot::Graph& graph, const std::set<std::string>& weights) {
    if (!graph.tensors().empty()) throw NotExpressible("constants of a subgraph");
    std::vector<Flat::Offset> nodes, inputs, outputs, values;
    for (const Node& node : graph.nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder) {
        if (node.tensor() == nullptr) throw NotExpressible("an input that is not a tensor");
        add_value(node.name(), node.meta.value, values);
        if (!weights.contains(node.name())) inputs.push_back(flat_.text(node.name()));
      } else if (node.is_call() && !node.calls(aot::getitem())) {
        nodes.push_back(write_node(node, values));
      } else if (node.kind() == Node::Kind::kOutput) {
        node.need(0).for_each_node(
            [&](const Node* result) { outputs.push_back(flat_.text(result->name())); });
      }
    }
    return flat_.table({Flat::link(0, flat_.list(nodes)), Flat::link(1, flat_.list(inputs)),
                        Flat::link(2, flat_.list(outputs)), Flat::link(3, flat_.list(values))});
  }

  Flat::Offset write_node(const Node& node, std::vector<Flat::Offset>& values) {
    const aot::Target target = node.target();
    const bool is_cond = target.is("cond");
    const Operator* op = aot::operator_of(target);
    if (target.dialect() == aot::Dialect::kHigherOrder && !is_cond) {
      throw NotExpressible(target.name());
    }
    if (op == nullptr && !is_cond) throw NotExpressible("an unknown operator");
    std::vector<Flat::Offset> inputs;
    const auto add = [&](std::string_view name, Flat::Offset value) {
      inputs.push_back(flat_.table({text(0, std::string(name)), Flat::link(1, value)}));
    };
    if (is_cond) {
      for (const Argument& value : node.args()) add("", argument(node, value, nullptr));
    } else {
      for (size_t i = 0; i < op->arguments.size(); ++i) {
        const OperatorArgument& declared = op->arguments[i];
        const Argument* value = declared.is_keyword_only || node.arg(i) == nullptr
                                    ? node.kwarg(declared.name)
                                    : node.arg(i);
        add(declared.name, value == nullptr ? argument(node, default_of(declared), &declared)
                                            : argument(node, *value, &declared));
      }
    }
    const std::string name =
        target.dialect() == aot::Dialect::kEdge ? "torch.ops." + target.name() : target.text();
    return flat_.table({text(0, node.name()), Flat::number<int8_t>(1, 0), text(2, name),
                        Flat::link(3, flat_.list(inputs)),
                        Flat::link(4, flat_.list(write_outputs(node, op, values)))});
  }

  std::vector<Flat::Offset> write_outputs(const Node& node, const Operator* op,
                                          std::vector<Flat::Offset>& values) {
    const aot::Value::Items* items = node.meta.value.items();
    if (items == nullptr) {
      add_value(node.name(), node.meta.value, values);
      int8_t kind = 0;
      if (const auto* number = node.meta.value.number()) {
        kind = static_cast<int8_t>(2 + (number->kind == aot::Value::Number::Kind::kBool    ? 1
                                        : number->kind == aot::Value::Number::Kind::kFloat ? 2
                                                                                           : 0));
      }
      return {flat_.table({text(0, node.name()), Flat::number<int8_t>(2, kind)})};
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < items->size(); ++i) {
      names.push_back(fmt::format("{}_unused_{}", node.name(), i));
      for (const Node* user : node.users()) {
        if (user->calls(aot::getitem()) && user->need(1) == Argument(static_cast<int64_t>(i))) {
          names.back() = user->name();
        }
      }
      add_value(names.back(), (*items)[i], values);
    }
    std::vector<Flat::Offset> outputs, list;
    for (const std::string& name : names) {
      outputs.push_back(flat_.table({text(0, name)}));
      list.push_back(flat_.text(name));
    }
    const bool is_list = op != nullptr && op->results.size() == 1 && op->results[0].is_list;
    if (!is_list) return outputs;
    return {
        flat_.table({text(0, ""), Flat::number<int8_t>(2, 1), Flat::link(3, flat_.list(list))})};
  }

  static Argument default_of(const OperatorArgument& declared) {
    struct Convert {
      Argument operator()(std::monostate) const { return {}; }
      Argument operator()(std::string_view value) const { return std::string(value); }
      Argument operator()(const std::vector<int64_t>& value) const { return Argument(value); }
      Argument operator()(bool value) const { return value; }
      Argument operator()(int64_t value) const { return value; }
      Argument operator()(double value) const { return value; }
    };
    return std::visit(Convert{}, declared.default_value);
  }

  Flat::Offset wrap(uint8_t type, const std::vector<Flat::Field>& fields) {
    return flat_.table({Flat::number<uint8_t>(0, type), Flat::link(1, flat_.table(fields))});
  }

  Flat::Offset argument(const Node& call, const Argument& value, const OperatorArgument* declared) {
    if (value.is_none()) return wrap(2, {});
    if (const Node* node = value.node()) {
      if (node->kind() == Node::Kind::kGetAttr) {
        const auto graph = node->graph().subgraphs().find(node->attribute());
        if (graph == node->graph().subgraphs().end()) throw NotExpressible("an attribute");
        return wrap(13,
                    {text(0, node->attribute()), Flat::link(1, write_graph(*graph->second, {}))});
      }
      if (node->tensor() != nullptr) return wrap(1, {text(0, node->name())});
      return wrap(3, {text(1, node->name())});
    }
    if (const auto* number = value.get<bool>()) {
      return wrap(5, {Flat::number<uint8_t>(0, *number ? 1 : 0)});
    }
    if (const auto* number = value.get<int64_t>()) {
      return wrap(3, {Flat::number<int64_t>(0, *number)});
    }
    if (const auto* number = value.get<double>()) {
      uint64_t bits = 0;
      std::memcpy(&bits, number, sizeof bits);
      return wrap(4, {Flat::number<uint64_t>(0, bits)});
    }
    if (const auto* string = value.get<std::string>()) return wrap(6, {text(0, *string)});
    if (const auto* dtype = value.get<ScalarType>()) {
      return wrap(7, {Flat::number<int8_t>(0, dtype_name(*dtype).number)});
    }
    if (const auto* format = value.get<aot::MemoryFormat>()) {
      constexpr int64_t kNumbers[] = {0, 2, 3, 1};  // of c10::MemoryFormat
      return wrap(3, {Flat::number<int64_t>(0, kNumbers[static_cast<size_t>(*format)])});
    }
    if (value.get<aot::Layout>() != nullptr) return wrap(6, {text(0, "torch.strided")});
    if (const auto* device = value.get<aot::Device>()) return wrap(6, {text(0, device->type)});
    if (value.list() != nullptr) return list(call, *value.list(), declared);
    throw NotExpressible("an argument");
  }

  Flat::Offset list(const Node& call, const ArgumentList& items, const OperatorArgument* declared) {
    const ArgumentType type = declared == nullptr ? ArgumentType::kTensor : declared->type;
    if (type == ArgumentType::kTensor) {
      std::vector<Flat::Offset> names;
      std::vector<uint8_t> has_value;
      for (const Argument& item : items) {
        names.push_back(flat_.text(item.is_none() ? "" : item.node()->name()));
        has_value.push_back(item.is_none() ? 0 : 1);
      }
      std::vector<Flat::Field> fields = {Flat::link(0, flat_.list(names))};
      const bool is_optional = declared != nullptr && declared->has_optional_items;
      if (is_optional) fields.push_back(Flat::link(1, flat_.numbers(has_value)));
      return wrap(is_optional ? 12 : 11, fields);
    }
    if (type == ArgumentType::kInt) {
      std::vector<int64_t> numbers;
      std::vector<Flat::Offset> refs;
      for (const Argument& item : items) {
        const int64_t* number = item.get<int64_t>();
        numbers.push_back(number == nullptr ? 0 : *number);
        if (number == nullptr && item.node() == nullptr) throw NotExpressible("a list");
        refs.push_back(flat_.text(number == nullptr ? item.node()->name() : ""));
      }
      return wrap(8, {Flat::link(0, flat_.numbers(numbers)), Flat::link(1, flat_.list(refs))});
    }
    if (type == ArgumentType::kBool) {
      std::vector<uint8_t> numbers;
      for (const Argument& item : items) numbers.push_back(*item.get<bool>() ? 1 : 0);
      return wrap(10, {Flat::link(0, flat_.numbers(numbers))});
    }
    if (type == ArgumentType::kFloat) {
      std::vector<double> numbers;
      for (const Argument& item : items) {
        const double* number = item.get<double>();
        if (number == nullptr) throw NotExpressible("a list");
        numbers.push_back(*number);
      }
      return wrap(9, {Flat::link(0, flat_.numbers(numbers))});
    }
    throw NotExpressible(fmt::format("a list in {}", call.name()));
  }

  FlatWriter flat_;
  std::vector<Flat::Offset> methods_;
  nlohmann::ordered_json header_ = nlohmann::ordered_json::object();
  std::string data_;
  std::map<std::string, std::vector<std::byte>> stored_;
};

}  // namespace

std::vector<std::byte> write_native(
    const std::map<std::string, aot::ExportedProgram, std::less<>>& methods) {
  PackageWriter writer;
  for (const auto& [name, program] : methods) writer.add_method(name, program);
  return writer.finish();
}

}  // namespace vitrine::test

// Tests the import of ExecuTorch Native models (.ptn) on small examples. The tests corpus.native*
// import whole models.
#include "aot/import/native.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "aot/graph/print.h"
#include "aot/import/import_error.h"
#include "formats/native/native_package.h"
#include "test/aot/import/native_writer.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/damaged_bytes.h"
#include "test/support/expect_error.h"
#include "test/support/flat_writer.h"

namespace vitrine::aot {
namespace {

using Flat = test::FlatWriter;

// A method that computes relu(add(x, w, alpha=2)), where x and w are f32[2]. Tests change one
// field.
struct NativeModel {
  std::string version = "1";
  std::string method = "forward";
  std::string target = "torch.ops.aten.add.Tensor";
  std::string operand = "x";     // the first operand of the addition
  std::string key = "w.weight";  // data key of the constant
  std::string output = "relu";
  std::string second_output = "";  // a second name of an output, without a spec
  int8_t constant_kind = 1;
  int64_t max_size = 2;
  int8_t dtype = 6;
  bool is_quantized = false;
  bool has_zero_buffer = false;  // a mutable buffer in place of the constant
  std::vector<int32_t> dim_order = {};
  std::string header = R"({"w.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string aliases = "";

  std::string graph() const {
    Flat flat;
    const auto text = [&](uint16_t slot, const std::string& value) {
      return Flat::link(slot, flat.text(value));
    };
    const auto meta = [&] {
      const auto dim =
          flat.table({Flat::number<int64_t>(0, 2), Flat::number<int64_t>(1, max_size)});
      std::vector<Flat::Field> fields = {Flat::number<int8_t>(0, dtype),
                                         Flat::link(1, flat.list({dim}))};
      if (!dim_order.empty()) fields.push_back(Flat::link(2, flat.numbers(dim_order)));
      if (is_quantized) fields.push_back(Flat::link(3, flat.table({})));
      return flat.table(fields);
    };
    const auto value = [&](const std::string& name) {
      return flat.table({text(0, name), Flat::link(1, meta())});
    };
    const auto argument = [&](const std::string& name, uint8_t kind, Flat::Offset body) {
      const auto wrapped = flat.table({Flat::number<uint8_t>(0, kind), Flat::link(1, body)});
      return flat.table({text(0, name), Flat::link(1, wrapped)});
    };
    const auto tensor = [&](const std::string& name) { return flat.table({text(0, name)}); };
    const auto node = [&](const std::string& name, const std::string& op,
                          const std::vector<Flat::Offset>& arguments) {
      return flat.table({text(0, name), text(2, op), Flat::link(3, flat.list(arguments)),
                         Flat::link(4, flat.list({flat.table({text(0, name)})}))});
    };
    const auto add = node("add", target,
                          {argument("self", 1, tensor(operand)), argument("other", 1, tensor("w")),
                           argument("alpha", 3, flat.table({Flat::number<int64_t>(0, 2)}))});
    const auto relu =
        node("relu", "torch.ops.aten.relu.default", {argument("self", 1, tensor("add"))});
    std::vector<Flat::Offset> outputs = {flat.text(output)};
    if (!second_output.empty()) outputs.push_back(flat.text(second_output));
    const auto graph = flat.table(
        {Flat::link(0, flat.list({add, relu})), Flat::link(1, flat.list({flat.text("x")})),
         Flat::link(2, flat.list(outputs)),
         Flat::link(3, flat.list({value("x"), value("w"), value("add"), value("relu")}))});
    const auto spec = flat.table({text(0, output)});
    std::vector<Flat::Field> fields = {text(0, method), Flat::link(1, graph),
                                       Flat::link(3, flat.list({spec}))};
    if (has_zero_buffer) {
      fields.push_back(Flat::link(4, flat.list({flat.table({text(0, "w"), text(1, key)})})));
    } else {
      const auto constant = flat.table({text(0, "w"), text(1, key), Flat::link(2, meta()),
                                        Flat::number<int8_t>(3, constant_kind)});
      fields.push_back(Flat::link(2, flat.list({constant})));
    }
    const auto bytes = flat.finish(
        flat.table({text(0, version), Flat::link(1, flat.list({flat.table(fields)}))}), "NPTG");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::vector<std::byte> package() const {
    const uint64_t size = header.size();
    std::string data(reinterpret_cast<const char*>(&size), sizeof size);
    data += header;
    const float weights[] = {3, -5};
    data.append(reinterpret_cast<const char*>(weights), sizeof weights);
    test::ArchiveMembers members = {{"program.ptg", graph()}, {"program.safetensors", data}};
    if (!aliases.empty()) members.emplace_back("aliases.json", aliases);
    return test::write_zip(members);
  }
};

NativeMethods parse_package(const std::vector<std::byte>& bytes) {
  return parse_native(bytes, nullptr, "model.ptn");
}

void expect_error(const NativeModel& model, const std::string& text) {
  const std::vector<std::byte> bytes = model.package();
  EXPECT_ERROR(ImportError, parse_package(bytes), text);
}

TEST(ImportNative, ReadsGraphSignatureAndWeights) {
  const std::vector<std::byte> bytes = NativeModel().package();
  EXPECT_TRUE(native::is_native_model(bytes));
  const NativeMethods methods = parse_package(bytes);
  ASSERT_EQ(methods.size(), 1U);
  const ExportedProgram& program = methods.at("forward");
  EXPECT_EQ(format_graph(*program.graph),
            "graph():\n"
            "    %w : [num_users=1] = placeholder[target=w]\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = "
            "(%x, %w), kwargs = {alpha: 2})\n"
            "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = "
            "(%add,), kwargs = {})\n"
            "    return (relu,)");
  const TensorData& weight = program.state_dict.at("w.weight");
  EXPECT_EQ(weight.sizes, std::vector<int64_t>{2});
  float values[2] = {};
  ASSERT_EQ(weight.storage.size(), sizeof values);
  std::memcpy(values, weight.storage.data(), sizeof values);
  EXPECT_EQ(values[0], 3.0F);
  EXPECT_EQ(values[1], -5.0F);
}

TEST(ImportNative, ReadsGraphWithoutPackage) {
  NativeModel model;
  model.has_zero_buffer = true;
  const std::string text = model.graph();
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  const std::vector<std::byte> bytes(begin, begin + text.size());
  EXPECT_TRUE(native::is_native_model(bytes));
  const NativeMethods methods = parse_package(bytes);
  const TensorData& buffer = methods.at("forward").state_dict.at("w.weight");
  EXPECT_EQ(row_major_bytes(buffer), std::vector<std::byte>(8));
}

TEST(ImportNative, AliasSharesTheBytesOfAnotherWeight) {
  NativeModel model;
  model.key = "tied";
  model.aliases = R"({"tied": "w.weight"})";
  const std::vector<std::byte> bytes = model.package();
  const NativeMethods methods = parse_package(bytes);
  EXPECT_EQ(methods.at("forward").state_dict.at("tied").storage.size(), 8U);
  model.aliases = R"({"tied": "other"})";
  expect_error(model, "the owner other is not in program.safetensors");
  model.aliases = R"({"tied": "tied"})";
  expect_error(model, "the owner tied is not in program.safetensors");
  model.aliases = R"({"w.weight": "w.weight"})";
  expect_error(model,
               "w.weight is an alias, but program.safetensors also stores a tensor of this name");
  model.aliases = R"({"a": "b", "b": "a"})";
  expect_error(model, "the owner b is not in program.safetensors");
}

TEST(ImportNative, RejectsUnsupportedAndInvalidGraphs) {
  expect_error({.version = "2"}, "version 2 of the format, but this build reads version 1");
  expect_error({.method = ""}, "a method has an empty name");
  expect_error({.operand = "relu"}, "value \"relu\" is not defined before its use");
  expect_error({.output = "none"}, "value \"none\" is not defined before its use");
  expect_error({.second_output = "add"}, "the graph has 2 outputs, but output_specs has 1");
  expect_error({.constant_kind = 0}, "constant w has the kind 0");
  expect_error({.max_size = 8}, "dim 0 is dynamic (2 to 8); only static shapes are supported");
  expect_error({.max_size = -1}, "dim 0 is dynamic (2 to any size)");
  expect_error({.dtype = 9}, "unknown dtype 9");
  expect_error({.is_quantized = true}, "is quantized (QuantSpec), which is not supported");
  expect_error({.dim_order = {1}}, "its dim order does not list each dim once");
  expect_error({.dim_order = {0, 1}}, "its dim order does not list each dim once");
  expect_error({.target = ""}, "its target has 0 characters");
  expect_error({.target = "torch.ops.aten.mul.Tensor"},
               "aten.mul.Tensor has no argument \"alpha\"");
}

TEST(ImportNative, RejectsDamagedSafetensors) {
  expect_error({.key = "other"}, "the package has no data with the key other");
  const std::pair<const char*, const char*> headers[] = {
      {R"({"w.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
       "has 4 bytes, but dtype and shape need 8"},
      {R"({"w.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",
       "expected a begin offset and an end offset of at most 8"},
      {R"({"w.weight":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})",
       "its tensors end at byte 4, but its data has 8 bytes"},
      {R"({"w.weight":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}})",
       "a tensor begins at byte 4 of the data, but the previous one ends at 0"},
      {R"({"w.weight":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
       "is f32[2] in the graph, but i32[2] in the package"},
      {R"({"w.weight":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}})", "unknown dtype F4"},
      {R"({"w.weight":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "is negative"},
      {R"({"w.weight":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}})",
       "the number of bytes overflows"},
      {"[]", "is not an object"},
      {"{", "program.safetensors"},
  };
  for (const auto& [header, error] : headers) expect_error({.header = header}, error);
}

TEST(ImportNative, RejectsPackagesWithoutGraph) {
  const auto bytes = test::write_zip({{"program.ptg", "not a flatbuffer"}});
  EXPECT_ERROR(ImportError, parse_package(bytes), "no identifier NPTG at byte 4");
}

// A damaged file is either rejected or read as a different valid model.
TEST(ImportNative, SurvivesDamagedPackages) {
  const std::vector<std::byte> original = NativeModel().package();
  size_t refused = 0;
  test::for_each_random_damage(original, 4000, [&](const auto& bytes, const auto&) {
    try {
      parse_package(bytes);
    } catch (const AotError&) {
      ++refused;
    }
  });
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace vitrine::aot

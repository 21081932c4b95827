// Tests the import of weights that are tensor subclasses. This file writes the pickles of the
// weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "aot/graph/print.h"
#include "aot/import/import_error.h"
#include "aot/import/pt2.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using nlohmann::json;
using test::argument_json;
using test::node_json;
using test::tensor_json;

// ---- Pickle opcodes

std::string little_endian(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string integer(int value) { return "J" + little_endian(static_cast<uint32_t>(value)); }
std::string text(std::string_view value) {
  return "X" + little_endian(static_cast<uint32_t>(value.size())) + std::string(value);
}
std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
std::string tuple(std::initializer_list<std::string> items) {
  std::string made = "(";
  for (const std::string& item : items) made += item;
  return made + "t";
}
std::string dict(std::initializer_list<std::string> keys_and_values) {
  std::string made = "}(";
  for (const std::string& item : keys_and_values) made += item;
  return made + "u";
}
std::string call(const std::string& callee, const std::string& arguments) {
  return callee + arguments + "R";
}
const std::string kNone = "N";
const std::string kFalse = "\x89";

// A matrix of i8 or f32 in the archive's storage `key`.
std::string matrix(std::string_view type, std::string_view key, int rows, int columns) {
  const std::string storage = tuple({text("storage"), global("torch", type), text(key), text("cpu"),
                                     integer(rows * columns)}) +
                              "Q";
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              tuple({storage, integer(0), tuple({integer(rows), integer(columns)}),
                     tuple({integer(columns), integer(1)}), kFalse,
                     call(global("collections", "OrderedDict"), ")")}));
}

// An f32 tensor of a subclass with these attributes.
std::string subclass(int rows, int columns, const std::string& attributes) {
  const std::string type = global("torchao.quantization", "SomeTensor");
  const std::string arguments =
      tuple({type, global("torch", "float32"), tuple({integer(rows), integer(columns)}),
             tuple({integer(columns), integer(1)}), integer(0),
             call(global("torch.serialization", "_get_layout"), tuple({text("torch.strided")})),
             call(global("torch", "device"), tuple({text("cpu")})), kFalse});
  return call(
      global("torch._tensor", "_rebuild_from_type_v2"),
      tuple({global("torch._utils", "_rebuild_wrapper_subclass"), type, arguments, attributes}));
}

const std::string kAttributes =
    dict({text("qdata"), matrix("CharStorage", "0", 2, 4), text("scale"),
          matrix("FloatStorage", "1", 2, 2), text("block_size"), tuple({integer(1), integer(2)}),
          text("target_dtype"), global("torch", "int4"), text("note"), kNone});

// ---- A program that computes y = dequantize(w) and accesses the inner tensors of w by name

json meta(int dtype, int rows, int columns) {
  return test::meta_json(dtype, {test::integer_json(rows), test::integer_json(columns)},
                         {test::integer_json(columns), test::integer_json(1)});
}
json access(const char* from, const char* attribute, const char* output) {
  return node_json("torch.ops.export.access_subclass_inner_tensor.default",
                   {argument_json("src_subclass_tensor", tensor_json(from)),
                    argument_json("attr", {{"as_string", attribute}})},
                   output);
}

struct UnwrapSubclasses : testing::Test {
  json program = json::parse(test::small_program_json());
  json& graph() { return program["graph_module"]["graph"]; }
  std::string pickle = subclass(2, 4, kAttributes);
  int rows_in_config = 2;

  UnwrapSubclasses() {
    graph()["inputs"] = json::array({tensor_json("p_w"), tensor_json("x")});
    graph()["nodes"] =
        json::array({access("p_w", "qdata", "q"), access("p_w", "scale", "s"),
                     node_json("torch.ops.torchao.dequantize_affine.default",
                               {argument_json("input", tensor_json("q")),
                                argument_json("block_size", {{"as_ints", {1, 2}}}),
                                argument_json("scale", tensor_json("s")),
                                argument_json("zero_point", {{"as_none", true}}),
                                argument_json("input_dtype", {{"as_scalar_type", 2}})},
                               "d")});
    graph()["outputs"] = json::array({tensor_json("d")});
    graph()["tensor_values"] = {{"p_w", meta(7, 2, 4)},
                                {"x", meta(7, 2, 4)},
                                {"q", meta(2, 2, 4)},
                                {"s", meta(7, 2, 2)},
                                {"d", meta(7, 2, 4)}};
    json& signature = program["graph_module"]["signature"];
    signature["input_specs"][0]["parameter"]["parameter_name"] = "fc.w";
    signature["output_specs"] = json::array({{{"user_output", {{"arg", tensor_json("d")}}}}});
  }

  ExportedProgram import() {
    const std::vector<std::byte> record =
        test::write_zip({{"archive/data.pkl", "\x80\x02" + pickle + "."},
                         {"archive/byteorder", "little"},
                         {"archive/data/0", std::string("\1\2\3\4\5\6\7\10")},
                         {"archive/data/1", std::string(16, '\0')}});
    test::ArchiveMembers members = test::small_pt2(program.dump());
    members[0].second.assign(reinterpret_cast<const char*>(record.data()), record.size());
    members[1].second = json{{"config",
                              {{"fc.w",
                                {{"path_name", "weight_0"},
                                 {"is_param", true},
                                 {"use_pickle", true},
                                 {"tensor_meta", meta(7, rows_in_config, 4)}}}}}}
                            .dump();
    bytes_ = test::write_zip(members);
    return parse_pt2(bytes_, nullptr, "model.pt2");
  }
  void expect_error(const char* what) { EXPECT_ERROR(AotError, import(), what); }

 private:
  std::vector<std::byte> bytes_;
};

TEST_F(UnwrapSubclasses, ReplacesWeightWithInnerTensors) {
  const ExportedProgram imported = import();
  EXPECT_EQ(format_graph(*imported.graph),
            "graph():\n"
            "    %p_fc_parametrizations_w_original0 : [num_users=1] = "
            "placeholder[target=p_fc_parametrizations_w_original0]\n"
            "    %p_fc_parametrizations_w_original1 : [num_users=1] = "
            "placeholder[target=p_fc_parametrizations_w_original1]\n"
            "    %x : [num_users=0] = placeholder[target=x]\n"
            "    %d : [num_users=1] = call_function[target=torch.ops.torchao.dequantize_affine."
            "default](args = (%p_fc_parametrizations_w_original0, [1, 2], "
            "%p_fc_parametrizations_w_original1, None, torch.int8), kwargs = {})\n"
            "    return (d,)");
  const TensorData& data = imported.state_dict.at("fc.parametrizations.w.original0");
  EXPECT_EQ(data.dtype, ScalarType::kChar);
  EXPECT_EQ(static_cast<int>(data.storage[7]), 8);
  EXPECT_EQ(imported.state_dict.size(), 2U);
}

// In older versions of torchao, a weight is a tensor of one subclass that wraps a tensor of another
// subclass. In this test, the attribute `impl` contains the wrapped tensor.
TEST_F(UnwrapSubclasses, UnwrapsNestedSubclass) {
  pickle = subclass(2, 4, dict({text("impl"), subclass(2, 4, kAttributes)}));
  json& nodes = graph()["nodes"];
  nodes[0] = access("i", "qdata", "q");
  nodes[1] = access("i", "scale", "s");
  nodes.insert(nodes.begin(), access("p_w", "impl", "i"));
  graph()["tensor_values"]["i"] = meta(7, 2, 4);
  const ExportedProgram imported = import();
  EXPECT_EQ(imported.state_dict.size(), 2U);
  EXPECT_TRUE(imported.state_dict.contains("fc.parametrizations.w.original1"));
}

TEST_F(UnwrapSubclasses, RejectsInconsistentSizes) {
  rows_in_config = 3;
  expect_error(
      "config.fc.w.tensor_meta: the sizes differ from those of the pickled tensor, [2, 4]");
  rows_in_config = 2;
  graph()["tensor_values"]["s"] = meta(7, 2, 4);
  expect_error("is f32[2, 4] in the graph, but the stored inner tensor scale of fc.w is f32[2, 2]");
  graph()["tensor_values"]["s"] = meta(7, 2, 2);
  graph()["tensor_values"]["q"] = meta(1, 2, 4);
  expect_error("but the stored inner tensor qdata of fc.w is i8[2, 4]");
  graph()["tensor_values"]["q"] = meta(2, 2, 4);
  // The inner tensor has more elements than its record.
  pickle = subclass(2, 4, dict({text("qdata"), matrix("CharStorage", "0", 9, 4)}));
  expect_error("\"fc.w\" contains tensor qdata, which reads element 35, but its record has only 8");
  pickle = subclass(2, 4, dict({text("qdata"), matrix("CharStorage", "7", 2, 4)}));
  expect_error("data/7");
}

TEST_F(UnwrapSubclasses, RejectsAccessToMissingInnerTensor) {
  graph()["nodes"][1] = access("p_w", "scales", "s");
  expect_error("fc.w is a torchao.quantization SomeTensor, which has no tensor scales");
}

TEST_F(UnwrapSubclasses, RejectsDirectUseOfAWeightInsteadOfItsInnerTensors) {
  graph()["nodes"][2]["inputs"][2]["arg"] = tensor_json("p_w");
  expect_error(
      "uses weight fc.w of type torchao.quantization SomeTensor without accessing its inner "
      "tensors");
}

TEST_F(UnwrapSubclasses, RejectsDamagedPickles) {
  const std::string rebuild = global("torch._tensor", "_rebuild_from_type_v2");
  pickle = subclass(2, 4, dict({text("note"), kNone}));
  expect_error("\"fc.w\" is a torchao.quantization SomeTensor without tensors");
  pickle = subclass(2, 4, kNone);
  expect_error("is a tensor subclass without attributes");
  pickle = call(rebuild, tuple({global("torch._utils", "_rebuild_wrapper_subclass")}));
  expect_error("is a tensor subclass without a type");
  pickle = call(rebuild, ")");
  expect_error("is rebuilt by something that is not a function");
  pickle = call(global("os", "system"), tuple({text("echo")}));
  expect_error("a value is made by calling os system, which is not supported");
  pickle = integer(1);
  expect_error("\"fc.w\" is not a tensor");
}

TEST_F(UnwrapSubclasses, RejectsObjectThatContainsItself) {
  const std::string type = global("torchao.quantization", "SomeTensor");
  const std::string arguments =
      tuple({type, global("torch", "float32"), tuple({integer(2), integer(4)})});
  // Adds the object to its own dict of attributes. Memo slot 1 is the dict, and slot 2 is the
  // object.
  pickle = call(global("torch._tensor", "_rebuild_from_type_v2"),
                tuple({global("torch._utils", "_rebuild_wrapper_subclass"), type, arguments,
                       std::string("}q\x01")}));
  pickle += std::string("q\x02") + "h\x01" + text("again") + "h\x02s" + "h\x02";
  expect_error("nests tensor subclasses deeper than 4 levels");
}

}  // namespace
}  // namespace vitrine::aot

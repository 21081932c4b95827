#include "test/support/foreign_payloads.h"

#include <algorithm>

#include "test/support/flat_writer.h"

namespace vitrine::test {
namespace {

using Flat = FlatWriter;

template <class T>
requires std::is_arithmetic_v<T>
void append(AlignedBytes& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}
void append(AlignedBytes& bytes, std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), begin, begin + text.size());
}
void append(AlignedBytes& bytes, const AlignedBytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
void pad(AlignedBytes& bytes, size_t alignment) {
  while (bytes.size() % alignment != 0) bytes.push_back(std::byte{});
}

// The following two functions encode one field of a protocol buffer. field() encodes a length and
// then that many bytes. number() encodes a number.
std::string field(unsigned number, const std::string& data) {
  std::string text;
  const auto varint = [&text](uint64_t value) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
  };
  varint(number << 3 | 2);
  varint(data.size());
  return text + data;
}
std::string number(unsigned number, unsigned char value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}
std::string entry(unsigned map, const std::string& key, const std::string& value) {
  return field(map, field(1, key) + field(2, value));
}
std::string tensor_type(unsigned char dtype, const std::vector<unsigned char>& sizes) {
  std::string type = number(1, dtype) + number(2, static_cast<unsigned char>(sizes.size()));
  for (const unsigned char size : sizes) type += field(3, field(1, number(1, size)));
  return field(1, type);
}
std::string named(const std::string& name, const std::string& type) {
  return field(1, name) + field(2, type);
}
std::string input(const std::string& parameter, const std::string& value) {
  return entry(2, parameter, field(1, field(1, value)));
}

struct File {
  std::string name, data;
};

// Returns the concatenated files followed by their JSON index, whose characters are in reverse
// order. `folders` contains the index entries of the folders.
AlignedBytes container(const std::vector<File>& files, const std::string& folders) {
  AlignedBytes bytes;
  std::string index = "{\"nodes\":[";
  for (const File& file : files) {
    index += "{\"name\":\"" + file.name +
             "\",\"kind\":0,\"dataRegion\":{\"offset\":" + std::to_string(bytes.size()) +
             ",\"size\":" + std::to_string(file.data.size()) + "}},";
    append(bytes, file.data);
  }
  index += folders + "]}";
  std::reverse(index.begin(), index.end());
  append(bytes, index);
  return bytes;
}

void append_block(AlignedBytes& bytes, std::string name, const AlignedBytes& data) {
  name.resize(16);
  append(bytes, name);
  append(bytes, static_cast<uint32_t>(data.size()));
  bytes.resize(bytes.size() + 12);
  append(bytes, data);
  pad(bytes, 16);
}

AlignedBytes words(const std::vector<uint32_t>& values) {
  AlignedBytes bytes;
  for (const uint32_t value : values) append(bytes, value);
  return bytes;
}

}  // namespace

AlignedBytes vulkan_payload() {
  FlatWriter flat;
  const auto tensor = [&](std::vector<uint32_t> dims, int32_t constant, int32_t memory) {
    std::vector<Flat::Field> fields = {
        Flat::number<int8_t>(0, 5), Flat::link(1, flat.numbers(dims)),
        Flat::number<int32_t>(3, memory), Flat::number<uint8_t>(4, 1), Flat::number<uint8_t>(5, 0)};
    if (constant != 0) fields.push_back(Flat::number<int32_t>(2, constant));
    return flat.table({Flat::number<uint8_t>(0, 5), Flat::link(1, flat.table(fields))});
  };
  const auto none = flat.table({Flat::number<uint8_t>(0, 1), Flat::link(1, flat.table({}))});
  const auto values = flat.list({tensor({1, 4}, -1, -1), tensor({2, 4}, 0, -1), tensor({2}, 1, -1),
                                 tensor({1, 2}, -1, 0), tensor({1, 2}, -1, 0), none});
  const auto call = [&](uint32_t id, const std::string& name, const std::vector<int32_t>& args) {
    return flat.table({Flat::number<uint32_t>(0, id), Flat::link(1, flat.text(name)),
                       Flat::link(2, flat.numbers(args))});
  };
  const auto chain = flat.list(
      {call(0, "aten.linear.default", {0, 1, 2, 3}), call(1, "aten.relu.default", {3, 4})});
  const auto constants =
      flat.list({flat.table({Flat::number<uint64_t>(0, 0), Flat::number<uint64_t>(1, 32)}),
                 flat.table({Flat::number<uint64_t>(0, UINT64_MAX), Flat::number<uint64_t>(1, 8),
                             Flat::link(2, flat.text("bias_key"))})});
  const AlignedBytes graph = flat.finish(
      flat.table({Flat::link(0, flat.text("0")), Flat::link(1, chain), Flat::link(2, values),
                  Flat::link(3, flat.numbers<uint32_t>({0})),
                  Flat::link(4, flat.numbers<uint32_t>({4})), Flat::link(5, constants)}),
      "VK00");
  AlignedBytes bytes;
  append(bytes, std::string_view("\0\0\0\0VH00", 8));
  append<uint16_t>(bytes, 30);
  append<uint32_t>(bytes, 32);
  append(bytes, static_cast<uint32_t>(graph.size()));
  append(bytes, static_cast<uint32_t>(32 + (graph.size() + 15) / 16 * 16));
  append<uint64_t>(bytes, 32);
  pad(bytes, 16);
  append(bytes, graph);
  pad(bytes, 16);
  bytes.resize(bytes.size() + 32, std::byte{1});
  return bytes;
}

AlignedBytes mlx_payload(uint8_t second_operator) {
  FlatWriter flat;
  const auto dim = [&](int32_t value, int32_t min, int32_t max) {
    return flat.table({Flat::number<int32_t>(0, value), Flat::number<int32_t>(1, min),
                       Flat::number<int32_t>(2, max)});
  };
  const auto meta = [&](const std::vector<Flat::Offset>& shape) {
    return flat.table({Flat::link(0, flat.list(shape)), Flat::number<int8_t>(1, 6)});
  };
  const auto slot = [&](uint32_t id) { return flat.table({Flat::number<uint32_t>(0, id)}); };
  const auto addmm = flat.table(
      {Flat::number<uint32_t>(0, 1), Flat::number<uint32_t>(1, 0), Flat::number<uint32_t>(2, 3)});
  const auto silu = flat.table({Flat::number<uint32_t>(0, 3), Flat::number<uint32_t>(1, 2)});
  const auto chain = flat.table({Flat::link(
      0,
      flat.list({flat.table({Flat::number<uint8_t>(0, 3), Flat::link(1, addmm)}),
                 flat.table({Flat::number<uint8_t>(0, second_operator), Flat::link(1, silu)})}))});
  const auto names =
      flat.list({flat.table({Flat::link(0, flat.text("ab12/weight")), Flat::link(1, slot(0))})});
  const auto metas =
      flat.list({meta({dim(4, 0, -1), dim(2, 0, -1)}), meta({dim(-1, 1, 16), dim(4, 0, -1)}),
                 meta({dim(-1, 1, 16), dim(2, 0, -1)})});
  std::vector<Flat::Field> root = {Flat::link(0, flat.text("1"))};
  for (const int count : {1, 2, 3, 5}) {
    root.push_back(Flat::number<uint32_t>(static_cast<uint16_t>(count), 1));
  }
  root.push_back(Flat::link(7, flat.list({chain})));
  root.push_back(Flat::link(10, flat.list({slot(1)})));
  root.push_back(Flat::link(11, flat.list({slot(2)})));
  root.push_back(Flat::link(13, names));
  root.push_back(Flat::link(14, metas));
  AlignedBytes graph = flat.finish(flat.table(root), nullptr);
  pad(graph, 16);
  AlignedBytes bytes;
  append(bytes, std::string_view("\0\0\0\0MLX0", 8));
  append(bytes, static_cast<uint64_t>(24 + graph.size()));
  append<uint64_t>(bytes, 0);
  append(bytes, graph);
  return bytes;
}

AlignedBytes core_ml_payload() {
  constexpr unsigned char kFloat32 = 11;
  const std::string x = tensor_type(kFloat32, {1, 3}), w = tensor_type(kFloat32, {3, 2});
  const std::string y = tensor_type(kFloat32, {1, 2});
  const std::string blob = field(1, "@model_path/weights/weight.bin") + number(2, 64);
  const std::string weight =
      field(1, "const") + field(3, named("w", w)) + entry(5, "val", field(2, w) + field(5, blob));
  const std::string flag =
      field(2, tensor_type(1, {})) + field(3, field(1, field(3, number(1, 1))));
  const std::string constant =
      field(1, "const") + field(3, named("flag", tensor_type(1, {}))) + entry(5, "val", flag);
  const std::string matmul = field(1, "matmul") + input("x", "x") + input("y", "w") +
                             input("transpose_x", "flag") + field(3, named("m", y));
  const std::string relu = field(1, "relu") + input("x", "m") + field(3, named("out", y));
  const std::string block =
      field(2, "out") + field(3, weight) + field(3, constant) + field(3, matmul) + field(3, relu);
  const std::string function =
      field(1, named("x", x)) + field(2, "CoreML7") + entry(3, "CoreML7", block);
  const std::string model = number(1, 8) + field(502, entry(2, "main", function));
  AlignedBytes weights = words({1, 2});
  weights.resize(64);
  append(weights, words({0xDEADBEEF, 2, 24, 0, 128, 0}));
  weights.resize(128 + 24);
  const std::string weight_text(reinterpret_cast<const char*>(weights.data()), weights.size());
  return container(
      {{"metadata.json", R"({"inputNames":["x"],"outputNames":["out"],"identifier":"e"})"},
       {"model.mlmodel", model},
       {"weight.bin", weight_text}},
      R"({"name":"weights","kind":1,"children":{"weight.bin":2}},)"
      R"({"name":"com.apple.CoreML","kind":1,"children":{"model.mlmodel":1,"weights":3}},)"
      R"({"name":"lowered_module","kind":1,"children":{"metadata.json":0,"model.mlpackage":4}})");
}

AlignedBytes core_ml_text_payload() {
  return container(
      {{"metadata.json", R"({"identifier":"e"})"},
       {"model.mil",
        "program(1.0)\n{\n  func main<ios16>(tensor<fp16, [1, 10]> x) {\n"
        "    tensor<fp16, [10]> w = const()[name = tensor<string, []>(\"w\"), val = "
        "tensor<fp16, [10]>(BLOBFILE(path = \"weight.bin\", offset = 64))];\n"
        "    tensor<fp16, [1, 10]> y = mul(x = x, y = w)[name = tensor<string, []>(\"y\")];\n"
        "  } -> (y);\n}\n"},
       {"debug_info.json", R"({"debugSymbolToHandles":{"y:mul":[3,5],"other:mul":[9]}})"}},
      R"({"name":"lowered_module","kind":1,"children":{"metadata.json":0,"model.mil":1,)"
      R"("debug_info.json":2}})");
}

AlignedBytes ethos_u_payload() {
  const auto set = [](uint32_t code, uint32_t value) { return value << 16 | code; };
  const std::vector<uint32_t> commands = {
      set(0x10B, 3),  set(0x10A, 3), set(0x104, 7),   set(0x112, 3), set(0x111, 3),
      set(0x113, 15), set(0x120, 2), set(0x121, 2),   0x4032,        64,
      set(0x10, 0),   set(0x2, 0),   set(0x0, 0xFFFF)};
  std::vector<uint32_t> stream = {0x31504F43, 1, 0x7, 0x10066001,
                                  static_cast<uint32_t>(commands.size()) << 16 | 2};
  stream.insert(stream.end(), commands.begin(), commands.end());
  AlignedBytes bytes;
  append_block(bytes, "vela_bin_stream", {});
  append_block(bytes, "cmd_data", words(stream));
  append_block(bytes, "weight_data", AlignedBytes(48));
  append_block(bytes, "scratch_size", words({256}));
  append_block(bytes, "inputs", words({1, 1, 1, 1, 4, 4, 8, 1, 0, 1}));
  append_block(bytes, "outputs", words({1, 1, 1, 1, 4, 4, 16, 1, 128, 1}));
  append_block(bytes, "vela_end_stream", {});
  return bytes;
}

AlignedBytes vgf_payload() {
  const auto op = [](uint32_t opcode, std::vector<uint32_t> operands) {
    operands.insert(operands.begin(), static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
    return operands;
  };
  std::vector<uint32_t> spirv = {0x07230203, 0x10600, 0, 100, 0};
  const uint32_t name[4] = {0x41534F54, 0x3130302E, 0x2E303030, 0x31};  // "TOSA.001000.1"
  for (const auto& instruction :
       {op(11, {1, name[0], name[1], name[2], name[3]}), op(21, {2, 8, 0}), op(21, {3, 32, 0}),
        op(43, {3, 4, 2}), op(43, {3, 5, 3}), op(44, {6, 7, 4, 5}), op(4163, {8, 2, 4, 7}),
        op(4181, {8, 9, 0}), op(4184, {8, 10, 5}), op(12, {8, 11, 1, 2, 5, 10, 9}),
        op(12, {8, 12, 1, 10, 11}), op(4185, {12, 5})}) {
    spirv.insert(spirv.end(), instruction.begin(), instruction.end());
  }
  FlatWriter modules, sequence, resources;
  const auto code = modules.table({Flat::link(0, modules.numbers(spirv))});
  const auto module =
      modules.table({Flat::number<uint8_t>(0, 1), Flat::link(1, modules.text("graph")),
                     Flat::number<uint8_t>(3, 1), Flat::link(4, code)});
  const auto segments = sequence.list({sequence.table({Flat::number<uint8_t>(0, 1)})});
  const auto resource = [&](uint8_t category) {
    const auto shape = resources.table({Flat::link(0, resources.numbers<int64_t>({2, 3}))});
    return resources.table(
        {Flat::number<uint32_t>(1, 14), Flat::number<uint8_t>(2, category), Flat::link(3, shape)});
  };
  AlignedBytes constants;
  append(constants, std::string_view("CONST00\0", 8));
  append<uint64_t>(constants, 1);
  append<uint32_t>(constants, 2);
  append<int32_t>(constants, -1);
  append<uint64_t>(constants, 6);
  append<uint64_t>(constants, 0);
  constants.resize(constants.size() + 6);
  const AlignedBytes sections[] = {
      modules.finish(modules.table({Flat::link(0, modules.list({module}))}), nullptr),
      sequence.finish(sequence.table({Flat::link(0, segments)}), nullptr),
      resources.finish(
          resources.table({Flat::link(0, resources.list({resource(0), resource(1), resource(3)}))}),
          nullptr),
      constants};
  AlignedBytes bytes;
  append(bytes, std::string_view("VGF1\0\0\0\0\0\4\0\0\0\0\0\0", 16));
  uint64_t at = 128;
  for (const AlignedBytes& section : sections) {
    append(bytes, at);
    append(bytes, static_cast<uint64_t>(section.size()));
    at += (section.size() + 7) / 8 * 8;
  }
  bytes.resize(128);
  for (const AlignedBytes& section : sections) {
    pad(bytes, 8);
    append(bytes, section);
  }
  return bytes;
}

AlignedBytes tosa_payload() {
  FlatWriter flat;
  const auto tensor = [&](const std::string& name, const std::vector<uint8_t>& data) {
    std::vector<Flat::Field> fields = {Flat::link(0, flat.text(name)),
                                       Flat::link(1, flat.numbers<int32_t>({2, 3})),
                                       Flat::number<uint32_t>(2, 3)};
    if (!data.empty()) fields.push_back(Flat::link(3, flat.numbers(data)));
    return flat.table(fields);
  };
  const auto op = [&](uint32_t number, const std::vector<std::string>& inputs,
                      const std::string& output) {
    std::vector<Flat::Offset> names;
    names.reserve(inputs.size());
    for (const std::string& name : inputs) names.push_back(flat.text(name));
    return flat.table({Flat::number<uint32_t>(0, number), Flat::link(3, flat.list(names)),
                       Flat::link(4, flat.list({flat.text(output)}))});
  };
  const auto tensors =
      flat.list({tensor("src", {}), tensor("c", {1, 2, 3, 4, 5, 6}), tensor("y", {})});
  const auto operators = flat.list({op(67, {}, "c"), op(15, {"src", "c"}, "y")});
  const auto block = flat.table(
      {Flat::link(0, flat.text("main")), Flat::link(1, operators), Flat::link(2, tensors),
       Flat::link(3, flat.list({flat.text("src")})), Flat::link(4, flat.list({flat.text("y")}))});
  const auto region =
      flat.table({Flat::link(0, flat.text("main")), Flat::link(1, flat.list({block}))});
  const auto version = flat.table({Flat::number<int32_t>(0, 1), Flat::number<int32_t>(1, 0),
                                   Flat::number<int32_t>(2, 0), Flat::number<uint8_t>(3, 0)});
  return flat.finish(flat.table({Flat::link(0, version), Flat::link(1, flat.list({region}))}),
                     "TOSA");
}

AlignedBytes openvino_payload(std::string_view xml) {
  constexpr unsigned char kMask[] = {0x30, 0x60, 0x70, 0x02, 0x04, 0x08,
                                     0x3F, 0x6F, 0x72, 0x74, 0x78, 0x7F};
  std::string graph(xml.empty() ? R"(<?xml version="1.0"?>
<net name="Model0" version="11"><layers>
<layer id="0" name="x" type="Parameter"><output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>
<layer id="1" name="w" type="Const"><data element_type="f32" offset="4" size="4"/><output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>
<layer id="2" name="aten_mul_tensor/aten.mul.Tensor/Multiply" type="Multiply"><input><port id="0"/><port id="1"/></input><output><port id="2" precision="FP32"><dim>1</dim></port></output></layer>
<layer id="3" name="out" type="Result"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/><edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>)"
                                : xml);
  for (size_t i = 0; i < graph.size(); ++i) {
    graph[i] = static_cast<char>(static_cast<unsigned char>(graph[i]) ^ kMask[i % 12]);
  }
  AlignedBytes bytes;
  for (const size_t number :
       {size_t{48}, size_t{11}, size_t{59}, size_t{8}, size_t{67}, graph.size()}) {
    append(bytes, uint64_t{number});
  }
  append(bytes, std::string_view("<cnndata />"));
  bytes.resize(bytes.size() + 8);
  append(bytes, graph);
  return bytes;
}

AlignedBytes qnn_payload() {
  AlignedBytes bytes = words({0x5678ABCD, 7, 0, 64, 0});
  bytes.resize(256);
  append(bytes, std::string_view("\1\2input_0_x@0\0graph\0output_y_3@0\0", 33));
  bytes.resize(256 + 64);
  return bytes;
}

AlignedBytes neutron_payload() {
  AlignedBytes bytes;
  append(bytes, std::string_view("\1\1\1\0\0\0\0\0", 8));
  pad(bytes, 16);
  append(bytes, words({0x64434D6E, 0, 0, 0, 0, 0, 64, 16, 0, 1024, 512, 1, 1, 0, 0, 0}));
  bytes.resize(bytes.size() + 16);
  return bytes;
}

AlignedBytes mps_payload() {
  FlatWriter flat;
  const auto value = [&](uint64_t constant_bytes) {
    return flat.table({Flat::number<int16_t>(0, 2), Flat::number<int32_t>(1, 1),
                       Flat::link(2, flat.numbers<int32_t>({4})),
                       Flat::number<uint64_t>(3, constant_bytes), Flat::number<uint64_t>(5, 0)});
  };
  const auto add = flat.table(
      {Flat::number<int32_t>(0, 0), Flat::number<int32_t>(1, 1), Flat::number<int32_t>(2, 2)});
  const auto node = flat.table({Flat::number<uint8_t>(0, 7), Flat::link(1, add)});
  AlignedBytes graph =
      flat.finish(flat.table({Flat::link(0, flat.text("0")), Flat::link(1, flat.list({node})),
                              Flat::link(2, flat.list({value(0), value(16), value(0)})),
                              Flat::link(3, flat.numbers<int32_t>({0})),
                              Flat::link(4, flat.numbers<int32_t>({2})),
                              Flat::link(5, flat.numbers<int32_t>({1}))}),
                  "MP00");
  pad(graph, 8);
  AlignedBytes bytes;
  append(bytes, std::string_view("\0\0\0\0MP00", 8));
  append(bytes, static_cast<uint64_t>(24 + graph.size()));
  append<uint64_t>(bytes, 16);
  append(bytes, graph);
  bytes.resize(bytes.size() + 16);
  return bytes;
}

AlignedBytes native_payload() {
  FlatWriter flat;
  const auto meta = [&] {
    const auto dim = flat.table({Flat::number<int64_t>(0, 4), Flat::number<int64_t>(1, 4)});
    return flat.table({Flat::number<int8_t>(0, 6), Flat::link(1, flat.list({dim}))});
  };
  const auto value = [&](const std::string& name) {
    return flat.table({Flat::link(0, flat.text(name)), Flat::link(1, meta())});
  };
  const auto argument = [&](const std::string& name, uint8_t type, Flat::Offset body) {
    const auto wrapped = flat.table({Flat::number<uint8_t>(0, type), Flat::link(1, body)});
    return flat.table({Flat::link(0, flat.text(name)), Flat::link(1, wrapped)});
  };
  const auto tensor = [&](const std::string& name) {
    return flat.table({Flat::link(0, flat.text(name))});
  };
  const auto inputs =
      flat.list({argument("self", 1, tensor("src")), argument("other", 1, tensor("w")),
                 argument("alpha", 3, flat.table({Flat::number<int64_t>(0, 1)}))});
  const auto outputs = flat.list({flat.table({Flat::link(0, flat.text("add"))})});
  const auto node = flat.table({Flat::link(0, flat.text("add")), Flat::number<int8_t>(1, 0),
                                Flat::link(2, flat.text("torch.ops.aten.add.Tensor")),
                                Flat::link(3, inputs), Flat::link(4, outputs)});
  const auto graph =
      flat.table({Flat::link(0, flat.list({node})), Flat::link(1, flat.list({flat.text("src")})),
                  Flat::link(2, flat.list({flat.text("add")})),
                  Flat::link(3, flat.list({value("src"), value("add")}))});
  const auto constant = flat.table({Flat::link(0, flat.text("w")),
                                    Flat::link(1, flat.text("weights.w")), Flat::link(2, meta())});
  const auto method = flat.table({Flat::link(0, flat.text("forward")), Flat::link(1, graph),
                                  Flat::link(2, flat.list({constant}))});
  return flat.finish(
      flat.table({Flat::link(0, flat.text("1")), Flat::link(1, flat.list({method}))}), "NPTG");
}

std::vector<ForeignPayload> foreign_payloads() {
  return {{"VulkanBackend", vulkan_payload()},  {"MLXBackend", mlx_payload()},
          {"CoreMLBackend", core_ml_payload()}, {"CoreMLBackend", core_ml_text_payload()},
          {"EthosUBackend", ethos_u_payload()}, {"VgfBackend", vgf_payload()},
          {"TOSABackend", tosa_payload()},      {"OpenvinoBackend", openvino_payload()},
          {"QnnBackend", qnn_payload()},        {"NeutronBackend", neutron_payload()},
          {"MPSBackend", mps_payload()},        {"NativeBackend", native_payload()}};
}

}  // namespace vitrine::test

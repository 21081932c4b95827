#include "test/aot/import/pt2_writer.h"

#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

namespace vitrine::test {
using nlohmann::json;

json integer_json(int64_t value) { return {{"as_int", value}}; }

json tensor_json(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

json meta_json(int dtype, const std::vector<json>& sizes, const std::vector<json>& strides,
               bool requires_grad) {
  return {{"dtype", dtype},
          {"sizes", sizes},
          {"requires_grad", requires_grad},
          {"device", {{"type", "cpu"}, {"index", nullptr}}},
          {"strides", strides},
          {"storage_offset", integer_json(0)},
          {"layout", 7}};
}

json argument_json(const std::string& name, json value) {
  return {{"name", name}, {"arg", std::move(value)}, {"kind", 1}};
}

json node_json(const std::string& target, const std::vector<json>& arguments,
               const std::string& output) {
  return {{"target", target},
          {"inputs", arguments},
          {"outputs", json::array({tensor_json(output)})},
          {"metadata", json::object()},
          {"is_hop_single_tensor_return", nullptr},
          {"name", output}};
}

std::vector<std::byte> write_zip(const ArchiveMembers& members, bool compressed) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(source);
  zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  if (archive == nullptr) std::abort();
  for (const auto& [name, bytes] : members) {
    zip_source_t* member = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), member, ZIP_FL_ENC_UTF_8);
    if (index < 0) std::abort();
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) std::abort();
  zip_stat_t stat;
  zip_source_stat(source, &stat);
  std::vector<std::byte> made(stat.size);
  zip_source_open(source);
  if (zip_source_read(source, made.data(), made.size()) != static_cast<zip_int64_t>(made.size())) {
    std::abort();
  }
  zip_source_close(source);
  zip_source_free(source);
  return made;
}

ArchiveMembers read_zip(const std::string& path) {
  int code = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &code),
                                                         zip_discard);
  if (archive == nullptr) std::abort();
  ArchiveMembers members;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t stat;
    zip_stat_index(archive.get(), index, 0, &stat);
    std::string bytes(stat.size, '\0');
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
        zip_fopen_index(archive.get(), index, 0), zip_fclose);
    if (zip_fread(file.get(), bytes.data(), stat.size) != static_cast<zip_int64_t>(stat.size)) {
      std::abort();
    }
    members.emplace_back(stat.name, std::move(bytes));
  }
  return members;
}

std::string small_program_json() {
  const auto vector = [](bool requires_grad) {
    return meta_json(7, {integer_json(2)}, {integer_json(1)}, requires_grad);
  };
  const json graph = {
      {"inputs", json::array({tensor_json("p_w"), tensor_json("x")})},
      {"outputs", json::array({tensor_json("relu")})},
      {"nodes", json::array({node_json("torch.ops.aten.add.Tensor",
                                       {argument_json("self", tensor_json("x")),
                                        argument_json("other", tensor_json("p_w"))},
                                       "add"),
                             node_json("torch.ops.aten.relu.default",
                                       {argument_json("self", tensor_json("add"))}, "relu")})},
      {"tensor_values",
       {{"p_w", vector(true)},
        {"x", vector(false)},
        {"add", vector(false)},
        {"relu", vector(false)}}},
      {"sym_int_values", json::object()},
      {"sym_bool_values", json::object()},
      {"is_single_tensor_return", false}};
  const json signature = {
      {"input_specs",
       json::array({{{"parameter", {{"arg", {{"name", "p_w"}}}, {"parameter_name", "w"}}}},
                    {{"user_input", {{"arg", tensor_json("x")}}}}})},
      {"output_specs", json::array({{{"user_output", {{"arg", tensor_json("relu")}}}}})}};
  const json program = {
      {"graph_module",
       {{"graph", graph}, {"signature", signature}, {"module_call_graph", json::array()}}},
      {"opset_version", {{"aten", 10}}},
      {"range_constraints", json::object()},
      {"schema_version", {{"major", 8}, {"minor", 20}}},
      {"verifiers", json::array({"ATEN"})},
      {"torch_version", "2.14.1"}};
  return program.dump();
}

ArchiveMembers small_pt2(const std::string& program_json) {
  const json config = {
      {"config",
       {{"w",
         {{"path_name", "weight_0"},
          {"is_param", true},
          {"use_pickle", false},
          {"tensor_meta", meta_json(7, {integer_json(2)}, {integer_json(1)}, true)}}}}}};
  const float numbers[2] = {1, 2};
  std::string weight(sizeof(numbers), '\0');
  std::memcpy(weight.data(), numbers, sizeof(numbers));
  return {{"m/data/weights/weight_0", weight},
          {"m/data/weights/model_weights_config.json", config.dump()},
          {"m/data/constants/model_constants_config.json", R"({"config": {}})"},
          {"m/models/model.json", program_json},
          {"m/archive_format", "pt2"},
          {"m/archive_version", "0"},
          {"m/byteorder", "little"}};
}

}  // namespace vitrine::test

#include "test/corpus_check/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace vitrine::corpus {
namespace {

using nlohmann::json;

ScalarType parse_dtype(const std::string& name) {
  static const std::map<std::string, ScalarType> kTypes = {
      {"uint8", ScalarType::kByte},
      {"int8", ScalarType::kChar},
      {"int16", ScalarType::kShort},
      {"int32", ScalarType::kInt},
      {"int64", ScalarType::kLong},
      {"float16", ScalarType::kHalf},
      {"float32", ScalarType::kFloat},
      {"float64", ScalarType::kDouble},
      {"bool", ScalarType::kBool},
      {"bfloat16", ScalarType::kBFloat16},
      {"complex64", ScalarType::kComplexFloat},
      {"complex128", ScalarType::kComplexDouble},
      {"uint16", ScalarType::kUInt16},
      {"uint32", ScalarType::kUInt32},
      {"uint64", ScalarType::kUInt64},
      {"complex32", ScalarType::kComplexHalf}};
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) throw std::runtime_error(fmt::format("unknown dtype \"{}\"", name));
  return found->second;
}

CaseValue parse_value(const json& from, const std::filesystem::path& folder) {
  const std::string kind = from.at("kind");
  CaseValue value;
  if (kind == "tensor") {
    value.kind = CaseValue::Kind::kTensor;
    value.file = folder / from.at("file").get<std::string>();
    value.dtype = parse_dtype(from.at("dtype"));
    value.sizes = from.at("shape").get<std::vector<int32_t>>();
    value.dim_order = from.at("dim_order").get<std::vector<uint8_t>>();
  } else if (kind == "int") {
    value.kind = CaseValue::Kind::kInt;
    value.integer = from.at("value");
  } else if (kind == "double" || kind == "float") {
    value.kind = CaseValue::Kind::kDouble;
    value.real = from.at("value");
  } else if (kind == "bool") {
    value.kind = CaseValue::Kind::kBool;
    value.boolean = from.at("value");
  } else if (kind == "str" || kind == "string") {
    value.kind = CaseValue::Kind::kString;
    value.text = from.at("value");
  } else if (kind != "none") {
    throw std::runtime_error(fmt::format("unknown value kind \"{}\"", kind));
  }
  return value;
}

}  // namespace

Case read_case(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "case.json";
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot open the file", path.string()));
  try {
    const json root = json::parse(stream);
    Case result;
    result.name = root.at("name");
    if (std::filesystem::exists(folder / "model.pte")) result.model = folder / "model.pte";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".ptd") result.data.push_back(entry.path());
    }
    std::sort(result.data.begin(), result.data.end());
    const json& tolerance = root.at("tolerance");
    result.tolerance.atol = tolerance.at("atol");
    result.tolerance.rtol = tolerance.at("rtol");
    result.tolerance.min_cosine = tolerance.value("min_cosine", -1.0);
    for (const json& from : root.at("calls")) {
      CaseCall call;
      call.method = from.at("method");
      for (const json& value : from.at("inputs")) call.inputs.push_back(parse_value(value, folder));
      for (const json& value : from.at("outputs")) {
        call.outputs.push_back(parse_value(value, folder));
      }
      result.calls.push_back(std::move(call));
    }
    return result;
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace vitrine::corpus

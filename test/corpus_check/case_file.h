// Reads a case of the corpus from its case.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "vitrine/scalar_type.h"

namespace vitrine::corpus {

struct CaseValue {
  enum class Kind : uint8_t { kTensor, kInt, kDouble, kBool, kString, kNone };
  Kind kind = Kind::kNone;
  // The following members are for kTensor. The file has the elements in logical order.
  std::filesystem::path file;
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  // The following members are for the other kinds.
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::string text;
};

struct CaseCall {
  std::string method;
  std::vector<CaseValue> inputs;
  std::vector<CaseValue> outputs;
};

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  double min_cosine = -1;  // -1: not required
};

struct Case {
  std::string name;
  std::filesystem::path model;              // empty if the case has no program
  std::vector<std::filesystem::path> data;  // .ptd files
  Tolerance tolerance;
  std::vector<CaseCall> calls;
};

// Throws std::runtime_error that names the file and the error.
Case read_case(const std::filesystem::path& folder);

}  // namespace vitrine::corpus

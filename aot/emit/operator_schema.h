// What arguments each kernel takes, in the order in which instructions give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/argument.h"

namespace vitrine::aot {

// kOther is what programs keep as it is: strings, and enumerations, which become integers.
enum class ArgumentType : uint8_t {
  kTensor,
  kInt,
  kFloat,
  kBool,
  kScalar,
  kOther,
  kTensors,
  kOptionalTensors,
  kInts,
  kFloats,
  kBools
};

struct OperatorArgument {
  std::string name;
  ArgumentType type = ArgumentType::kOther;
  bool is_optional = false;
  bool is_keyword = false;  // never given by position
  bool is_written = false;  // "!": an out argument, or one that is changed in place
  bool has_default = false;
  Argument default_value;
};

struct OperatorSchema {
  std::vector<OperatorArgument> arguments;
  // Written arguments that the caller provides memory for: the keyword ones.
  std::vector<const OperatorArgument*> outs() const;
  // The value of the first argument is the result ("copy_").
  bool is_in_place() const;
};

// `kernel` as aot/passes/out_variants.h names it: "aten::add.out". Null if it is not known.
// Thread-safe.
const OperatorSchema* find_operator_schema(std::string_view kernel);

}  // namespace vitrine::aot

// Parses operator signatures in PyTorch's notation:
//   "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace vitrine {

enum class ArgumentType : uint8_t {
  kAny,
  kTensor,
  kInt,  // int and SymInt
  kFloat,
  kBool,
  kScalar,
  kString,
  kDtype,
  kLayout,
  kDevice,
  kMemoryFormat,
  kGenerator,
};

// A default value. std::monostate represents None. A list repeats a single number: "int[2]
// padding=0" has the default {0, 0}. Enumerators ("long", "contiguous_format") are strings.
using DefaultValue =
    std::variant<std::monostate, bool, int64_t, double, std::string_view, std::vector<int64_t>>;

// An argument or a result. The strings are views into the parsed text.
struct OperatorArgument {
  std::string_view name;  // empty for results without a name
  ArgumentType type = ArgumentType::kAny;
  bool is_list = false;
  bool is_optional = false;         // "int?", "int[]?"
  bool has_optional_items = false;  // "Tensor?[]"
  bool is_keyword_only = false;
  bool is_written = false;  // "Tensor(a!)"
  char alias = '\0';        // the 'a' of "Tensor(a)"; equal letters mean shared memory
  bool has_default = false;
  DefaultValue default_value;

  friend bool operator==(const OperatorArgument&, const OperatorArgument&) = default;
};

struct Signature {
  std::string_view name;  // "aten::max.dim"
  std::vector<OperatorArgument> arguments;
  std::vector<OperatorArgument> results;
};

// `text` must outlive the result. Throws std::invalid_argument, with the position of the error, if
// `text` is invalid.
Signature parse_signature(std::string_view text);

}  // namespace vitrine

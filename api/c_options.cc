#include "api/c_options.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace vitrine {
namespace {

Error check_data_files(const vitrine_options& options) {
  if (options.data_files == nullptr && options.num_data_files != 0) {
    return Error::make(ErrorCode::kInvalidArgument, "vitrine_options.data_files is NULL");
  }
  for (size_t i = 0; i < options.num_data_files; ++i) {
    if (options.data_files[i] != nullptr) continue;
    return Error::make(ErrorCode::kInvalidArgument, "vitrine_options.data_files[%zu] is NULL", i);
  }
  return Error();
}

Result<OptionValue> option_value(const vitrine_backend_option& option) {
  switch (option.kind) {
    case VITRINE_BOOLEAN:
      return OptionValue(option.as.boolean != 0);
    case VITRINE_INTEGER:
      return OptionValue(option.as.integer);
    case VITRINE_STRING:
      if (option.as.string != nullptr) return OptionValue(std::string_view(option.as.string));
      return Error::make(ErrorCode::kInvalidArgument, "the string of %s for %s is NULL", option.key,
                         option.backend);
    default:
      return Error::make(ErrorCode::kInvalidArgument,
                         "%s for %s is of kind %d; it must be a boolean, an integer or a string",
                         option.key, option.backend, static_cast<int>(option.kind));
  }
}

}  // namespace

Result<vitrine_options> known_options(const vitrine_options* options) {
  vitrine_options known = VITRINE_OPTIONS_INIT;
  if (options == nullptr) return known;
  constexpr size_t kFirstVersion = offsetof(vitrine_options, profile);
  if (options->struct_size < kFirstVersion) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "vitrine_options.struct_size is %zu; initialize with VITRINE_OPTIONS_INIT",
                       options->struct_size);
  }
  std::memcpy(&known, options, std::min(options->struct_size, sizeof(known)));
  VITRINE_RETURN_IF_ERROR(check_data_files(known));
  return known;
}

Result<CheckedVector<BackendOption>> backend_options(const vitrine_options& options) {
  CheckedVector<BackendOption> all;
  if (options.backend_options == nullptr && options.num_backend_options != 0) {
    return Error::make(ErrorCode::kInvalidArgument, "vitrine_options.backend_options is NULL");
  }
  for (size_t i = 0; i < options.num_backend_options; ++i) {
    const vitrine_backend_option& option = options.backend_options[i];
    if (option.backend == nullptr || option.key == nullptr) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "vitrine_options.backend_options[%zu]: %s is NULL", i,
                         option.backend == nullptr ? "backend" : "key");
    }
    Result<OptionValue> value = option_value(option);
    if (!value.ok()) {
      return value.take_error().in("vitrine_options.backend_options[%zu]", i);
    }
    VITRINE_RETURN_IF_ERROR(all.push_back({option.backend, option.key, *value}));
  }
  return all;
}

}  // namespace vitrine

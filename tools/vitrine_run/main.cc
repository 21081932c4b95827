// vitrine_run: runs a program. This small example of a runner does not link a host library.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "runtime/core/parse_real.h"
#include "runtime/core/printable.h"
#include "runtime/platform/new_file.h"
#include "tools/vitrine_run/options.h"
#include "vitrine/vitrine.h"

namespace vitrine::tools {
namespace {

// Prints text from files. Replaces control characters and invalid UTF-8.
void print_text(std::FILE* file, std::string text) {
  make_printable(text);
  std::fputs(text.c_str(), file);
}

Error wrong_input(const std::string& text, const char* why) {
  return Error::make(ErrorCode::kInvalidArgument, "%s: %s", text.c_str(), why);
}

// Parses "2x16".
bool parse_sizes(std::string_view text, std::vector<int32_t>& sizes) {
  sizes.clear();
  for (const char* at = text.data(); at <= text.data() + text.size(); ++at) {
    int32_t size = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return false;
    sizes.push_back(size);
    at = end;
    if (at == text.data() + text.size()) return true;
    if (*at != 'x') return false;
  }
  return false;
}

// Reads "a.bin", or "a.bin:2x16" with sizes. If `text` is empty, all elements of the tensor are
// zero.
Result<Value> read_array(const TensorInfo& info, const std::string& text) {
  std::vector<int32_t> sizes(info.sizes.begin(), info.sizes.end());
  if (text.empty()) {
    VITRINE_ASSIGN_OR_RETURN(Array zeros, Array::zeros(info.dtype, sizes));
    return Value(std::move(zeros));
  }
  std::string path = text;
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && parse_sizes(std::string_view(text).substr(colon + 1), sizes)) {
    path.resize(colon);
  }
  VITRINE_ASSIGN_OR_RETURN(const std::unique_ptr<DataSource> file, open_file(path.c_str()));
  Result<DataBuffer> bytes = file->read(0, file->size());
  if (!bytes.ok()) return bytes.take_error().in("%s", path.c_str());
  auto array = Array::copy_of(info.dtype, bytes->bytes(), sizes);
  if (!array.ok()) return array.take_error().in("%s", text.c_str());
  return Value(std::move(*array));
}

Result<Value> read_integer(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return wrong_input(text, "expected an integer");
  return Value(number);
}

Result<Value> read_real(const std::string& text) {
  double number = 0;
  if (!parse_real(text, number)) return wrong_input(text, "expected a number");
  return Value(number);
}

Result<Value> read_input(const MethodMeta& meta, size_t index, const std::string& text) {
  switch (meta.input_tag(index)) {
    case EValue::Tag::kTensor:
      return read_array(meta.input_tensor(index), text);
    case EValue::Tag::kInt:
      return read_integer(text);
    case EValue::Tag::kDouble:
      return read_real(text);
    case EValue::Tag::kBool:
      return Value(text == "1" || text == "true");
    case EValue::Tag::kNone:
      return Value();
    default:
      return wrong_input(text,
                         "vitrine_run cannot set an input of this kind; set it with the C++ API");
  }
}

Result<std::vector<Value>> read_inputs(const MethodMeta& meta, const RunOptions& options) {
  if (options.inputs.size() > meta.num_inputs()) {
    return Error::make(ErrorCode::kInvalidArgument, "method %s has %zu inputs, but %zu were given",
                       options.method.c_str(), meta.num_inputs(), options.inputs.size());
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    VITRINE_ASSIGN_OR_RETURN(
        Value input, read_input(meta, i, i < options.inputs.size() ? options.inputs[i] : ""));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

template <class T>
void print_elements(const Array& array) {
  constexpr size_t kShown = 8;
  const auto elements = array.data<T>();
  if (!elements.ok()) return;
  for (const T element : elements->first(std::min(kShown, elements->size()))) {
    std::printf(" %g", static_cast<double>(element));
  }
  if (elements->size() > kShown) std::printf(" ...");
}

void print_value(size_t index, const Value& value) {
  std::printf("output %zu:", index);
  if (const Array* array = value.array()) {
    std::printf(" %s[", scalar_type_name(array->dtype()));
    for (const char* comma = ""; const int32_t size : array->sizes()) {
      std::printf("%s%d", std::exchange(comma, ","), size);
    }
    std::printf("]");
    print_elements<float>(*array);
    print_elements<int64_t>(*array);
    print_elements<int32_t>(*array);
    print_elements<uint8_t>(*array);
  } else if (value.integer() != nullptr) {
    std::printf(" %lld", static_cast<long long>(*value.integer()));
  } else if (value.real() != nullptr) {
    std::printf(" %g", *value.real());
  } else if (value.boolean() != nullptr) {
    std::printf(" %s", *value.boolean() ? "true" : "false");
  } else if (value.string() != nullptr) {
    print_text(stdout, " " + *value.string());
  }
  std::printf("\n");
}

Error write_output(const std::string& base, size_t index, const Value& value) {
  if (value.array() == nullptr) return Error();
  const std::string path = base + "-" + std::to_string(index) + ".bin";
  using platform::NewFile;
  VITRINE_ASSIGN_OR_RETURN(NewFile file, NewFile::create(path.c_str(), NewFile::Kind::kOutput));
  VITRINE_RETURN_IF_ERROR(file.write(value.array()->bytes()));
  return file.commit();
}

Error run(const RunOptions& options) {
  VITRINE_ASSIGN_OR_RETURN(Module module,
                           Module::load(options.model.c_str(),
                                        {.threads = options.threads, .data_files = options.data}));
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, module.method_meta(options.method));
  VITRINE_ASSIGN_OR_RETURN(const std::vector<Value> inputs, read_inputs(meta, options));
  VITRINE_RETURN_IF_ERROR(module.load_method(options.method));

  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  std::vector<Value> outputs;
  for (size_t i = 0; i < options.runs; ++i) {
    const Clock::time_point start = Clock::now();
    VITRINE_ASSIGN_OR_RETURN(outputs, module.call(options.method, inputs));
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    print_value(i, outputs[i]);
    if (!options.output_file.empty()) {
      VITRINE_RETURN_IF_ERROR(write_output(options.output_file, i, outputs[i]));
    }
  }
  std::ranges::sort(times);
  std::printf("%zu runs: fastest %.3f ms, median %.3f ms\n", times.size(), times.front(),
              times[times.size() / 2]);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Error();
  return Error::make(ErrorCode::kAccessFailed, "standard output: cannot write");
}

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  using vitrine::tools::CommandLine;
  vitrine::tools::RunOptions options;
  const CommandLine line = vitrine::tools::parse_run_options(argc, argv, options);
  if (line != CommandLine::kRun) return line == CommandLine::kHelp ? 0 : 64;
  const vitrine::Error error = vitrine::tools::run(options);
  if (error.ok()) return 0;
  vitrine::tools::print_text(stderr, std::string("vitrine_run: error: ") + error.message() + "\n");
  return 1;
}

#include "backends/xnnpack/runtime/execution/kernel_choices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "runtime/platform/file.h"

namespace vitrine::xnnpack {
namespace {

constexpr std::string_view kFirstLine = "vitrine choices 1, vectors of ";

Error invalid(const char* format, std::string_view text) {
  const auto size = static_cast<int>(std::min<size_t>(text.size(), 100));
  return Error::make(ErrorCode::kInvalidArgument, format, size, text.data());
}

// Removes the first word of `line` and reads the word as a positive number.
bool take_number(std::string_view& line, uint64_t& number) {
  const size_t end = std::min(line.find(' '), line.size());
  const auto [last, error] = std::from_chars(line.data(), line.data() + end, number);
  if (error != std::errc() || last != line.data() + end || number == 0) return false;
  line.remove_prefix(std::min(end + 1, line.size()));
  return true;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Error check_first_line(std::string_view line, size_t vector_bytes) {
  if (!line.starts_with(kFirstLine)) {
    return invalid("expected a table of choices that `bench --choices` wrote, found \"%.*s\"",
                   line);
  }
  line.remove_prefix(kFirstLine.size());
  uint64_t width = 0;
  if (!take_number(line, width)) return invalid("expected a width in bytes, found \"%.*s\"", line);
  if (width == vector_bytes) return Error();
  return Error::make(ErrorCode::kInvalidArgument,
                     "measured with vectors of %llu bytes, but this processor has %zu: measure on "
                     "this processor",
                     static_cast<unsigned long long>(width), vector_bytes);
}

double distance(const OperatorSizes& a, const OperatorSizes& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto size = [](uint64_t n) { return static_cast<double>(std::max<uint64_t>(n, 1)); };
    sum += std::abs(std::log2(size(a[i]) / size(b[i])));
  }
  return sum;
}

}  // namespace

bool KernelChoices::Row::is_for(std::string_view name) const {
  return name == std::string_view(kernel) || std::string_view(kernel) == "*";
}

// A line has the percentage, three sizes, and the name of the kernel.
Error KernelChoices::add_line(std::string_view line, bool (*is_kernel)(std::string_view)) {
  Row row;
  std::string_view rest = line;
  bool is_valid = take_number(rest, row.percent);
  for (uint64_t& size : row.sizes) is_valid = is_valid && take_number(rest, size);
  if (!is_valid || rest.empty()) {
    return invalid(
        "expected a percentage, three element counts (input row, result row, result) "
        "and a kernel, such as \"61 64 64 4096 Vitrine Softmax (NC, F32)\", found \"%.*s\"",
        line);
  }
  if (rest.size() >= sizeof row.kernel || (rest != "*" && !is_kernel(rest))) {
    return invalid("this build has no kernel \"%.*s\" that a table may choose", rest);
  }
  std::memcpy(static_cast<char*>(row.kernel), rest.data(), rest.size());
  return rows_.push_back(row);
}

Result<KernelChoices> KernelChoices::parse(std::string_view text, std::string_view name,
                                           bool (*is_kernel)(std::string_view),
                                           size_t vector_bytes) {
  const auto name_size = static_cast<int>(std::min<size_t>(name.size(), 200));
  VITRINE_RETURN_IF_ERROR(check_first_line(take_line(text), vector_bytes), "%.*s:1", name_size,
                          name.data());
  KernelChoices choices;
  for (size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    VITRINE_RETURN_IF_ERROR(choices.add_line(line, is_kernel), "%.*s:%zu", name_size, name.data(),
                            number);
  }
  return choices;
}

Result<KernelChoices> KernelChoices::read(std::string_view path,
                                          bool (*is_kernel)(std::string_view),
                                          size_t vector_bytes) {
  char name[4096];
  if (path.size() >= sizeof name) return invalid("the path %.*s... is too long", path);
  std::memcpy(static_cast<void*>(name), path.data(), path.size());
  name[path.size()] = '\0';
  VITRINE_ASSIGN_OR_RETURN(const platform::File file, platform::File::open(name));
  if (file.size() > kMaxFileBytes) {
    return invalid("%.*s: expected a table of choices of at most 1 MiB, found a larger file", path);
  }
  CheckedVector<std::byte> bytes;
  VITRINE_RETURN_IF_ERROR(bytes.resize(static_cast<size_t>(file.size())));
  VITRINE_RETURN_IF_ERROR(file.read(0, {bytes.data(), bytes.size()}));
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, is_kernel,
               vector_bytes);
}

std::optional<bool> KernelChoices::is_faster(std::string_view kernel,
                                             const OperatorSizes& sizes) const {
  const Row* nearest = nullptr;
  for (const Row& row : rows_) {
    if (!row.is_for(kernel)) continue;
    if (nearest == nullptr || distance(row.sizes, sizes) < distance(nearest->sizes, sizes)) {
      nearest = &row;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return nearest->percent <= kMaxPercent;
}

}  // namespace vitrine::xnnpack

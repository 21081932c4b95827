#include "tools/common/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/zip_archive.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 34;

struct NumpyDtype {
  std::string_view name;
  ScalarType dtype;
};
constexpr std::array kNumpyDtypes = {
    NumpyDtype{"<f4", ScalarType::kFloat}, NumpyDtype{"<f8", ScalarType::kDouble},
    NumpyDtype{"<f2", ScalarType::kHalf},  NumpyDtype{"|u1", ScalarType::kByte},
    NumpyDtype{"|i1", ScalarType::kChar},  NumpyDtype{"<i2", ScalarType::kShort},
    NumpyDtype{"<i4", ScalarType::kInt},   NumpyDtype{"<i8", ScalarType::kLong},
    NumpyDtype{"|b1", ScalarType::kBool}};

// The header of a .npy file: a Python dictionary as text.
class NpyHeader {
 public:
  NpyHeader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  ScalarType dtype() const {
    std::string_view value = value_of("descr");
    const char quote = value.empty() ? '\0' : value.front();
    const size_t end = value.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
      fail("its dtype must be a string such as \"<f4\"");
    }
    value = value.substr(1, end - 1);
    const auto found = std::ranges::find(kNumpyDtypes, value, &NumpyDtype::name);
    if (found == kNumpyDtypes.end()) {
      fail(
          fmt::format("the dtype \"{}\" is not supported; convert the array, for example with "
                      "astype(\"float32\")",
                      value));
    }
    return found->dtype;
  }

  bool is_fortran_order() const {
    const std::string_view value = value_of("fortran_order");
    if (!value.starts_with("True") && !value.starts_with("False")) {
      fail("its header does not specify the order of the elements");
    }
    return value.starts_with("True");
  }

  std::vector<int64_t> sizes() const {
    std::string_view value = value_of("shape");
    const size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string_view::npos) fail("its header has no shape");
    value = value.substr(1, end - 1);
    std::vector<int64_t> sizes;
    while (true) {
      while (!value.empty() && (value.front() == ' ' || value.front() == ',')) {
        value.remove_prefix(1);
      }
      if (value.empty()) return sizes;
      int64_t size = 0;
      const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (error != std::errc() || size < 0 || sizes.size() == 64) fail("its shape is invalid");
      sizes.push_back(size);
      value.remove_prefix(static_cast<size_t>(stop - value.data()));
    }
  }

  [[noreturn]] void fail(std::string_view text) const {
    throw ToolError(fmt::format("{}: {}", source_, text));
  }

 private:
  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string quoted = fmt::format("{}{}{}:", quote, key, quote);
      const size_t at = text_.find(quoted);
      if (at == std::string_view::npos) continue;
      std::string_view value = text_.substr(at + quoted.size());
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      return value;
    }
    fail(fmt::format("its header has no \"{}\"", key));
  }

  std::string_view text_;
  const std::string& source_;
};

// Copies column-major elements to row-major order.
std::vector<std::byte> row_major(std::span<const std::byte> bytes,
                                 const std::vector<int64_t>& sizes, size_t width) {
  std::vector<std::byte> to(bytes.size());
  std::vector<int64_t> index(sizes.size(), 0);
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    size_t from = 0;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      from = from * static_cast<size_t>(sizes[dim]) + static_cast<size_t>(index[dim]);
    }
    std::memcpy(to.data() + i * width, bytes.data() + from * width, width);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      if (++index[dim] < sizes[dim]) break;
      index[dim] = 0;
    }
  }
  return to;
}

}  // namespace

NumpyArray parse_npy(std::span<const std::byte> file, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || text.size() < 12) {
    throw ToolError(fmt::format("{}: expected a NumPy array (.npy), found other bytes", source));
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(file[i]); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw ToolError(fmt::format("{}: version {} of the format is not supported", source, version));
  }
  const size_t start = version == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > text.size() - start) throw ToolError(fmt::format("{}: is truncated", source));
  const NpyHeader header(text.substr(start, length), source);
  NumpyArray array;
  array.dtype = header.dtype();
  array.sizes = header.sizes();
  uint64_t expected = element_size(array.dtype);
  const size_t width = expected;
  for (const int64_t size : array.sizes) {
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(size), &expected)) {
      header.fail("its shape is too large");
    }
  }
  const auto data = file.subspan(start + length);
  if (data.size() != expected) {
    header.fail(
        fmt::format("expected {} bytes of elements, found {}: the file is damaged or truncated",
                    expected, data.size()));
  }
  if (header.is_fortran_order() && array.sizes.size() > 1) {
    array.bytes = row_major(data, array.sizes, width);
  } else {
    array.bytes.assign(data.begin(), data.end());
  }
  return array;
}

std::vector<int32_t> tensor_sizes(const NumpyArray& array, const std::string& source) {
  const bool is_small = std::ranges::all_of(
      array.sizes, [](int64_t size) { return size <= std::numeric_limits<int32_t>::max(); });
  if (!is_small) throw ToolError(fmt::format("{}: a size of the array is too large", source));
  return {array.sizes.begin(), array.sizes.end()};
}

std::map<std::string, NumpyArray> read_npz(const std::filesystem::path& file) {
  const ZipArchive archive = ZipArchive::open(file);
  std::map<std::string, NumpyArray> arrays;
  for (const std::string& name : archive.names()) {
    constexpr std::string_view kSuffix = ".npy";
    if (!name.ends_with(kSuffix)) continue;
    const std::string content = archive.read_checked(name, kMaxArrayBytes);
    arrays.emplace(
        name.substr(0, name.size() - kSuffix.size()),
        parse_npy(std::as_bytes(std::span(content)), fmt::format("{} ({})", file.string(), name)));
  }
  if (arrays.empty()) throw ToolError(fmt::format("{}: has no arrays", file.string()));
  return arrays;
}

}  // namespace vitrine::tools

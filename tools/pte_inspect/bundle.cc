#include "tools/pte_inspect/bundle.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/core/checked_math.h"
#include "tools/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMaxSuites = 4096;

// A flatbuffer read field by field, every offset checked.
class FlatView {
 public:
  FlatView(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  template <class T>
  T read(uint64_t at, const char* what) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!range_fits(at, sizeof(T), bytes_.size())) fail(what);
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  uint64_t follow(uint64_t at, const char* what) const { return at + read<uint32_t>(at, what); }

  // Where field `id` of the table at `table` stands; nothing if it is not set.
  std::optional<uint64_t> field(uint64_t table, uint16_t id, const char* what) const {
    const auto to_vtable = read<int32_t>(table, what);
    const auto vtable = static_cast<int64_t>(table) - to_vtable;
    if (vtable < 0) fail(what);
    const auto start = static_cast<uint64_t>(vtable);
    const uint64_t entry = 4 + uint64_t{id} * 2;
    if (entry + 2 > read<uint16_t>(start, what)) return std::nullopt;
    const auto offset = read<uint16_t>(start + entry, what);
    if (offset == 0) return std::nullopt;
    return table + offset;
  }

  // The elements of the vector that the offset at `at` leads to: where they begin, how many.
  std::pair<uint64_t, uint32_t> vector(uint64_t at, size_t element, const char* what) const {
    const uint64_t start = follow(at, what);
    const auto count = read<uint32_t>(start, what);
    if (!range_fits(start + 4, uint64_t{count} * element, bytes_.size())) fail(what);
    return {start + 4, count};
  }

  std::span<const std::byte> bytes(std::pair<uint64_t, uint32_t> range) const {
    return bytes_.subspan(static_cast<size_t>(range.first), range.second);
  }

  [[noreturn]] void fail(const char* what) const {
    throw ToolError(
        fmt::format("{}: bundled program: {} lies outside the {} bytes: the file is "
                    "damaged or cut short",
                    source_, what, bytes_.size()));
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& source_;
};

}  // namespace

Bundle open_bundle(std::span<const std::byte> bytes, const std::string& source) {
  const FlatView view(bytes, source);
  const uint64_t root = view.follow(0, "root table");
  Bundle bundle;
  if (const auto at = view.field(root, 0, "version")) {
    bundle.version = view.read<uint32_t>(*at, "version");
  }
  if (const auto at = view.field(root, 1, "method_test_suites")) {
    const auto [first, count] = view.vector(*at, 4, "method_test_suites");
    if (count > kMaxSuites) {
      throw ToolError(fmt::format("{}: method_test_suites: {} suites; at most {} are read", source,
                                  count, kMaxSuites));
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t suite = view.follow(first + uint64_t{i} * 4, "a test suite");
      BundledSuite& out = bundle.suites.emplace_back();
      if (const auto name = view.field(suite, 0, "method_name")) {
        const auto text = view.bytes(view.vector(*name, 1, "method_name"));
        out.method.assign(reinterpret_cast<const char*>(text.data()), text.size());
      }
      if (const auto cases = view.field(suite, 1, "test_cases")) {
        out.test_cases = view.vector(*cases, 4, "test_cases").second;
      }
    }
  }
  const auto program = view.field(root, 2, "program");
  if (!program) throw ToolError(fmt::format("{}: bundled program: has no program in it", source));
  bundle.program = view.bytes(view.vector(*program, 1, "program"));
  return bundle;
}

}  // namespace vitrine::tools

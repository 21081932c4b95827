#include "formats/etrecord/recorded_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/saved_objects.h"
#include "runtime/core/checked_math.h"

namespace vitrine::etrecord {
namespace {

using Kind = PickleNode::Kind;

// Limits of the total size of all values. Values may be larger than the archive, because tensors
// and lists may overlap or repeat. The maximum is kMaxGrowth times the archive's size plus
// kAlwaysAllowed bytes, but not more than the machine can address.
constexpr uint64_t kMaxGrowth = 4;
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;

class ValueReader {
 public:
  ValueReader(std::string_view bytes, const std::string& location)
      : budget_(std::min(kMaxGrowth * bytes.size() + kAlwaysAllowed, kMaxBytes)),
        objects_({archive_of(bytes, location), nullptr}, location, budget_) {}

  std::map<std::string, std::vector<std::vector<RecordedValue>>> outputs() {
    std::map<std::string, std::vector<std::vector<RecordedValue>>> methods;
    if (objects_.root().kind != Kind::kDict) objects_.fail("is not a dict of methods");
    const std::vector<size_t>& items = objects_.root().items;
    for (size_t i = 0; i < items.size(); i += 2) {
      auto& sets = methods[objects_.node(items[i], Kind::kText, "a method has no name").text];
      for (const size_t set : objects_.node(items[i + 1], Kind::kList, "is not a list").items) {
        sets.push_back(values(objects_.node(set)));
      }
    }
    return methods;
  }

  std::vector<RecordedValue> inputs() { return values(objects_.root()); }

 private:
  static std::span<const std::byte> archive_of(std::string_view bytes,
                                               const std::string& location) {
    if (bytes.starts_with('\x80')) {
      throw FormatError(
          fmt::format("{}: is a plain pickle (ExecuTorch up to 0.7), which is refused because it "
                      "may contain code; "
                      "export the record again",
                      location));
    }
    return std::as_bytes(std::span(bytes));
  }

  std::vector<RecordedValue> values(const PickleNode& list) {
    if (list.kind != Kind::kList) objects_.fail("is not a list of values");
    spend(list.items.size() * sizeof(RecordedValue));
    std::vector<RecordedValue> result;
    result.reserve(list.items.size());
    for (const size_t item : list.items) result.push_back(value(objects_.node(item)));
    return result;
  }

  RecordedValue value(const PickleNode& from) {
    switch (from.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return from.number != 0;
      case Kind::kInt:
        return from.number;
      case Kind::kReal:
        return from.real;
      case Kind::kCall:
        return elements(objects_.tensor(from));
      default:
        objects_.fail("a value is neither a tensor, a number nor None");
    }
  }

  void spend(uint64_t bytes) {
    if (bytes > budget_) objects_.fail("its values are far larger than the archive: refused");
    budget_ -= bytes;
  }

  // Copies the elements of a tensor in row-major order.
  RecordedTensor elements(const SavedTensor& from) {
    RecordedTensor to = {.dtype = from.dtype, .sizes = from.sizes, .data = {}};
    const std::vector<int64_t>& strides = from.strides;
    if (strides.size() != to.sizes.size())
      objects_.fail("a tensor must have as many strides as sizes");
    const auto is_negative = [](int64_t number) { return number < 0; };
    if (std::ranges::any_of(to.sizes, is_negative) || std::ranges::any_of(strides, is_negative)) {
      objects_.fail("a tensor's size or stride is negative");
    }
    if (std::ranges::count(to.sizes, 0) != 0) return to;
    uint64_t numel = 1;
    uint64_t last = static_cast<uint64_t>(from.storage_offset);
    bool overflows = from.storage_offset < 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      uint64_t reach = 0;
      overflows = overflows || mul_overflows(numel, to.sizes[i], &numel) ||
                  mul_overflows(to.sizes[i] - 1, strides[i], &reach) ||
                  add_overflows(last, reach, &last);
    }
    const size_t width = element_size(to.dtype);
    uint64_t bytes = 0;
    if (overflows || mul_overflows(numel, width, &bytes) ||
        last >= from.storage.span.size() / width) {
      objects_.fail("a tensor reaches beyond its storage");
    }
    spend(bytes);
    to.data.resize(static_cast<size_t>(bytes));
    std::vector<int64_t> index(strides.size(), 0);
    int64_t at = from.storage_offset;
    for (size_t logical = 0; logical < numel; ++logical) {
      std::memcpy(to.data.data() + logical * width,
                  from.storage.span.data() + static_cast<size_t>(at) * width, width);
      for (size_t dim = index.size(); dim-- > 0;) {
        at += strides[dim];
        if (++index[dim] < to.sizes[dim]) break;
        at -= strides[dim] * index[dim];
        index[dim] = 0;
      }
    }
    return to;
  }

  uint64_t budget_;
  SavedObjects objects_;
};

}  // namespace

std::map<std::string, std::vector<std::vector<RecordedValue>>> parse_reference_outputs(
    std::string_view archive, const std::string& location) {
  return ValueReader(archive, location).outputs();
}

std::vector<RecordedValue> parse_representative_inputs(std::string_view archive,
                                                       const std::string& location) {
  return ValueReader(archive, location).inputs();
}

}  // namespace vitrine::etrecord

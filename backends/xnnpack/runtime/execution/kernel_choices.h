// A table of measured times, which decides if an operator runs on Vitrine's kernel
// (docs/xnnpack.md#a-table-of-choices). `bench --choices` writes such tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// The row length of the first input, the row length of the result, and the number of elements of
// the result. A row is the last dimension.
using OperatorSizes = std::array<uint64_t, 3>;

class KernelChoices {
 public:
  // A Vitrine kernel runs an operator if the kernel takes at most this percentage of the time of
  // XNNPACK's kernel.
  static constexpr uint64_t kMaxPercent = 95;
  static constexpr uint64_t kMaxFileBytes = 1 << 20;

  // Parses the text of a table. `name` is the file name in error messages. All errors are
  // InvalidArgument. `is_kernel` accepts the kernels that a table may name. `vector_bytes` is the
  // width of this processor's vectors.
  static Result<KernelChoices> parse(std::string_view text, std::string_view name,
                                     bool (*is_kernel)(std::string_view), size_t vector_bytes);
  static Result<KernelChoices> read(std::string_view path, bool (*is_kernel)(std::string_view),
                                    size_t vector_bytes);

  // Returns true if `kernel` is faster than XNNPACK's kernel. The line of `kernel` with the nearest
  // sizes decides. The distance is the sum of |log(ratio)| over the three sizes. In a tie, the
  // first line wins. Returns nothing if the table does not have a line for `kernel`.
  std::optional<bool> is_faster(std::string_view kernel, const OperatorSizes& sizes) const;
  bool is_empty() const { return rows_.empty(); }
  bool has(std::string_view kernel) const { return is_faster(kernel, {1, 1, 1}).has_value(); }

 private:
  struct Row {
    bool is_for(std::string_view name) const;
    char kernel[64] = {};  // zero-terminated; "*" for all kernels
    OperatorSizes sizes = {};
    uint64_t percent = 100;  // percentage of the time of XNNPACK's kernel
  };
  Error add_line(std::string_view line, bool (*is_kernel)(std::string_view));

  CheckedVector<Row> rows_;
};

}  // namespace vitrine::xnnpack

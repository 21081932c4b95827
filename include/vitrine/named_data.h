// NamedDataMap finds data by its name, such as the weights of a delegate, in the program file or in
// a .ptd file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vitrine/data_source.h"
#include "vitrine/error.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

// Dtype and shape of a stored tensor. The spans are valid while the map exists.
struct TensorLayout {
  ScalarType dtype;
  std::span<const int32_t> sizes;
  std::span<const uint8_t> dim_order;
};

// Immutable and thread-safe.
class NamedDataMap {
 public:
  virtual ~NamedDataMap() = default;
  virtual size_t size() const = 0;
  // Empty if `index` is out of range.
  virtual std::string_view key(size_t index) const = 0;
  // The bytes are valid while both the buffer and the map exist. Returns NotFound for an unknown
  // key.
  virtual Result<DataBuffer> get(std::string_view key) const = 0;
  // Returns nullopt if the bytes are not a tensor, and NotFound for an unknown key.
  virtual Result<std::optional<TensorLayout>> layout(std::string_view key) const = 0;
  // Identifies the files of the map and their versions. As in DataSource::stamp(), 0 means unknown.
  virtual uint64_t stamp() const { return 0; }
  // Tells the map that the bytes of `key` are not needed soon, like DataSource::release(). Unknown
  // keys are ignored.
  virtual void release(std::string_view /*key*/) const {}
  // Total size of the map's files, or 0 without files.
  virtual uint64_t file_bytes() const { return 0; }
};

// Searches the first map, then the second map. Either may be null. Both must outlive this object.
class MergedNamedData final : public NamedDataMap {
 public:
  MergedNamedData(const NamedDataMap* first, const NamedDataMap* second)
      : first_(first), second_(second) {}
  size_t size() const override;
  std::string_view key(size_t index) const override;
  Result<DataBuffer> get(std::string_view key) const override;
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override;
  uint64_t stamp() const override;
  void release(std::string_view key) const override;
  uint64_t file_bytes() const override;

 private:
  template <class Found, class Ask>
  Result<Found> ask_both(std::string_view key, const Ask& ask) const;
  static Error no_data(std::string_view key);

  const NamedDataMap* first_;
  const NamedDataMap* second_;
};

}  // namespace vitrine

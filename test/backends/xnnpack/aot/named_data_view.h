// Gives the runtime the constants of a lowered module as named data.
#pragma once

#include <vector>

#include "aot/graph/lowered_module.h"
#include "vitrine/named_data.h"

namespace vitrine::aot::test {

class NamedDataView final : public NamedDataMap {
 public:
  // `data` must outlive this object.
  explicit NamedDataView(const std::vector<NamedData>& data) : data_(data) {}
  size_t size() const override { return data_.size(); }
  std::string_view key(size_t index) const override { return data_[index].key; }
  Result<DataBuffer> get(std::string_view key) const override {
    for (const NamedData& each : data_) {
      if (each.key == key) return DataBuffer(std::span<const std::byte>(*each.bytes));
    }
    return Error::make(ErrorCode::kNotFound, "no named data with this key");
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }

 private:
  const std::vector<NamedData>& data_;
};

}  // namespace vitrine::aot::test

// Loads the bytes of a delegate's constants. A payload stores them in legacy buffers inside the
// flatbuffer, in the region after the flatbuffer, or as named data.
//
// XNNPACK needs natural alignment and reads up to XNN_EXTRA_BYTES past the end of a tensor. Bytes
// that do not meet both requirements are copied.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "backends/xnnpack/runtime/weights/weights_cache.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"
#include "vitrine/data_source.h"
#include "vitrine/named_data.h"

namespace vitrine::xnnpack {

class Constants {
 public:
  Constants() = default;
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;
  ~Constants();

  // Checks the sizes of all constants that live nodes read, and sets the members `data`, `content`
  // and `scales` of their values in `graph`. Call this once. `named_data` may be null if no
  // constant is named data; `cache` may be null. Charges one step for every 64 bytes that a node
  // reads. Charges copied constants to `memory` until the copies are released. `memory` may be
  // null; otherwise, it must outlive this object.
  Error load(const Payload& payload, const NamedDataMap* named_data, WeightsCache* cache,
             Budget& steps, Budget* memory, Graph& graph);

  // Releases the filters, biases and scales that XNNPACK has packed, and the memory pages that hold
  // them. The payload must stay valid until this call returns.
  void release_packed();
  // Reports the memory of copied constants. Constants that are read in place belong to the program.
  void report_memory(DelegateMemory& report) const;

 private:
  struct NamedConstant {
    const NamedDataMap* map;
    std::string_view key;
  };
  Error keep(DataBuffer bytes, CheckedVector<DataBuffer>& kept);
  void release(CheckedVector<DataBuffer>& kept);

  Budget* memory_ = nullptr;
  CheckedVector<DataBuffer> packed_;
  CheckedVector<NamedConstant> packed_names_;
  CheckedVector<DataBuffer> referenced_;
};

}  // namespace vitrine::xnnpack

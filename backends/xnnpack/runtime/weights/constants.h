// Loads the bytes of a delegate's constants: legacy buffers inside the flatbuffer, the region after
// the flatbuffer, or named data. XNNPACK needs natural alignment and reads up to XNN_EXTRA_BYTES
// past the end of a tensor. Bytes that do not meet both requirements are copied.
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

  // Checks the sizes of all constants that live nodes read, and sets `data`, `content` and `scales`
  // of their values. Call once. `named_data`, `cache` and `memory` may be null; `memory` must
  // outlive this object. Charges one step for every 64 bytes that a node reads. Charges copies to
  // `memory` until they are released.
  Error load(const Payload& payload, const NamedDataMap* named_data, WeightsCache* cache,
             Budget& steps, Budget* memory, Graph& graph);

  // Releases the filters, biases and scales that XNNPACK has packed, and their memory pages. The
  // payload must stay valid until this call returns.
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

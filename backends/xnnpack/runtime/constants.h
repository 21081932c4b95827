// The bytes of a delegate's constants, from wherever its blob keeps them: the legacy buffers inside
// the flatbuffer, the region behind it, or named data.
//
// XNNPACK reads up to XNN_EXTRA_BYTES past a tensor, and asks for natural alignment. Bytes that
// allow neither are copied.
#pragma once

#include "backends/xnnpack/runtime/blob.h"
#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/weights_cache.h"
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

  // Sets `data`, `content` and `scales` of all constants that live nodes read, after comparing
  // their sizes with shapes and datatypes. `named_data` may be null if no constant asks for it;
  // `cache` may be null. Each 64 bytes that a node reads take a step. Copies are taken from
  // `memory`, which may be null and outlives this, for as long as they are kept. Called once.
  Error load(const Blob& blob, const NamedDataMap* named_data, WeightsCache* cache, Budget& steps,
             Budget* memory, Graph& graph);

  // Drops what XNNPACK has packed by now: filters, biases and scales, and lets their pages go. The
  // blob, which is there still, may go too.
  void release_packed();
  // Copies of constants; those read in place are the program's.
  void report_memory(DelegateMemory& report) const;

 private:
  struct Named {
    const NamedDataMap* map;
    std::string_view key;
  };
  Error keep(DataBuffer bytes, CheckedVector<DataBuffer>& kept);
  void release(CheckedVector<DataBuffer>& kept);

  Budget* memory_ = nullptr;
  CheckedVector<DataBuffer> packed_;
  CheckedVector<Named> packed_names_;
  CheckedVector<DataBuffer> referenced_;
};

}  // namespace vitrine::xnnpack

// Verifies that all offsets in a flatbuffer point into the flatbuffer.
//
// Performs the checks of the flatbuffers library's verifier, and checks the alignment of 8-byte
// elements. schema/table_shapes.py generates the arrays (TableShapes) that describe a schema. The
// arrays are much smaller than the code that flatc generates.
// Format: https://flatbuffers.dev/internals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine {

struct FieldShape {
  enum Kind : uint8_t {
    kNoField,
    kScalar,  // `argument` is the size in bytes
    kString,
    kVector,  // vector of scalars; `argument` is the size of an element in bytes
    kTable,   // `argument` is the index of the table's shape
    kTables,  // vector of tables; `argument` is the index of their shape
    // A union. The table's previous field is the union's type. The shape of type t has the index
    // TableShapes::unions[argument + t - 1]. Values of types above `count` are not verified.
    kUnion,
  };
  Kind kind = kNoField;
  uint8_t argument = 0;
  uint8_t count = 0;
};

// The tables of a schema. Table t has the fields [starts[t], starts[t + 1]), in the order of the
// schema. Tables must not contain themselves, so the depth of nesting is limited.
struct TableShapes {
  const FieldShape* fields;
  const uint16_t* starts;
  const uint8_t* unions;
  uint8_t root;
};

// Returns true if the root table and everything below it are inside the buffer and aligned. The
// offset of the root table is at byte `start`. Each visit of a table takes a step. Returns false if
// no steps are left. `bytes` must be aligned for every scalar.
bool verify_tables(std::span<const std::byte> bytes, const TableShapes& shapes, Budget& steps,
                   size_t start = 0);

// Returns OutOfResources for a file that needs more than steps.limit() steps. The message says that
// the limit is one step per byte.
Error too_many_items(const Budget& steps);

}  // namespace vitrine

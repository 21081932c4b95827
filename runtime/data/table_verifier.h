// Checks that a flatbuffer's offsets stay inside it, as flatbuffers' own verifier does, and also
// that elements of 8 bytes are aligned. It is driven by tables that describe a schema: a tenth of
// the code that flatc generates for this. schema/table_shapes.py writes them. Format:
// https://flatbuffers.dev/internals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine {

// The kind of a table's field.
struct FieldShape {
  enum Kind : uint8_t {
    kNoField,
    kScalar,  // argument: bytes
    kString,
    kVector,  // of scalars; argument: bytes of one
    kTable,   // argument: number of the table
    kTables,  // vector of tables; likewise
    // The field before is its type; argument: where TableShapes::unions has the number of the table
    // of type 1, the others follow. One of a type beyond `count` is not looked at.
    kUnion,
  };
  Kind kind = kNoField;
  uint8_t argument = 0;
  uint8_t count = 0;
};

// Tables by number: table t has the fields [starts[t], starts[t + 1]), in the order of the schema.
// Nesting is bounded by the schema: no table may contain itself.
struct TableShapes {
  const FieldShape* fields;
  const uint16_t* starts;
  const uint8_t* unions;
  uint8_t root;
};

// Whether the root table, to which the offset at byte `start` leads, and all below it lie inside
// the buffer, scalars and elements of vectors aligned. Each table that is met takes a step, as
// often as it is met: false also if there are none left. `bytes` is aligned for every scalar.
bool verify_tables(std::span<const std::byte> bytes, const TableShapes& shapes, Budget& steps,
                   size_t start = 0);

// OutOfResources: a file has used up its steps, one a byte of its flatbuffer.
Error too_many_items(const Budget& steps);

}  // namespace vitrine

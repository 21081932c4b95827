// Names by which our ETDumps carry what the format has no field for. Other readers see ordinary
// events outside of instructions. Specified in docs/formats/etdump.md, "Extensions".
#pragma once

namespace vitrine::etdump {

// Events whose metadata is a count, as decimal text.
inline constexpr char kDroppedRecords[] = "vitrine::dropped_records";
inline constexpr char kDroppedValues[] = "vitrine::dropped_values";
inline constexpr char kDroppedBlocks[] = "vitrine::dropped_blocks";

// The block that tells of blocks that did not fit.
inline constexpr char kDroppedBlock[] = "vitrine::dropped";

}  // namespace vitrine::etdump

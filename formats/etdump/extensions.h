// Names by which our ETDumps carry what the format has no field for. Other readers see ordinary
// events outside of instructions. Specified in docs/formats/etdump.md, "Extensions".
#pragma once

namespace vitrine::etdump {

// Events whose metadata is a count, as decimal text.
inline constexpr char kDroppedRecords[] = "vitrine::dropped_records";
inline constexpr char kDroppedValues[] = "vitrine::dropped_values";
inline constexpr char kDroppedBlocks[] = "vitrine::dropped_blocks";

// In the block of a run that was to warm up only; from its start to its end.
inline constexpr char kWarmUp[] = "vitrine::warm_up";

// The block that tells of blocks that did not fit.
inline constexpr char kDroppedBlock[] = "vitrine::dropped";

}  // namespace vitrine::etdump

// Names of our extensions: information for which ETDump has no field. Other readers see ordinary
// events outside instructions. Specified in docs/formats/etdump.md, "Extensions".
#pragma once

namespace vitrine::etdump {

// Events whose metadata is a count, as decimal text.
inline constexpr char kDroppedRecords[] = "vitrine::dropped_records";
inline constexpr char kDroppedValues[] = "vitrine::dropped_values";
inline constexpr char kDroppedBlocks[] = "vitrine::dropped_blocks";

// In the block of a warm-up run; lasts from its start to its end.
inline constexpr char kWarmUp[] = "vitrine::warm_up";

// The block that counts the blocks that did not fit.
inline constexpr char kDroppedBlock[] = "vitrine::dropped";

}  // namespace vitrine::etdump

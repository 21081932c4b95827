// Names of events and blocks that extend ETDump (docs/formats/etdump.md, "Extensions"). Other
// readers treat them as ordinary events outside of instructions.
#pragma once

namespace vitrine::etdump {

// Names of events whose metadata is a count, as decimal text.
inline constexpr char kDroppedRecords[] = "vitrine::dropped_records";
inline constexpr char kDroppedValues[] = "vitrine::dropped_values";
inline constexpr char kDroppedBlocks[] = "vitrine::dropped_blocks";

// The event that marks a warm-up run. It is in the run's block and lasts as long as the run.
inline constexpr char kWarmUp[] = "vitrine::warm_up";

// Name of the block that holds the event kDroppedBlocks.
inline constexpr char kDroppedBlock[] = "vitrine::dropped";

}  // namespace vitrine::etdump

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/delegates/byte_view.h"

namespace vitrine::delegates::ethos_u {

// The height, width and depth of a feature map.
using Shape = std::array<uint64_t, 3>;

struct Command {
  std::string name;  // for example "CONV", "ELEMENTWISE add" or "DMA"
  Shape ifm{}, ofm{};
  uint64_t kernel_height = 1, kernel_width = 1;
  uint64_t macs = 0;
  uint64_t dma_bytes = 0;
  bool has_shapes = false;
};

struct CommandStream {
  std::string target;  // for example "128 MACs per cycle, architecture 1.0.6"; empty without a
                       // configuration
  std::vector<Command> commands;
  size_t unknown_commands = 0;
};

// Reads a cmd_data block of an Ethos-U NPU. Throws a FormatError if the block is damaged.
CommandStream read_command_stream(Bytes block);

}  // namespace vitrine::delegates::ethos_u

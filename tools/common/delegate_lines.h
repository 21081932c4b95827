// Describes a program's delegates, and finds delegates whose backend this build lacks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/delegate_reader.h"
#include "schema/program_generated.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the backend's name, the payload and the compile options. Valid while the program is
// alive.
delegates::PayloadInput payload_input(const schema::program::BackendDelegate& delegate,
                                      std::span<const std::byte> payload);

enum class DelegateChoice : uint8_t { kAll, kMissing };  // kMissing: this build lacks the backend

// Returns a line for each selected delegate of the method: "delegate 0: VulkanBackend: Vulkan
// graph, 8 operators (aten.linear.default, ...), 6 constants: 6376 bytes". `external` has the data
// of .ptd files, or is null.
std::vector<std::string> delegate_lines(const Program& program, std::string_view method,
                                        const NamedDataMap* external, DelegateChoice choice);

// Counts the method's kernel calls: "kernels: 3 calls (aten::add.out x2, aten::softmax.out)".
std::string kernel_line(const Program& program, std::string_view method);

}  // namespace vitrine::tools

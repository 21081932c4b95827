// GraphPicture is a graph to draw: boxes that contain boxes, and the tensors between them. The
// tools make a GraphPicture from a program or an exported model. Its names come from files and may
// contain any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/report/row_figures.h"

namespace vitrine::inspector {

// A row of a profile or of one of its queues.
struct RowOfQueue {
  std::string queue;  // empty for the CPU
  size_t row = 0;
};

struct GraphPicture {
  static constexpr size_t kNoParent = SIZE_MAX;

  enum class Kind : uint8_t { kOp, kInput, kOutput, kMethod, kDelegate, kModule, kSegment };
  struct Node {
    Kind kind = Kind::kOp;
    std::string label;            // for example "convolution"
    std::string note;             // second line, such as "weight f32[16,3,3,3]"; may be empty
    size_t parent = kNoParent;    // the box that contains this node
    std::string module_path;      // for example "features.0"; empty if unknown
    std::string backend;          // for example "XnnpackBackend" or "kernels"; empty if unknown
    std::string type;             // type of the first result, such as "f32[1,16]"; empty if unknown
    uint64_t constant_bytes = 0;  // bytes of the weights
    double time_ns = 0;           // time in a run, if the picture shows a profile; a box has only
                                  // its own time
    double device_time = 0;       // time in the unit of device_queue, never part of time_ns
    std::vector<RowOfQueue> rows;      // rows of the profile
    std::vector<std::string> sources;  // source ops with their modules, such as "aten.relu.default
                                       // act"
    std::string change;                // change from the other of two pictures; see
                                       // picture_changes.h
    std::optional<size_t> partner;     // the node of the other picture that runs its source op
    std::vector<std::pair<std::string, std::string>> facts;  // rows of the node's table: name, text
  };
  struct Edge {
    size_t from = 0;
    size_t to = 0;
    std::string type;  // type of the tensor
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  std::string title;               // for example "model.pte"
  std::vector<std::string> facts;  // the subtitle
  std::vector<std::string> notes;  // warnings
  bool has_times = false;
  std::string device_queue;       // name of the queue of device_time; empty without a device
  bool has_device_ticks = false;  // true if device_time is not ns
  RowFigures figures;             // figures that color the nodes of the rows; may be empty
  std::vector<Node> nodes;        // in execution order; boxes may be anywhere
  std::vector<Edge> edges;
  // The path of each module, and its class, such as "torch.nn.modules.conv.Conv2d".
  std::vector<std::pair<std::string, std::string>> module_classes;
};

// Returns the bytes of a tensor of this type: 602112 for "f32[1,3,224,224]". Returns 0 if a size is
// unknown or if the dtype does not have a fixed width.
uint64_t bytes_of_type(std::string_view type);

// Adds boxes for modules, and divides boxes that would have more than kMaxChildren children.
//
// A module gets one box. If this box would make a cycle of edges, each series of consecutive nodes
// of the module gets a box of its own. A module with one child gets no box. The nodes of each box
// must be in topological order.
void add_module_boxes(GraphPicture& picture);
inline constexpr size_t kMaxChildren = 60;

}  // namespace vitrine::inspector

// GraphPicture is a graph to draw: boxes that contain boxes, and the tensors between them.
//
// The tools make a GraphPicture from a program or an exported model, and report_graph.h writes the
// picture as a page. Names in a picture come from files and may contain any bytes.
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
  size_t row = 0;     // index
};

struct GraphPicture {
  static constexpr size_t kNoParent = SIZE_MAX;

  enum class Kind : uint8_t { kOp, kInput, kOutput, kMethod, kDelegate, kModule, kSegment };
  struct Node {
    Kind kind = Kind::kOp;
    std::string label;            // "convolution"
    std::string note;             // second line: "weight f32[16,3,3,3]"; may be empty
    size_t parent = kNoParent;    // the box that contains it
    std::string module_path;      // "features.0"; empty if unknown
    std::string backend;          // "XnnpackBackend", "kernels"; empty if unknown
    std::string type;             // the first result: "f32[1,16]"; empty if unknown
    uint64_t constant_bytes = 0;  // weights
    double time_ns = 0;           // of a run, if the picture shows a profile; boxes: only their own
    double device_time = 0;       // in the unit of device_queue, never part of time_ns
    std::vector<RowOfQueue> rows;      // of the profile
    std::vector<std::string> sources;  // its source ops with their modules: "aten.relu.default act"
    std::string change;                // from the other of two pictures; see picture_changes.h
    std::optional<size_t> partner;     // the node of the other picture that runs its source op
    std::vector<std::pair<std::string, std::string>> facts;  // the node's row: name, text
  };
  struct Edge {
    size_t from = 0;
    size_t to = 0;
    std::string type;  // of the tensor
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  std::string title;               // "model.pte"
  std::vector<std::string> facts;  // the subtitle
  std::vector<std::string> notes;  // warnings
  bool has_times = false;
  std::string device_queue;       // of device_time; empty without a device
  bool has_device_ticks = false;  // device_time is not ns
  RowFigures figures;             // color the nodes of the rows; may be empty
  std::vector<Node> nodes;        // in execution order, boxes anywhere
  std::vector<Edge> edges;
  // The path of each module, and its class, such as "torch.nn.modules.conv.Conv2d".
  std::vector<std::pair<std::string, std::string>> module_classes;
};

// Returns the number of bytes of a tensor of this type: 602112 for "f32[1,3,224,224]". Returns 0 if
// a size is unknown or if the dtype has no fixed width.
uint64_t bytes_of_type(std::string_view type);

// Adds boxes for modules, and divides boxes that would have more than kMaxChildren children.
//
// A module gets one box, unless the edges between this box and other boxes or nodes would form a
// cycle. In that case, each series of consecutive nodes of the module gets a box of its own. A
// module with one child gets no box. The nodes of each box must be in topological order.
void add_module_boxes(GraphPicture& picture);
inline constexpr size_t kMaxChildren = 60;

}  // namespace vitrine::inspector

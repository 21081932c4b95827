// Serializes values and arguments of an edge program as the JSON of ETRecords.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Returns the JSON object {kind: content}.
nlohmann::ordered_json union_json(const char* kind, nlohmann::ordered_json content);
nlohmann::ordered_json tensor_json(const TensorSpec& spec);

class SourceValues {
 public:
  // Returns the node's unique name in the JSON. Node names are not unique if several graphs are
  // written as one list.
  const std::string& name_of(const Node& node);
  void set_name(const Node& node, std::string name) { names_[&node] = std::move(name); }
  void alias(const Node& node, const Node* other) {
    if (other != nullptr) names_[&node] = name_of(*other);
  }

  nlohmann::ordered_json reference(const Node& node);
  nlohmann::ordered_json argument(const Argument& argument);

 private:
  nlohmann::ordered_json list(const ArgumentList& items);

  std::unordered_map<const Node*, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace vitrine::aot

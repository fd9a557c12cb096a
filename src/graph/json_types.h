// Types in saved graphs: data types stand in a list of their own, and other types name them.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "graph/json_place.h"
#include "hiaton/graph.h"

namespace hiaton::graph {

/// The data types that values of the graph have, and those in their fields.
std::vector<Type> data_types_of(const Graph& graph);

nlohmann::ordered_json type_json(const Type& type);
/// A data type with its variants.
nlohmann::ordered_json data_type_json(const Type& type);

/// Reads the list of data types, then types that name them.
class TypeReader {
 public:
  /// `list`: of data_type_json.
  void read_data_types(const JsonPlace& list);
  Type read(const JsonPlace& place) const;

 private:
  Variant read_variant(const JsonPlace& place) const;

  DataTypes types_;
};

}  // namespace hiaton::graph

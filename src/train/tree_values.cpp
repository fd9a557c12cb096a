#include "train/tree_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hiaton/error.h"

namespace hiaton::train {
namespace {

constexpr uint32_t kNil = 0;
constexpr uint32_t kCons = 1;

Value list_of(int32_t count, const auto& take_element) {
  std::vector<Value> elements;
  for (int32_t i = 0; i < count; ++i) elements.push_back(take_element());
  Value list = Data(kNil, {});
  for (std::size_t i = elements.size(); i-- > 0;) {
    Value cell[] = {std::move(elements[i]), std::move(list)};
    list = Data::take(kCons, cell);
  }
  return list;
}

/// The nodes of a tree as data values, each of which its parent takes.
class MadeNodes {
 public:
  explicit MadeNodes(std::size_t count) : values_(count) {}
  MadeNodes(const MadeNodes&) = delete;
  ~MadeNodes() {
    for (DataObject* value : values_) Data::release(value);
  }

  void set(std::size_t node, Data value) { values_[node] = value.detach(); }
  DataObject* take(std::size_t node) { return std::exchange(values_[node], nullptr); }

 private:
  std::vector<DataObject*> values_;
};

}  // namespace

std::string show_parameters(const std::vector<EntryParameter>& parameters) {
  std::string text;
  for (const EntryParameter& parameter : parameters)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", parameter.name, to_string(parameter.type));
  return text;
}

TreeValues::TreeValues(const Program& program, std::string name) : name_(std::move(name)) {
  const std::vector<EntryParameter>& parameters = program.parameters();
  has_seed_ = parameters.size() == 2 && parameters[1].type == Type(DType::I64);
  if (parameters.size() != (has_seed_ ? 2 : 1) || !parameters[0].type.is_data()) {
    throw ProgramError(fmt::format(
        "{}: the data are trees: expected 'loss' to take one tree of a data type, and perhaps a seed "
        "of type i64, found loss({}); programs that take something else learn from other data, one "
        "example a line",
        name_, show_parameters(parameters)));
  }
  type_ = parameters[0].type;
  const DataType& data = *type_.data;
  for (uint32_t v = 0; v < data.variants.size(); ++v) {
    Shape shape{.variant = v, .roles = {}, .layout = {}, .exists = true};
    for (const Field& field : data.variants[v].fields) {
      const bool number = field.type == Type(DType::I64);
      const int role = number && field.name == "label"                             ? kLabel
                       : number && field.name == "word"                            ? kWord
                       : field.type == type_                                       ? kChild
                       : to_string(field.type) == "List[" + to_string(type_) + "]" ? kChildren
                                                                                   : -1;
      if (role < 0) {
        throw ProgramError(fmt::format(
            "{}: field '{}' of {}: expected 'label: i64', 'word: i64', a {} or a List[{}], found {}: {}",
            name_, field.name, data.variants[v].name, data.name, data.name, field.name,
            to_string(field.type)));
      }
      shape.roles.push_back(role);
    }
    shape.layout = FieldLayout(field_kinds(data.variants[v]));
    const auto count = [&](int role) { return std::count(shape.roles.begin(), shape.roles.end(), role); };
    if (count(kWord) > 0 && count(kChild) + count(kChildren) > 0) {
      throw ProgramError(fmt::format(
          "{}: expected each variant of {} to have a word, for leaves, or children, for inner nodes; "
          "found both in {}: the nodes of such data have either",
          name_, data.name, data.variants[v].name));
    }
    if (count(kWord) == 1 && count(kChild) == 0 && count(kChildren) == 0) leaf_ = shape;
    if (count(kWord) == 0 && count(kChild) == 2 && count(kChildren) == 0) binary_ = shape;
    if (count(kWord) == 0 && count(kChild) == 0 && count(kChildren) == 1) list_ = shape;
  }
  if (!leaf_.exists || (!binary_.exists && !list_.exists)) {
    throw ProgramError(
        fmt::format("{}: expected {} to have a variant with a field 'word: i64' and one with two "
                    "fields {} or one List[{}]",
                    name_, data.name, data.name, data.name));
  }
}

/// Children stand behind their parents, so from the last node to the first all children are there in time.
Value TreeValues::value_of(const Tree& tree) const {
  MadeNodes made(tree.nodes.size());
  std::vector<Slot> fields(std::max({leaf_.roles.size(), binary_.roles.size(), list_.roles.size()}));
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const Node& node = tree.nodes[i];
    const Shape& shape = node.child_count == 0                     ? leaf_
                         : binary_.exists && node.child_count == 2 ? binary_
                                                                   : list_;
    if (!shape.exists) {
      throw ProgramError(fmt::format(
          "{} takes trees whose nodes have two children, found one with {}{}", name_, node.child_count,
          node.line > 0 ? fmt::format(" in line {}, column {} of the data", node.line, node.column) : ""));
    }
    Children::Iterator child = tree.children(static_cast<int32_t>(i)).begin();
    const auto take_child = [&] {
      DataObject* value = made.take(static_cast<std::size_t>(*child));
      ++child;
      return Data::adopt(value);
    };
    Slot* field = fields.data();
    for (const int role : shape.roles) {
      switch (role) {
        case kLabel:
          (field++)->i64 = node.label;
          break;
        case kWord:
          (field++)->i64 = node.word;
          break;
        case kChild:
          (field++)->data = take_child().detach();
          break;
        default:
          *field++ = list_of(node.child_count, take_child).detach();
      }
    }
    made.set(i, Data::take(shape.variant, shape.layout, std::span(fields).first(shape.roles.size())));
  }
  return Data::adopt(made.take(0));
}

namespace {

/// Rounded as a softmax in single precision leaves them.
void require_probabilities(std::span<const float> numbers, std::string_view name) {
  constexpr double kMostOff = 1e-2;
  double sum = 0;
  float least = 0;
  for (const float number : numbers) {
    sum += number;
    least = std::min(least, number);
  }
  if (!std::isfinite(sum) || (least == 0 && std::abs(sum - 1) <= kMostOff)) return;
  const std::string found = least < 0 ? fmt::format("{} among them", least) : fmt::format("a sum of {}", sum);
  throw ProgramError(
      fmt::format("{}: expected 'predict' to give probabilities, as softmax does, found {}", name, found));
}

}  // namespace

Prediction prediction_in(const Value& value, const Tree& tree, int32_t classes, std::string_view name) {
  Prediction made;
  made.classes = classes;
  made.probabilities.reserve(tree.nodes.size() * static_cast<std::size_t>(classes));
  std::vector<ValueView> open{value};
  while (!open.empty()) {
    const ValueView next = open.back();
    open.pop_back();
    if (next.is_data()) {
      const DataFields fields(next.slot.data);
      for (std::size_t i = fields.size(); i-- > 0;) {
        const ValueView field = fields.view(i);
        if (!field.is_scalar()) open.push_back(field);
      }
    } else if (next.is_tensor() && next.dtype() == DType::F32) {
      const TensorObject& tensor = *next.slot.tensor;
      if (tensor.rank != 1 || tensor.dims[0] != classes) continue;
      const auto* first = reinterpret_cast<const float*>(tensor.elements);
      made.probabilities.insert(made.probabilities.end(), first, first + classes);
    }
  }
  for (std::size_t i = 0; i < made.probabilities.size(); i += static_cast<std::size_t>(classes)) {
    require_probabilities(std::span(made.probabilities).subspan(i, static_cast<std::size_t>(classes)), name);
  }
  const std::size_t found = made.probabilities.size() / static_cast<std::size_t>(classes);
  if (found != tree.nodes.size() && found != 1) {
    throw ProgramError(
        fmt::format("{}: expected 'predict' to give one tensor f32[{}] for each of the {} nodes of a tree, "
                    "or one for its root; "
                    "found {}",
                    name, classes, tree.nodes.size(), found));
  }
  made.nodes.resize(found);
  std::iota(made.nodes.begin(), made.nodes.end(), 0);
  return made;
}

}  // namespace hiaton::train

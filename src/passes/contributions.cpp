#include "passes/contributions.h"

#include <algorithm>
#include <map>

namespace hiaton::passes {
namespace {

bool is_tiling(std::vector<Contribution>& parts, const Type& type) {
  for (const Contribution& part : parts) {
    if (!part.slice || part.slice->axis != parts[0].slice->axis) return false;
  }
  std::sort(parts.begin(), parts.end(),
            [](const Contribution& a, const Contribution& b) { return a.slice->start < b.slice->start; });
  int64_t end = 0;
  for (const Contribution& part : parts) {
    if (part.slice->start != end) return false;
    end += part.slice->length;
  }
  return end == type.shape[static_cast<std::size_t>(parts[0].slice->axis)].size;
}

/// The gradient of a slice as one of the whole: zeros around it.
Var whole(const Contribution& part, const Type& type) {
  if (!part.slice) return part.gradient;
  const auto [axis, start, length] = *part.slice;
  const int64_t size = type.shape[static_cast<std::size_t>(axis)].size;
  return part.gradient.builder().op("pad", {part.gradient}, {axis, start, size - start - length});
}

/// Joins contributions to fields by variant and leaves the others as they are.
std::vector<Var> joined_fields(const std::vector<Contribution>& parts, const Type& type,
                               DataGradients& data) {
  std::vector<Var> wholes;
  std::map<Contribution::FieldIndex, Var> by_field;
  for (const Contribution& part : parts) {
    if (!part.field) {
      wholes.push_back(part.gradient);
      continue;
    }
    const auto [known, added] = by_field.emplace(*part.field, part.gradient);
    if (!added) known->second = data.sum(known->second, part.gradient);
  }
  for (auto next = by_field.begin(); next != by_field.end();) {
    const std::size_t variant = next->first.variant;
    DataGradients::Fields fields;
    for (; next != by_field.end() && next->first.variant == variant; ++next) {
      fields.emplace_back(next->first.field, next->second);
    }
    wholes.push_back(data.make(fields[0].second.builder(), type, variant, fields));
  }
  return wholes;
}

/// The sum plus what the operation adds to it; without a sum, that alone.
Var with_reading(std::optional<Var> sum, const Contribution& part) {
  const Contribution::Reading& reading = *part.reading;
  const GradientQuestion question{part.gradient.builder(), reading.operands, reading.result, part.gradient,
                                  reading.attributes};
  const Gradient& gradient = reading.op->gradient.value;
  return sum ? gradient.add_to(question, *sum) : gradient.rule(question, 0);
}

/// The sum of parts of which none is that of a reading operation.
Var sum_of_others(std::vector<Contribution> parts, const Type& type, DataGradients& data) {
  std::vector<Var> wholes;
  if (type.is_data()) {
    wholes = joined_fields(parts, type, data);
  } else if (parts.size() > 1 && is_tiling(parts, type)) {
    std::vector<Var> pieces;
    for (const Contribution& part : parts) pieces.push_back(part.gradient);
    wholes = {pieces[0].builder().op("concat", pieces, {parts[0].slice->axis})};
  } else {
    for (const Contribution& part : parts) wholes.push_back(whole(part, type));
  }
  Var sum = wholes[0];
  for (std::size_t i = 1; i < wholes.size(); ++i) sum = data.sum(sum, wholes[i]);
  return sum;
}

}  // namespace

Var sum_of(std::vector<Contribution> parts, const Type& type, DataGradients& data) {
  const auto readings = std::stable_partition(
      parts.begin(), parts.end(), [](const Contribution& part) { return !part.reading.has_value(); });
  std::optional<Var> sum;
  if (readings != parts.begin()) sum = sum_of_others({parts.begin(), readings}, type, data);
  for (auto part = readings; part != parts.end(); ++part) sum = with_reading(sum, *part);
  return *sum;
}

}  // namespace hiaton::passes

#include "train/metrics.h"

#include <fmt/format.h>

#include "hiaton/error.h"
#include "hiaton/examples.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

double number_of(const ValueView& value) {
  switch (value.dtype()) {
    case DType::Bool:
      return value.slot.boolean ? 1 : 0;
    case DType::U8:
      return value.slot.u8;
    case DType::I32:
      return value.slot.i32;
    case DType::I64:
      return static_cast<double>(value.slot.i64);
    case DType::F32:
      return static_cast<double>(value.slot.f32);
    case DType::F64:
      return value.slot.f64;
  }
  return 0;
}

}  // namespace

MetricNumbers::MetricNumbers(const Model& model) {
  if (!model.has_metrics()) return;
  const Program& program = model.metrics_program();
  const std::vector<EntryParameter> expected = example_parameters(model.loss_program());
  const std::vector<EntryParameter>& found = program.parameters();
  const bool fits = std::equal(expected.begin(), expected.end(), found.begin(), found.end(),
                               [](const auto& a, const auto& b) { return compatible(a.type, b.type); });
  if (!fits) {
    throw ProgramError(fmt::format("expected 'metrics' to take what 'loss' takes, ({}), found ({})",
                                   show_parameters(expected), show_parameters(found)));
  }
  const std::vector<Type>& results = program.results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Type& result = results[i];
    if (!result.is_data()) {
      add(result, results.size() == 1 ? "metrics" : fmt::format("metrics[{}]", i), result);
    } else if (result.data->variants.size() != 1) {
      add(result, "", result);
    } else {
      const std::vector<Field>& fields = result.data->variants[0].fields;
      for (std::size_t f = 0; f < fields.size(); ++f)
        add(field_type(result, 0, f), is_tuple(result) ? fmt::format("metrics[{}]", f) : fields[f].name,
            result);
    }
  }
}

void MetricNumbers::add(const Type& type, const std::string& name, const Type& result) {
  if (!type.is_scalar()) {
    throw ProgramError(
        fmt::format("expected 'metrics' to give numbers, truth values, or a data value with one variant of "
                    "such fields, found {}",
                    hiaton::to_string(result)));
  }
  metrics_.push_back({.name = name, .is_share = type.dtype == DType::Bool});
}

std::vector<double> MetricNumbers::numbers_in(const std::vector<Value>& results) const {
  std::vector<double> numbers;
  for (const Value& result : results) {
    if (!result.is_data()) {
      numbers.push_back(number_of(result));
      continue;
    }
    const DataFields fields(result.slot().data);
    for (std::size_t i = 0; i < fields.size(); ++i) numbers.push_back(number_of(fields.view(i)));
  }
  return numbers;
}

std::vector<Metric> MetricNumbers::means(std::span<const double> sums, double examples) const {
  std::vector<Metric> means = metrics_;
  for (std::size_t i = 0; i < means.size(); ++i) means[i].mean = sums[i] / examples;
  return means;
}

}  // namespace hiaton::train

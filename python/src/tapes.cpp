#include "tapes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "hiaton/apply.h"
#include "rules.h"

namespace hiaton::python {
namespace {

constexpr uint64_t kOfParameter = uint64_t{1} << 63;

uint64_t new_mark() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The tapes of this thread, outermost first.
thread_local std::vector<std::shared_ptr<Tape>> running;
thread_local int count_running = 0;  ///< 0 too where they are paused
thread_local int pauses = 0;

void set_count() {
  count_running = pauses > 0 ? 0 : static_cast<int>(running.size());
}

void start(const std::shared_ptr<Tape>& tape) {
  if (std::ranges::find(running, tape) != running.end()) {
    throw std::runtime_error("expected a tape that does not run, found one that does");
  }
  running.push_back(tape);
  set_count();
}

void stop(const std::shared_ptr<Tape>& tape) {
  std::erase(running, tape);
  set_count();
}

void pause(int change) {
  pauses += change;
  set_count();
}

Value full(const Type& type, double element) {
  Value one = type.dtype == DType::F64 ? Value(element) : Value(static_cast<float>(element));
  if (!type.is_tensor()) return one;
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape) dims.push_back(dim.size);
  return apply_operation(*catalog().find("broadcast_to"), {&one, 1}, dims);
}

/// What `open` gives, where that has not given it before, else what the rule computes; `wanted` are the
/// numbers of the operands that the gradient is by, and behind the operands stand the gradients of results.
std::vector<EagerTensor> run_rule(const std::shared_ptr<Rule>& rule, std::span<const EagerTensor> operands,
                                  OpenGradient* open, const std::vector<std::size_t>& wanted,
                                  std::size_t results_of) {
  std::vector<Value> values;
  std::vector<uint64_t> marks;
  for (const EagerTensor& operand : operands) {
    values.push_back(operand.value);
    marks.push_back(operand.mark);
  }
  std::optional<std::vector<Value>> found;
  if (open != nullptr) found = open->gradients(wanted, std::span<const Value>(values).last(results_of));
  if (!found) found = rule->run(values);
  std::vector<EagerTensor> results;
  for (Value& value : *found) results.push_back({std::move(value)});
  if (tapes_run()) show_to_tapes({nullptr, {}, rule, values, marks}, results);
  return results;
}

}  // namespace

void show_to_tapes(const Application& application, std::span<EagerTensor> results) {
  const bool has_gradients =
      std::ranges::any_of(results, [](const EagerTensor& result) { return is_float(result.value.dtype()); });
  if (!has_gradients) return;
  for (const std::shared_ptr<Tape>& tape : running) tape->add(application, results);
}

bool tapes_run() {
  return count_running > 0;
}

std::vector<std::size_t> operands_known_to_tapes(std::span<const Value> operands,
                                                 std::span<const uint64_t> marks) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto knows = [&](const std::shared_ptr<Tape>& tape) { return tape->knows(marks[i]); };
    if (marks[i] != 0 && is_float(operands[i].dtype()) && std::ranges::any_of(running, knows))
      known.push_back(i);
  }
  return known;
}

uint64_t new_parameter_mark() {
  return new_mark() | kOfParameter;
}

EagerTensor apply_marked(const OpDef& op, std::span<const Value> operands, std::span<const uint64_t> marks,
                         std::span<const int64_t> attributes) {
  EagerTensor result{apply_operation(op, operands, attributes)};
  if (!marks.empty()) show_to_tapes({&op, attributes, nullptr, operands, marks}, {&result, 1});
  return result;
}

EagerTensor apply_eager(const OpDef& op, std::span<const EagerTensor> operands,
                        std::span<const int64_t> attributes) {
  std::vector<Value> values;
  std::vector<uint64_t> marks;
  values.reserve(operands.size());
  for (const EagerTensor& operand : operands) {
    values.push_back(operand.value);
    if (tapes_run()) marks.push_back(operand.mark);
  }
  return apply_marked(op, values, marks, attributes);
}

void Tape::watch(EagerTensor& tensor) {
  if (!is_float(tensor.value.dtype())) {
    const std::string text = "expected a tensor of floats to watch, found " + to_string(tensor.value.type());
    throw nb::type_error(text.c_str());
  }
  if (tensor.mark == 0) tensor.mark = new_mark();
  known_.insert(tensor.mark);
}

bool Tape::knows(uint64_t mark) const {
  if (mark == 0) return false;
  return (watches_parameters_ && (mark & kOfParameter) != 0) || known_.contains(mark);
}

void Tape::add(const Application& application, std::span<EagerTensor> results) {
  if (std::ranges::none_of(application.marks, [this](uint64_t mark) { return knows(mark); })) return;
  Entry entry{application.op,
              Attributes(application.attributes.begin(), application.attributes.end()),
              application.rule,
              {},
              {},
              application.open};
  entry.operands.reserve(application.operands.size());
  for (std::size_t i = 0; i < application.operands.size(); ++i)
    entry.operands.push_back({application.operands[i], application.marks[i]});
  for (EagerTensor& result : results) {
    if (result.mark == 0) result.mark = new_mark();
    known_.insert(result.mark);
    entry.results.push_back(result.mark);
  }
  entries_.push_back(std::move(entry));
}

void Tape::clear() {
  entries_.clear();
  known_.clear();
}

void Tape::pull_back(const Entry& entry, Sums& sums) const {
  const bool is_reached =
      std::ranges::any_of(entry.results, [&](uint64_t result) { return sums.contains(result); });
  if (!is_reached) return;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < entry.operands.size(); ++i) {
    const EagerTensor& operand = entry.operands[i];
    if (is_float(operand.value.dtype()) && knows(operand.mark)) wanted.push_back(i);
  }
  if (wanted.empty()) return;
  std::shared_ptr<Rule> rule = entry.rule;
  if (rule == nullptr) {
    std::vector<Type> types;
    for (const EagerTensor& operand : entry.operands) types.push_back(operand.value.type());
    rule = Rule::of(*entry.op, {entry.attributes.begin(), entry.attributes.end()}, std::move(types));
  }
  std::vector<EagerTensor> arguments = entry.operands;
  for (std::size_t i = 0; i < entry.results.size(); ++i) {
    const auto found = sums.find(entry.results[i]);
    arguments.push_back(found != sums.end() ? found->second : EagerTensor{full(rule->results()[i], 0)});
  }
  const std::vector<EagerTensor> gradients =
      run_rule(Rule::gradient(rule, wanted), arguments, entry.open.get(), wanted, entry.results.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const uint64_t mark = entry.operands[wanted[i]].mark;
    const auto [place, is_first] = sums.try_emplace(mark, gradients[i]);
    if (is_first) continue;
    const std::array both = {place->second, gradients[i]};
    place->second = apply_eager(*catalog().find("add"), both);
  }
}

std::vector<std::optional<EagerTensor>> Tape::gradient(std::span<const EagerTensor> targets,
                                                       std::span<const EagerTensor> sources,
                                                       std::span<const EagerTensor> cotangents) const {
  Sums sums;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!knows(targets[i].mark)) continue;
    const auto [place, is_first] = sums.try_emplace(targets[i].mark, cotangents[i]);
    if (is_first) continue;
    const std::array both = {place->second, cotangents[i]};
    place->second = apply_eager(*catalog().find("add"), both);
  }
  // Where this tape runs too, it grows meanwhile.
  for (std::size_t i = entries_.size(); i-- > 0;) pull_back(entries_[i], sums);
  std::vector<std::optional<EagerTensor>> found;
  for (const EagerTensor& source : sources) {
    const auto sum = sums.find(source.mark);
    found.push_back(source.mark == 0 || sum == sums.end() ? std::nullopt : std::optional(sum->second));
  }
  return found;
}

void bind_tapes(nb::module_& m) {
  nb::class_<Tape>(m, "Tape")
      .def(nb::init<bool>(), nb::arg("watches_parameters"))
      .def(
          "watch", [](Tape& tape, nb::handle tensor) { tape.watch(nb::cast<EagerTensor&>(tensor)); },
          nb::arg("tensor"), nb::sig("def watch(self, tensor: Tensor) -> None"))
      .def("clear", &Tape::clear)
      .def(
          "gradient",
          [](const Tape& tape, const std::vector<EagerTensor>& targets,
             const std::vector<EagerTensor>& sources, const std::vector<EagerTensor>& cotangents) {
            return tape.gradient(targets, sources, cotangents);
          },
          nb::arg("targets"), nb::arg("sources"), nb::arg("cotangents"));
  m.def("start_tape", &start, nb::arg("tape"));
  m.def("stop_tape", &stop, nb::arg("tape"));
  m.def("pause_tapes", &pause, nb::arg("change"), "Of this thread, while the changes add up to more than 0.");
  m.def("tapes_run", &tapes_run);
  m.def(
      "has_mark", [](const EagerTensor& tensor) { return tensor.mark != 0; }, nb::arg("tensor"),
      "Whether a tape has watched the tensor, or what it was made of.");
}

}  // namespace hiaton::python

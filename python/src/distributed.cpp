// Several processes that train one model: what they add up.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "graphs.h"
#include "hiaton/net.h"
#include "train/shared_batches.h"

namespace hiaton::python {
namespace {

/// `_core.World`: the processes that a launcher has started with this one.
class World {
 public:
  explicit World(const std::string& program)
      : processes_(std::make_unique<net::Processes>(net::join({.program = program}))) {
    if (processes_->transport() != nullptr) sharing_.emplace(*processes_->transport(), nullptr);
  }

  int rank() const { return processes_->self(); }
  int size() const { return processes_->size(); }
  std::string host(int rank) const { return processes_->host(rank); }

  /// The numbers of all processes, process by process.
  std::vector<double> gather(const std::vector<double>& own) {
    const nb::gil_scoped_release released;
    return sharing_ ? sharing_->gather(own) : own;
  }

  /// Adds up the gradients of a batch of `parts` parts, of which this process has these: those that parts_of
  /// names. Returns them, and the numbers of all processes.
  std::pair<GraphGradients, std::vector<double>> add_up(std::size_t parts,
                                                        const std::vector<GraphGradients>& own,
                                                        std::vector<double> numbers) {
    const nb::gil_scoped_release released;
    const PartRange range = parts_of_this(parts);
    if (own.size() != range.size() || own.empty())
      throw nb::value_error("expected the gradients of each part of this process");
    std::vector<SubtreeSum> sums;
    for (const PartRange subtree : whole_subtrees(parts, range)) {
      join_parts(subtree, [&](std::size_t left, std::size_t right) {
        own[left - range.begin].sums->add(*own[right - range.begin].sums);
      });
      sums.push_back({subtree, own[subtree.begin - range.begin].sums.get()});
    }
    if (!sharing_) return {own[0], std::move(numbers)};
    GraphGradients all{std::make_shared<Gradients>(*own[0].parameters), own[0].parameters};
    sharing_->begin_sums(parts, *all.sums);
    sharing_->add_up(sums, numbers);
    return {std::move(all), std::move(numbers)};
  }

  PartRange parts_of_this(std::size_t parts) const {
    return parts_of(static_cast<std::size_t>(rank()), static_cast<std::size_t>(size()), parts);
  }

  /// Waits until all processes are here.
  void end() {
    const nb::gil_scoped_release released;
    processes_->end();
  }
  /// Tells the others that this process has failed, which ends them.
  void abandon() {
    const nb::gil_scoped_release released;
    processes_->abandon();
  }

 private:
  using SubtreeSum = train::SubtreeSum;

  std::unique_ptr<net::Processes> processes_;
  std::optional<train::SharedBatches> sharing_;
};

/// The gradients of a part of a batch, times a weight, in the order of the parameters of the module.
/// `numbers`: which of the gradients is that of each parameter; -1: none, which is zero.
GraphGradients weighted(const GraphGradients& gradients, const std::vector<int64_t>& numbers,
                        const std::vector<nb::object>& learned, double weight) {
  auto parameters = std::make_shared<std::vector<graph::Parameter>>();
  for (const nb::object& one : learned) {
    const Type type = nb::inst_ptr<LearnedTensor>(one)->value.type();
    parameters->push_back({"p" + std::to_string(parameters->size()), type, Initializer()});
  }
  GraphGradients made{std::make_shared<Gradients>(*parameters), parameters};
  const auto add = [weight](auto* to, const auto* from, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      to[i] = static_cast<std::remove_pointer_t<decltype(to)>>(weight * from[i]);
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) continue;
    const Gradients::Sum& sum = (*gradients.sums)[static_cast<std::size_t>(numbers[i])];
    const auto size = static_cast<std::size_t>(sum.values.size());
    const auto copy = [&](Tensor& to, std::size_t begin, std::size_t end) {
      if (to.dtype() == DType::F64) {
        add(to.mutable_data<double>(), sum.values.data<double>(), begin, end);
      } else {
        add(to.mutable_data<float>(), sum.values.data<float>(), begin, end);
      }
    };
    if (sum.dense) {
      copy(made.sums->dense(i), 0, size);
      continue;
    }
    const std::size_t width = sum.touched.empty() ? 0 : size / sum.touched.size();
    for (const int64_t row : sum.rows) {
      made.sums->touch(i, row);
      const std::size_t begin = static_cast<std::size_t>(row) * width;
      copy(made.sums->values(i), begin, begin + width);
    }
  }
  return made;
}

}  // namespace

void bind_distributed(nb::module_& m) {
  m.def("weighted_gradients", &weighted, nb::arg("gradients"), nb::arg("numbers"), nb::arg("learned"),
        nb::arg("weight"));
  m.def("cut_into_parts", &cut_into_parts, nb::arg("things"), nb::arg("parts"));
  nb::class_<World>(m, "World")
      .def(nb::init<const std::string&>(), nb::arg("program"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("rank", &World::rank)
      .def_prop_ro("size", &World::size)
      .def("host", &World::host, nb::arg("rank"))
      .def("gather", &World::gather, nb::arg("own"))
      .def(
          "parts",
          [](const World& world, std::size_t parts) {
            const PartRange range = world.parts_of_this(parts);
            return nb::make_tuple(range.begin, range.end);
          },
          nb::arg("parts"))
      .def(
          "add_up",
          [](World& world, std::size_t parts, const std::vector<GraphGradients>& own,
             std::vector<double> numbers) {
            auto [gradients, all] = world.add_up(parts, own, std::move(numbers));
            return nb::make_tuple(nb::cast(std::move(gradients)), nb::cast(std::move(all)));
          },
          nb::arg("parts"), nb::arg("own"), nb::arg("numbers"))
      .def("end", &World::end)
      .def("abandon", &World::abandon);
}

}  // namespace hiaton::python

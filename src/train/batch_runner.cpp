#include "train/batch_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

#include "exec/place_program.h"
#include "hiaton/error.h"
#include "partition/held.h"
#include "tensor/scalar_or_tensor.h"
#include "train/shared_batches.h"
#include "train/timeline.h"

namespace hiaton::train {
namespace {

using ExampleOrder = std::vector<std::size_t>;

ExampleOrder all_of(const Batch& batch) {
  ExampleOrder order(batch.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// The same examples in an order in which parts of equally many of them are about equally much work: the
/// largest first, each to the part with the least work so far.
ExampleOrder balanced_order(const Batch& batch, ExampleOrder examples, std::size_t part_count) {
  const std::size_t count = std::min(part_count, examples.size());
  if (count < 2) return examples;
  struct Weighed {
    std::size_t example;
    std::size_t work;
  };
  std::vector<Weighed> by_size;
  for (const std::size_t example : examples) by_size.push_back({example, batch.weight(example)});
  std::ranges::stable_sort(by_size, std::greater(), &Weighed::work);
  struct Part {
    std::size_t capacity;
    std::size_t work = 0;
    ExampleOrder examples{};
  };
  std::vector<Part> parts;
  const std::vector<std::size_t> begins = cut_into_parts(by_size.size(), count);
  for (std::size_t i = 0; i < count; ++i) parts.push_back({begins[i + 1] - begins[i]});
  for (const Weighed& one : by_size) {
    Part* least = nullptr;
    for (Part& part : parts) {
      const bool has_room = part.examples.size() < part.capacity;
      if (has_room && (least == nullptr || part.work < least->work)) least = &part;
    }
    least->work += one.work;
    least->examples.push_back(one.example);
  }
  ExampleOrder order;
  for (const Part& part : parts) order.insert(order.end(), part.examples.begin(), part.examples.end());
  return order;
}

/// The losses of a batch, of which `found` are those of the examples in `order`. Throws ProgramError where
/// some are missing.
std::vector<double> in_order_of(const Batch& batch, const ExampleOrder& order,
                                const std::vector<double>& found) {
  if (found.size() != order.size())
    throw ProgramError(fmt::format("expected {} losses, found {}", order.size(), found.size()));
  std::vector<double> losses(batch.size());
  for (std::size_t i = 0; i < order.size(); ++i) losses[order[i]] = found[i];
  return losses;
}

/// Some examples of a batch as the engine asks for them.
class ChosenExamples : public Examples {
 public:
  ChosenExamples(const Batch& batch, ExampleOrder order, const BatchRunner::Take& take)
      : batch_(batch), order_(std::move(order)), take_(take) {}

  std::size_t size() const override { return order_.size(); }
  std::vector<Value> arguments(std::size_t index) override { return batch_.arguments(order_[index]); }
  void take_results(std::size_t index, std::vector<Value> results) override {
    take_(order_[index], std::move(results));
  }

 private:
  const Batch& batch_;
  const ExampleOrder order_;
  const BatchRunner::Take& take_;
};

}  // namespace

BatchRunner::BatchRunner(Model model, uint64_t seed, RunOptions run)
    : model_(std::move(model)),
      run_(std::move(run)),
      own_pool_(run_.pool == nullptr && run_.workers > 1 ? std::make_unique<BorrowedPool>(run_.workers)
                                                         : nullptr),
      pool_(own_pool_ != nullptr ? own_pool_->get() : run_.pool),
      gradients_(model_.parameters()),
      parameters_(first_parameters(model_, seed)) {}

namespace {

/// Whether the program or the options place anything.
bool has_places(const Model& model, const RunOptions& run) {
  const graph::Graph& graph = model.training_program().graph();
  const auto is_placed = [](const auto& one) { return !one.placement.empty(); };
  return !run.places.empty() || run.place_parameters || std::ranges::any_of(graph.parameters(), is_placed) ||
         std::ranges::any_of(graph.functions(), is_placed) || std::ranges::any_of(graph.nodes(), is_placed);
}

std::vector<const graph::Graph*> graphs_of(const Model& model) {
  std::vector<const graph::Graph*> graphs{&model.training_program().graph(), &model.loss_program().graph()};
  if (model.can_predict()) graphs.push_back(&model.predict_program().graph());
  if (model.has_metrics()) graphs.push_back(&model.metrics_program().graph());
  return graphs;
}

}  // namespace

/// What all processes find wrong is an error of the first one.
void BatchRunner::share(SharedBatches& sharing, bool clips) {
  std::exception_ptr problem;
  try {
    prepare_to_share(sharing);
  } catch (const std::exception&) {
    if (sharing.self() == 0) throw;
    problem = std::current_exception();
  }
  const bool are_near = !sharing.is_dealt() && sharing.are_near();
  if (problem != nullptr) std::rethrow_exception(problem);
  sharing_ = &sharing;
  divide_parameters(sharing, are_near, clips);
  part_sums_.clear();
}

void BatchRunner::prepare_to_share(SharedBatches& sharing) {
  const bool is_placed = has_places(model_, run_);
  const std::size_t replicas = std::max<std::size_t>(1, static_cast<std::size_t>(run_.replicas));
  if (is_placed && sharing.processes() > replicas &&
      !partition::places_parameters_alone(graphs_of(model_), places_on(sharing.processes() / replicas))) {
    return prepare_to_run_placed(sharing, replicas);
  }
  if (!is_placed && sharing.are_few()) {
    sharing.run_together(1);
    runs_placed_ = shares_calls_ = true;
    return;
  }
  if (run_.replicas > 0) {
    sharing.set_replicas(static_cast<std::size_t>(run_.replicas));
  } else if (is_placed) {
    sharing.set_replicas(1);
  }
  if (sharing.group() > 1 && !is_placed) {
    throw ProgramError(
        fmt::format("expected as many replicas as processes, {}, where the program places nothing, found {}",
                    sharing.processes(), sharing.replicas()));
  }
  if (is_deterministic() && !sharing.is_dealt() &&
      sharing.replicas() > static_cast<std::size_t>(run_.parts)) {
    throw ProgramError(fmt::format("expected at most {} {}, as many as a batch has parts (--parts), found {}",
                                   run_.parts, sharing.group() > 1 ? "replicas" : "processes",
                                   sharing.replicas()));
  }
  if (sharing.group() > 1) hold_parameters(sharing);
}

partition::Places BatchRunner::places_on(std::size_t processes) const {
  partition::Places places{static_cast<int>(processes), run_.places, {}};
  if (run_.place_parameters) places.most_bytes = run_.max_bytes;
  return places;
}

/// All processes hold all parameters.
void BatchRunner::prepare_to_run_placed(SharedBatches& sharing, std::size_t replicas) {
  sharing.run_together(replicas);
  runs_placed_ = true;
}

void BatchRunner::hold_parameters(SharedBatches& sharing) {
  PlacedTables::Holders holders;
  for (const partition::Held& held :
       partition::held_parameters(graphs_of(model_), places_on(sharing.group()))) {
    std::optional<int> holder = held.process;
    if (holder) *holder += static_cast<int>(sharing.first_of_group());
    holders.push_back(holder);
    is_read_by_rows_.push_back(held.is_read_by_rows);
  }
  sharing.hold(parameters_, std::move(holders));
  sharing_ = &sharing;
  keep_own(nullptr);
}

bool BatchRunner::together(const std::function<void()>& run) {
  const bool computes = sharing_ == nullptr || sharing_->computes();
  if (computes) run();
  if (sharing_ != nullptr && sharing_->tables() != nullptr && !sharing_->is_dealt()) sharing_->meet();
  return computes;
}

std::vector<double> BatchRunner::loss_and_gradients(const Batch& batch, std::span<Gradient> gradients) {
  if (sharing_ == nullptr) {
    gradients_.clear(pool_);
  } else {
    gradients_.unmark();  // what the processes add up is written over what is there
  }
  std::vector<double> losses = sharing_ == nullptr                      ? losses_alone(batch)
                               : runs_placed(model_.training_program()) ? losses_placed(batch)
                                                                        : losses_shared(batch);
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = gradient_in(gradients_, i);
  return losses;
}

std::vector<double> BatchRunner::losses_alone(const Batch& batch) {
  std::vector<double> losses(batch.size());
  run_loss(batch, balanced_order(batch, all_of(batch), parts()), run_options(), gradients_, losses);
  return losses;
}

/// Computes the parts of this process. What it returns, and the gradients, are those of the whole batch.
std::vector<double> BatchRunner::losses_shared(const Batch& batch) {
  const std::size_t wanted = is_deterministic() ? parts() : sharing_->replicas();
  const std::size_t count = std::min(wanted, batch.size());
  const Order order = balanced_order(batch, all_of(batch), count);
  const std::vector<std::size_t> begins = cut_into_parts(batch.size(), count);
  std::vector<double> losses(batch.size());
  std::vector<double> in_order;
  std::vector<SubtreeSum> sums;
  sharing_->begin_sums(count, gradients_, divided_);
  const std::vector<PartRange> subtrees = whole_subtrees(count, sharing_->own(count));
  for (const PartRange subtree : subtrees) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(begins[subtree.begin]);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(begins[subtree.end]);
    RunOptions run = run_options();
    if (is_deterministic()) run.parts = static_cast<int>(subtree.size());
    Order own(begin, end);
    if (!is_deterministic()) own = balanced_order(batch, std::move(own), parts());
    Gradients& sum = part_sum(sums.size());
    if (sums.empty()) sharing_->make_sendable(sum);
    if (subtrees.size() == 1)
      run.on_gradient = [this, &sum](std::size_t parameter) { sharing_->send_early(sum, parameter); };
    sum.clear(pool_);
    run_loss(batch, own, run, sum, losses);
    sums.push_back({subtree, &sum});
    for (auto example = begin; example != end; ++example) in_order.push_back(losses[*example]);
  }
  {
    const Timeline::Slice slice = Timeline(run_.trace).slice("exchange");
    sharing_->add_up(sums, in_order);
  }
  return in_order_of(batch, order, in_order);
}

/// The first process of each group gives the examples of its share. Each process has the gradients of what it
/// has run, as if that were a part of the batch.
std::vector<double> BatchRunner::losses_placed(const Batch& batch) {
  const std::size_t count = std::min(sharing_->groups_together(), batch.size());
  const Order order = balanced_order(batch, all_of(batch), count);
  const std::vector<std::size_t> begins = cut_into_parts(batch.size(), count);
  const PartRange share = sharing_->own_examples(sharing_->groups_together());
  Order own;
  if (share.size() > 0 && share.begin < count)
    own.assign(order.begin() + static_cast<std::ptrdiff_t>(begins[share.begin]),
               order.begin() + static_cast<std::ptrdiff_t>(begins[share.end]));
  std::vector<double> losses(batch.size());
  const Take take = [&](std::size_t index, const std::vector<Value>& results) {
    losses[index] = number_in(results[0]);
  };
  RunOptions run = run_options();
  run.gradients = &part_sum(0);
  run.gradients->clear(pool_);
  run_placed(batch, own, take, run, model_.training_program());
  std::vector<double> in_order;
  for (const std::size_t example : own) in_order.push_back(losses[example]);
  const SubtreeSum sums{{sharing_->self(), sharing_->self() + 1}, part_sums_[0].get()};
  sharing_->begin_sums(sharing_->processes(), gradients_, divided_);
  sharing_->add_up({&sums, 1}, in_order);
  return in_order_of(batch, order, in_order);
}

/// Whether processes run the program together.
bool BatchRunner::runs_placed(const Program& program) const {
  return runs_placed_ &&
         (shares_calls_ || exec::has_places(program.graph(), places_on(sharing_->together())));
}

/// For these examples of the batch. All processes call it.
void BatchRunner::run_placed(const Batch& batch, const Order& order, const Take& take, RunOptions run,
                             const Program& program) {
  run.processes = &sharing_->transport();
  run.places = run_.places;
  run.replicas = static_cast<int>(sharing_->groups_together());
  try {
    ChosenExamples examples(batch, order, take);
    program.run_all(examples, run);
  } catch (const RunError& error) {
    // Alone, to find the example. It may be one of another group.
    if (is_operation_fault(error.fault())) {
      RunOptions alone = run_options();
      alone.gradients = run.gradients;
      run_naming_the_example(batch, all_of(batch), take,
                             [&](Examples& examples) { program.run_all(examples, alone); });
    }
    throw;
  }
}

/// The sum of the gradients of the subtree with this index, with the marks of the last batch if there was
/// one.
Gradients& BatchRunner::part_sum(std::size_t index) {
  if (index == part_sums_.size()) part_sums_.push_back(std::make_unique<Gradients>(model_.parameters()));
  return *part_sums_[index];
}

/// Adds to `gradients`, and sets the losses of these examples.
void BatchRunner::run_loss(const Batch& batch, const Order& order, RunOptions run, Gradients& gradients,
                           std::vector<double>& losses) {
  run.gradients = &gradients;
  const Take take = [&](std::size_t index, const std::vector<Value>& results) {
    losses[index] = number_in(results[0]);
  };
  run_naming_the_example(batch, order, take, [&](Examples& examples) { model_.loss(examples, run); });
}

void BatchRunner::run(const Program& program, const Batch& batch, const Take& take) {
  if (runs_placed(program)) {
    const bool is_first = sharing_->own_examples(sharing_->groups_together()).size() > 0;
    const Order order = is_first ? balanced_order(batch, all_of(batch), 1) : Order();
    run_placed(batch, order, take, run_options(), program);
    return sharing_->meet();  // the next run may not begin before all have ended this one
  }
  if (batch.size() == 0) return;
  run_naming_the_example(batch, balanced_order(batch, all_of(batch), parts()), take,
                         [&](Examples& examples) { program.run_all(examples, run_options()); });
}

PartRange BatchRunner::own(std::size_t size) const {
  return sharing_ == nullptr ? PartRange{0, size} : sharing_->own_examples(size);
}

/// Where the run fails at what it computes, each example runs alone, to find the one.
void BatchRunner::run_naming_the_example(const Batch& batch, const Order& order, const Take& take,
                                         const Run& run) {
  try {
    ChosenExamples all(batch, order, take);
    return run(all);
  } catch (const RunError& error) {
    if (!is_operation_fault(error.fault())) throw;
    Order in_order = order;
    std::ranges::sort(in_order);
    for (const std::size_t index : in_order) {
      try {
        ChosenExamples one(batch, {index}, take);
        run(one);
      } catch (const RunError& alone) {
        throw RunError(alone,
                       fmt::format("{}\n  for {}{}", alone.message(), batch.place_of(index),
                                   batch.hint(index, alone.message())),
                       alone.chain(), alone.chain_length());
      }
    }
    throw;
  }
}

/// The elements of parameters that another process holds are elsewhere, or come from there.
std::vector<Value> BatchRunner::current_values() {
  PlacedTables* const tables = sharing_ == nullptr ? nullptr : sharing_->tables();
  if (tables == nullptr) return values_of(parameters_);
  std::vector<Value> values;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (tables->is_here(i)) {
      values.push_back(value_of(parameters_[i]));
    } else {
      values.push_back(scalar_or_tensor(is_read_by_rows_[i] ? tables->stand_in(i) : tables->fetch(i)));
    }
  }
  return values;
}

RunOptions BatchRunner::run_options() {
  if (values_.empty()) values_ = current_values();
  RunOptions run = run_;
  run.processes = nullptr;
  run.places.clear();
  run.rows = sharing_ == nullptr ? nullptr : sharing_->tables();
  run.pool = pool_;
  run.parameters = values_;
  run.gradients = nullptr;
  if (cancel_ != nullptr && sharing_ == nullptr) run.cancel = cancel_;
  return run;
}

/// Into how many parts of equally many examples a batch is cut. In deterministic mode it is always cut like
/// this, for any number of workers and processes.
std::size_t BatchRunner::parts() const {
  return static_cast<std::size_t>(is_deterministic() ? run_.parts : run_.workers);
}

}  // namespace hiaton::train

// Commands that put examples through a trained model, in one process or in several.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/deal.h"
#include "net/processes.h"
#include "process_options.h"
#include "trained_model.h"

namespace hiaton::train {
class SharedBatches;
}

namespace hiaton::cli {

/// How many examples run together.
inline constexpr std::size_t kMostAtOnce = 100;

/// One of several processes: process 0 has the examples and takes what comes out, all have the model.
class ModelWork : public net::Work, protected net::Dealt {
 public:
  /// It must outlive this.
  explicit ModelWork(const std::string& checkpoint) : checkpoint_(checkpoint) {}

  std::string prepare(int self) final;
  void work(net::Transport& transport) final;
  /// All of it, in this process.
  void work_alone();

 protected:
  virtual void load_model() = 0;
  /// The one that load_model() has loaded.
  virtual train::ModelTrainer& trainer() = 0;
  /// Process 0: reads the examples.
  virtual void read_examples() = 0;
  /// Any process: puts what write() has written through the model, and writes the results.
  virtual void compute(net::ByteReader& things, net::ByteWriter& results) = 0;
  /// What write and compute do together, in this process. What it returns does what take does.
  std::function<void()> work_here(const net::Range& range) override = 0;
  /// Any process: takes part in what work_here() and compute() of other processes run together.
  virtual void take_part() = 0;
  /// All examples have been taken.
  virtual void finish() {}

 private:
  void work(net::ByteReader& things, net::ByteWriter& results) final { compute(things, results); }
  void work_together(train::SharedBatches& sharing);
  std::vector<net::Range> next_ranges(std::size_t begin, std::size_t groups) const;

  const std::string& checkpoint_;
};

using MakeModelWork = std::function<std::unique_ptr<ModelWork>()>;

/// Puts examples through a checkpoint that was trained on trees, or on examples of another kind: what it is
/// shows when it is read. In the processes of the options; gives the exit status of the command.
int work_on_checkpoint(const ProcessOptions& options, const std::string& checkpoint,
                       const MakeModelWork& of_trees, const MakeModelWork& of_values);

}  // namespace hiaton::cli

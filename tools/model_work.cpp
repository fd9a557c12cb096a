#include "model_work.h"

#include <algorithm>

#include "output.h"
#include "train/shared_batches.h"

namespace hiaton::cli {
namespace {

/// The work on a checkpoint, which says of which kind its model is.
class CheckpointWork : public net::Work {
 public:
  /// They must outlive this.
  CheckpointWork(const std::string& checkpoint, const MakeModelWork& of_trees, const MakeModelWork& of_values)
      : checkpoint_(checkpoint), of_trees_(of_trees), of_values_(of_values) {}

  std::string prepare(int self) override {
    choose();
    return work_->prepare(self);
  }
  void work(net::Transport& transport) override { work_->work(transport); }
  void work_alone() {
    choose();
    work_->work_alone();
  }

 private:
  void choose() {
    const bool is_of_values = find_checkpoint(checkpoint_).directory.read_info().data.is_of_values;
    work_ = is_of_values ? of_values_() : of_trees_();
  }

  const std::string& checkpoint_;
  const MakeModelWork& of_trees_;
  const MakeModelWork& of_values_;
  std::unique_ptr<ModelWork> work_;
};

}  // namespace

std::string ModelWork::prepare(int self) {
  load_model();
  if (self == 0) read_examples();
  return "the model " + hash_of_model(checkpoint_);
}

void ModelWork::work(net::Transport& transport) {
  train::SharedBatches sharing(transport, nullptr);
  sharing.deal_out();
  trainer().share(sharing);
  if (!sharing.computes()) return sharing.serve();
  net::deal(transport, *this, kMostAtOnce);
  if (transport.self() == 0) finish();
}

void ModelWork::work_alone() {
  load_model();
  read_examples();
  for (std::size_t begin = 0; begin < size(); begin += kMostAtOnce)
    work_here({begin, std::min(kMostAtOnce, size() - begin)});
  finish();
}

int work_on_checkpoint(const ProcessOptions& options, const std::string& checkpoint,
                       const MakeModelWork& of_trees, const MakeModelWork& of_values) {
  if (is_spread(options)) {
    return work_in_processes(options, words_for_processes(), [&] {
      return std::make_unique<CheckpointWork>(checkpoint, of_trees, of_values);
    });
  }
  CheckpointWork(checkpoint, of_trees, of_values).work_alone();
  return kSuccess;
}

}  // namespace hiaton::cli

#include "model_work.h"

#include <algorithm>

#include "output.h"
#include "train/shared_batches.h"

namespace hiaton::cli {
namespace {

/// Fewer examples for each process are not dealt out: some processes would have nothing to do in the end.
constexpr std::size_t kFewForEach = 2;

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
  std::vector<double> own;
  if (transport.self() == 0) own.push_back(size() < kFewForEach * sharing.processes() ? 1 : 0);
  sharing.deal_out(sharing.gather(own)[0] != 0);
  trainer().share(sharing);
  if (!sharing.is_dealt()) {
    work_together(sharing);
  } else if (!sharing.computes()) {
    return sharing.serve();
  } else {
    net::deal(transport, *this, kMostAtOnce);
  }
  if (transport.self() == 0) finish();
}

/// The next examples of each group of processes. Where there are few left, some have none.
std::vector<net::Range> ModelWork::next_ranges(std::size_t begin, std::size_t groups) const {
  std::vector<net::Range> ranges;
  for (std::size_t i = 0; i < groups; ++i) {
    ranges.push_back({begin, std::min(kMostAtOnce, size() - begin)});
    begin += ranges.back().count;
  }
  return ranges;
}

/// All processes run the same examples together, so they take turns: process 0 gives the first process of
/// each group a range, all run these, and the results come back.
void ModelWork::work_together(train::SharedBatches& sharing) {
  const std::size_t group = sharing.together();
  const bool has_all = sharing.self() == 0;
  std::vector<net::Range> ranges;
  for (std::size_t begin = 0;;) {
    std::vector<net::ByteWriter> out = sharing.begin_exchange();
    if (has_all) ranges = next_ranges(begin, sharing.groups_together());
    for (std::size_t to = 1; has_all && to < out.size(); ++to) {
      out[to].number(static_cast<uint8_t>(ranges[0].count > 0));
      const net::Range& range = ranges[to / group];
      if (to % group == 0 && range.count > 0) write(range, out[to]);
    }
    const std::vector<std::vector<std::byte>> given = sharing.exchange(out);
    net::ByteReader things(given[0], "message from process 0");
    if (has_all ? ranges[0].count == 0 : things.number<uint8_t>() == 0) return;
    out = sharing.begin_exchange();
    if (has_all) {
      work_here(ranges[0])();
    } else if (things.left() > 0) {
      compute(things, out[0]);
    } else {
      take_part();
    }
    const std::vector<std::vector<std::byte>> results = sharing.exchange(out);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      begin += ranges[i].count;
      if (i == 0 || ranges[i].count == 0) continue;
      net::ByteReader in(results[i * group], "results of another process");
      take(ranges[i], in);
      in.require_end();
    }
  }
}

void ModelWork::work_alone() {
  load_model();
  read_examples();
  for (std::size_t begin = 0; begin < size(); begin += kMostAtOnce)
    work_here({begin, std::min(kMostAtOnce, size() - begin)})();
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

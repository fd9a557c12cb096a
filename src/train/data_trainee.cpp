#include "train/data_trainee.h"

#include <numeric>
#include <utility>

#include "train/quality.h"

namespace hiaton::train {

uint64_t fingerprint(const DataSet& train, const DataSet* dev) {
  return train.fingerprint() ^ mix_bits(dev == nullptr ? 0 : dev->fingerprint());
}

DataTrainee::DataTrainee(BatchRunner& runner, uint64_t seed, const DataSet& train, const DataSet* dev,
                         std::string score)
    : runner_(runner),
      seed_(seed),
      has_seed_(takes_seed(runner.model().loss_program())),
      train_(train),
      dev_(dev),
      score_(std::move(score)) {}

void DataTrainee::begin_step(uint64_t step) {
  if (has_seed_) step_seed_ = {true, Random(seed_, step).next()};
}

uint64_t DataTrainee::fingerprint() const {
  return train::fingerprint(train_, dev_);
}

double DataTrainee::loss_and_gradients(std::span<const uint32_t> examples, std::span<Gradient> gradients) {
  const std::vector<double> losses =
      runner_.loss_and_gradients(ExampleBatch(train_, examples, step_seed_), gradients);
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void DataTrainee::try_evaluation() {
  const uint32_t first = 0;
  const std::unique_ptr<Quality> quality = quality_for(runner_.model(), *dev_);
  std::vector<double> numbers(quality->width());
  if (!runner_.together([&] { quality->measure(runner_, *dev_, std::span(&first, 1), numbers); })) return;
  // One tree may have no label where others have one.
  if (dev_->trees() == nullptr) score_of(quality->evaluation_of(numbers, 1));
}

std::optional<Evaluation> DataTrainee::evaluate(const std::atomic<bool>* cancel, int64_t batch) {
  return evaluate_unless(cancel, runner_, *dev_, batch);
}

double DataTrainee::score_of(const Evaluation& evaluation) const {
  return train::score_of(evaluation, score_);
}

}  // namespace hiaton::train

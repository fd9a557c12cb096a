#include "train/model_sizes.h"

namespace hiaton::train {

std::map<std::string, int64_t> sizes_for(const LearnerOptions& options) {
  std::map<std::string, int64_t> sizes = options.sizes;
  sizes.try_emplace("classes", options.classes);
  sizes.try_emplace("vocab", options.vocabulary_size);
  return sizes;
}

}  // namespace hiaton::train

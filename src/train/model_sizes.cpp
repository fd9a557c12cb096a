#include "train/model_sizes.h"

#include "hiaton/lang.h"

namespace hiaton::train {

std::map<std::string, int64_t> sizes_for(const LearnerOptions& options,
                                         const std::shared_ptr<const Source>& program) {
  const std::map<std::string, int64_t> declared = lang::declared_sizes(program);
  std::map<std::string, int64_t> sizes = options.sizes;
  if (declared.contains("classes")) sizes.try_emplace("classes", options.classes);
  if (declared.contains("vocab")) sizes.try_emplace("vocab", options.vocabulary_size);
  return sizes;
}

}  // namespace hiaton::train

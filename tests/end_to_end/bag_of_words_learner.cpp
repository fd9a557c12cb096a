// The commands that train, with a bag of words for a model: what is tested is the commands.
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/learner.h"
#include "train/bag_of_words.h"

namespace hiaton::train {

/// The text of the model must be "bag of words"; the only size it knows is d.
std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  if (!read_source(options.model)->text().starts_with("bag of words"))
    throw ProgramError("expected a bag of words");
  for (const auto& [name, size] : options.sizes) {
    if (name != "d") throw ProgramError("there is no size '" + name + "'");
  }
  return std::make_unique<BagOfWords>(options.vocabulary_size, options.classes);
}

}  // namespace hiaton::train

// Any file is either a checkpoint of this model or a ProgramError; after an error the model is as it was.
#include "train/checkpoint.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/train.h"
#include "train/bag_of_words.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using namespace hiaton;
  static const int file = memfd_create("checkpoint", 0);
  static const std::filesystem::path path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != static_cast<ssize_t>(size)) std::abort();

  train::BagOfWords learner(4, 2);
  const train::Numbers before = learner.parameters()[0].values;
  try {
    train::load_parameters(path, learner.parameters());
  } catch (const ProgramError&) {
    if (learner.parameters()[0].values != before) std::abort();
  }
  train::BagOfWords resumed(4, 2);
  const train::Settings settings;
  train::Optimizer optimizer(settings.optimizer, resumed.parameters());
  train::Progress progress;
  try {
    train::load_checkpoint(path, resumed.parameters(), optimizer, progress, settings, 0);
  } catch (const ProgramError&) {
    if (resumed.parameters()[0].values != before || progress.step != 0) std::abort();
  }
  return 0;
}

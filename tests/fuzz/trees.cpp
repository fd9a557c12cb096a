// Any bytes are either trees or a ProgramError. Trees are written as bytes that are read to the same ones.
#include "hiaton/trees.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "hiaton/error.h"

namespace {

std::string written(const hiaton::train::Treebank& trees) {
  std::ostringstream out;
  hiaton::train::write_trees(out, trees);
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using namespace hiaton;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  train::Treebank trees;
  try {
    trees = train::read_trees(std::make_shared<Source>("input.txt", text));
  } catch (const ProgramError&) {
    return 0;
  }
  const std::string first = written(trees);
  const train::Treebank again = train::read_trees(std::make_shared<Source>("written.txt", first));
  if (written(again) != first || again.words != trees.words) std::abort();
  return 0;
}

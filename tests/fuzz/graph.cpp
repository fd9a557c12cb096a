// Any bytes are either a saved graph or a ProgramError. A graph is saved as bytes that load to the same ones.
#include "hiaton/graph.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hiaton/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using namespace hiaton;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::string saved;
  try {
    saved = graph::to_json(graph::from_json(text, "input.json"));
  } catch (const ProgramError&) {
    return 0;
  }
  if (graph::to_json(graph::from_json(saved, "saved.json")) != saved) std::abort();
  return 0;
}

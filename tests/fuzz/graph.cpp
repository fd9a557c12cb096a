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
  try {
    const std::string saved = graph::to_json(graph::from_json(text, "input.json"));
    if (graph::to_json(graph::from_json(saved, "saved.json")) != saved) std::abort();
  } catch (const ProgramError& error) {
    if (std::string_view(error.what()).find("saved.json") != std::string_view::npos) std::abort();
  }
  return 0;
}

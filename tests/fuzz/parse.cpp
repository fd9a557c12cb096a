// Any text is either a program or a ProgramError. A program prints as a text that parses back to it, and is
// lowered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using namespace hiaton;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  ir::Module module;
  try {
    module = lang::parse(std::make_shared<Source>("input.hia", text));
  } catch (const ProgramError&) {
    return 0;
  }
  if (module.functions.empty()) return 0;  // nothing but sizes is legal, and prints as nothing
  const std::string printed = ir::print(module);
  const ir::Module again = lang::parse(std::make_shared<Source>("printed.hia", printed));
  if (!ir::equal(module, again) || ir::print(again) != printed) std::abort();
  try {
    Program::from_module(module);
  } catch (const ProgramError&) {  // no main
  }
  return 0;
}

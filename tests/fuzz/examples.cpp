// Any text is either examples of a program or a ProgramError. Examples are written as text that is read to
// the same ones.
#include "hiaton/examples.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "hiaton/error.h"

namespace {

hiaton::train::ExampleForm make_form() {
  using namespace hiaton;
  static DataTypes types;
  const Type tree = types.declare("Tree");
  types.define(tree, {{"Leaf", {{"word", DType::I64}}},
                      {"Node", {{"label", DType::I64}, {"children", types.list_of(tree)}}},
                      {"Pair", {{"both", types.tuple_of({tree, DType::F32})}}},
                      {"Empty", {}}});
  const Type point = types.declare("Point");
  types.define(point, {{"Point", {{"x", tensor_type(DType::F64, {2})}, {"near", DType::Bool}}}});
  return {{{"t", tree}, {"p", point}, {"m", Type(DType::I32, {unknown_dim(), unknown_dim()})}}, 2};
}

std::string written(const std::vector<hiaton::train::Example>& examples,
                    const hiaton::train::ExampleForm& form) {
  std::string text;
  for (const hiaton::train::Example& example : examples)
    text += hiaton::train::to_string(example.arguments, form.parameters) + "\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using namespace hiaton;
  static const train::ExampleForm form = make_form();
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto source = std::make_shared<Source>("input.txt", text);
  train::looks_like_trees(*source);
  std::vector<train::Example> examples;
  try {
    const train::Vocabulary words = train::vocabulary_of(source, form);
    examples = train::read_examples(source, form, words);
  } catch (const ProgramError&) {
    return 0;
  }
  const std::string first = written(examples, form);
  const auto again =
      train::read_examples(std::make_shared<Source>("written.txt", first), form, train::Vocabulary());
  if (written(again, form) != first) std::abort();
  return 0;
}

#include "engine/pipeline.h"

#include <fmt/format.h>

#include "hiaton/error.h"

namespace hiaton {
namespace {

constexpr std::string_view kMain = "main";

/// The passes know the entry by the name of main.
void make_main(ir::Module& module, std::string_view entry) {
  const std::optional<ir::FunctionId> found = module.find(entry);
  if (!found || entry == kMain) return;
  if (const std::optional<ir::FunctionId> other = module.find(kMain)) {
    std::string name = "main_of_program";
    while (module.find(name)) name += "_";
    module[*other].name = name;
  }
  module[*found].name = kMain;
}

}  // namespace

graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options) {
  if (!module.find(entry)) {
    return passes::lower(module, entry);  // which says what is missing
  }
  make_main(module, entry);
  module = passes::simplify(std::move(module), options.simplify);
  const std::string_view trained = purpose == Purpose::Train ? kMain : std::string_view();
  module = passes::add_gradients(passes::loops_to_calls_for_gradients(std::move(module), trained));
  if (purpose == Purpose::Run) return passes::lower(module);
  return passes::lower(passes::add_training_step(std::move(module), kMain, "training_step"), "training_step");
}

}  // namespace hiaton

#include "engine/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

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

/// Programs of scalars alone run in frames from their begin to their end, with loops as they are. All others
/// run as items and batches, which know calls only.
bool has_only_scalars(const ir::Module& module) {
  if (!module.parameters.empty() || !module.gradient_requests.empty()) return false;
  return std::all_of(module.functions.begin(), module.functions.end(), [](const ir::Function& function) {
    return std::all_of(function.values.begin(), function.values.end(),
                       [](const ir::ValueInfo& value) { return value.type.is_scalar(); });
  });
}

}  // namespace

graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options) {
  if (!module.find(entry)) {
    return passes::lower(module, entry);  // which says what is missing
  }
  make_main(module, entry);
  module = passes::simplify(std::move(module), options.simplify);
  if (purpose == Purpose::Run && has_only_scalars(module)) return passes::lower(module);
  module = passes::add_gradients(passes::loops_to_calls(std::move(module)));
  if (purpose == Purpose::Run) return passes::lower(module);
  return passes::lower(passes::add_training_step(std::move(module), kMain, "training_step"), "training_step");
}

}  // namespace hiaton

#include "growth.h"

#include <algorithm>

#include "engine/pipeline.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton::benchmarks {
namespace {

Program program_of(Style style, const std::filesystem::path& root, const CompileOptions& options) {
  if (style == Style::Unrolling) throw ProgramError("trees that are still to grow cannot be unrolled");
  const auto text = [&](const char* path) { return std::string(read_source(root / path)->text()); };
  ir::Module module =
      lang::parse(std::make_shared<const Source>("the growth of trees",
                                                 text("models/td_treelstm.hia") +
                                                     text("benchmarks/learn/models/td_treelstm_growth.hia")),
                  {options.sizes});
  const char* entry = style == Style::Recursion ? "recursion" : "iteration";
  return Program::from_graph(compile(std::move(module), entry, Purpose::Run, options), options);
}

}  // namespace

Growth::Growth(Style style, const std::filesystem::path& root, const CompileOptions& options)
    : style_(style), program_(program_of(style, root, options)) {}

std::vector<Value> Growth::grow(std::span<const Seedling> seedlings, const RunOptions& options) const {
  std::vector<std::vector<Value>> examples;
  for (const Seedling& seedling : seedlings) examples.push_back({seedling.label, seedling.number});
  std::vector<Value> trees;
  for (std::vector<Value>& results : program_.run_all(examples, options))
    trees.push_back(std::move(results[0]));
  return trees;
}

std::vector<Tensor> Growth::probabilities_in(const Value& tree) const {
  std::vector<Tensor> found;
  std::vector<Value> open{tree};
  while (!open.empty()) {
    const Value value = std::move(open.back());
    open.pop_back();
    if (value.is_data()) {
      const Data data = value.data();
      for (std::size_t i = data.field_count(); i-- > 0;) open.push_back(data.field(i));
    } else {
      found.push_back(value.tensor());
    }
  }
  if (style_ == Style::Iteration) std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace hiaton::benchmarks

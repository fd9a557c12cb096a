#include "hiaton/model.h"

#include <fmt/format.h>

#include "base/not_moved.h"
#include "engine/pipeline.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {

struct Model::Parts {
  ir::Module module;
  Program loss;
  Program training;
  std::optional<Program> predict;
  std::optional<Program> metrics;
};

namespace {

/// Its first result must be a number of which there are gradients.
void require_loss(const ir::Module& module) {
  const ir::Function& loss = module[*module.find("loss")];
  const bool is_loss =
      !loss.results.empty() && loss.results[0].is_scalar() && is_float(loss.results[0].dtype);
  if (is_loss) return;
  const std::string message = fmt::format(
      "expected the first result of 'loss', which training makes small, to be f32 or f64, found {}",
      loss.results.empty() ? "none" : to_string(loss.results[0]));
  if (module.source != nullptr && loss.span.known())
    throw ProgramError(module.source, {{loss.span, message}});
  throw ProgramError(message);
}

/// A function that takes functions or types is no function of its own: it may be there all the same.
[[noreturn]] void fail_without_loss(const std::shared_ptr<const Source>& source) {
  constexpr std::string_view kHead = "fn loss";
  const std::string_view text = source == nullptr ? std::string_view() : source->text();
  for (std::size_t at = text.find(kHead); at != std::string_view::npos; at = text.find(kHead, at + 1)) {
    const std::size_t end = at + kHead.size();
    const bool is_head = (at == 0 || text[at - 1] == '\n') && end < text.size() &&
                         std::string_view("([ ").find(text[end]) != std::string_view::npos;
    if (!is_head) continue;
    throw ProgramError(source, {{{static_cast<uint32_t>(at), static_cast<uint32_t>(end)},
                                 "expected a function 'loss' of examples, found one that takes a function or "
                                 "types, which no example can hold"}});
  }
  throw ProgramError((source ? source->name() + ": " : std::string()) +
                     "expected a function 'loss' to train by, found none");
}

}  // namespace

Model Model::from_file(const std::filesystem::path& path, const CompileOptions& options) {
  return from_module(lang::parse(read_program(path), {options.sizes}), options);
}

Model Model::from_text(std::string name, std::string text, const CompileOptions& options) {
  return from_module(
      lang::parse(std::make_shared<const Source>(std::move(name), std::move(text)), {options.sizes}),
      options);
}

Model Model::from_module(ir::Module module, const CompileOptions& options) {
  const auto with_entry = [](CompileOptions own, std::string_view entry) {
    own.entry = entry;
    return own;
  };
  const auto program = [&](std::string_view entry, Purpose purpose) {
    return Program(module, compile(module, entry, purpose, options), with_entry(options, entry));
  };
  if (!module.find("loss")) fail_without_loss(module.source);
  require_loss(module);
  const auto optional_program = [&](std::string_view entry) {
    return module.find(entry) ? std::optional(program(entry, Purpose::Run)) : std::nullopt;
  };
  Parts parts{module, program("loss", Purpose::Run), program("loss", Purpose::Train),
              optional_program("predict"), optional_program("metrics")};
  return Model(std::make_shared<const Parts>(std::move(parts)));
}

const Model::Parts& Model::parts() const {
  return not_moved(parts_, "a model", "a Model");
}

const std::vector<graph::Parameter>& Model::parameters() const {
  return parts().training.graph().parameters();
}

const ir::Module& Model::module() const {
  return parts().module;
}

std::vector<Value> Model::initial_parameters(uint64_t seed) const {
  return hiaton::initial_parameters(parameters(), seed);
}

const Program& Model::program_of_loss(const RunOptions& options) const {
  return options.gradients != nullptr ? parts().training : parts().loss;
}

std::vector<std::vector<Value>> Model::loss(std::span<const std::vector<Value>> examples,
                                            RunOptions options) const {
  const Program& program = program_of_loss(options);
  return program.run_all(examples, std::move(options));
}

void Model::loss(Examples& examples, RunOptions options) const {
  const Program& program = program_of_loss(options);
  program.run_all(examples, std::move(options));
}

std::vector<std::vector<Value>> Model::predict(std::span<const std::vector<Value>> examples,
                                               RunOptions options) const {
  return predict_program().run_all(examples, std::move(options));
}

void Model::predict(Examples& examples, RunOptions options) const {
  predict_program().run_all(examples, std::move(options));
}

bool Model::can_predict() const {
  return parts().predict.has_value();
}

const Program& Model::predict_program() const {
  if (!parts().predict) throw ProgramError("expected a function 'predict', found none");
  return *parts().predict;
}

bool Model::has_metrics() const {
  return parts().metrics.has_value();
}

const Program& Model::metrics_program() const {
  if (!parts().metrics) throw ProgramError("expected a function 'metrics', found none");
  return *parts().metrics;
}

const Program& Model::training_program() const {
  return parts().training;
}

const Program& Model::loss_program() const {
  return parts().loss;
}

}  // namespace hiaton

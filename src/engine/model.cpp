#include "hiaton/model.h"

#include "engine/pipeline.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {

struct Model::Parts {
  ir::Module module;
  Program loss;
  Program training;
  std::optional<Program> predict;
};

Model Model::from_file(const std::filesystem::path& path, const CompileOptions& options) {
  return from_module(lang::parse(read_program(path), {options.sizes}), options);
}

Model Model::from_text(std::string name, std::string text, const CompileOptions& options) {
  return from_module(
      lang::parse(std::make_shared<const Source>(std::move(name), std::move(text)), {options.sizes}),
      options);
}

Model Model::from_module(ir::Module module, const CompileOptions& options) {
  const auto program = [&](std::string_view entry, Purpose purpose) {
    return Program(module, compile(module, entry, purpose, options), options.simplify.overflow);
  };
  if (!module.find("loss")) {
    throw ProgramError((module.source ? module.source->name() + ": " : std::string()) +
                       "expected a function 'loss' to train by, found none");
  }
  std::optional<Program> predict;
  if (module.find("predict")) predict = program("predict", Purpose::Run);
  Parts parts{module, program("loss", Purpose::Run), program("loss", Purpose::Train), std::move(predict)};
  return Model(std::make_shared<const Parts>(std::move(parts)));
}

const std::vector<graph::Parameter>& Model::parameters() const {
  return parts_->training.graph().parameters();
}

const ir::Module& Model::module() const {
  return parts_->module;
}

std::vector<Value> Model::initial_parameters(uint64_t seed) const {
  return hiaton::initial_parameters(parameters(), seed);
}

const Program& Model::program_of_loss(const RunOptions& options) const {
  return options.gradients != nullptr ? parts_->training : parts_->loss;
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
  return parts_->predict.has_value();
}

const Program& Model::predict_program() const {
  if (!parts_->predict) throw ProgramError("expected a function 'predict', found none");
  return *parts_->predict;
}

const Program& Model::training_program() const {
  return parts_->training;
}

const Program& Model::loss_program() const {
  return parts_->loss;
}

}  // namespace hiaton

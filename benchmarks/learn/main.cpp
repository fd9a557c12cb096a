// How fast recursive models train and predict; benchmarks/learn/run makes tables of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "hiaton/error.h"

namespace hiaton::benchmarks {
namespace {

std::filesystem::path model_path(const Options& options) {
  return options.root / "models" / (options.model + ".hia");
}

}  // namespace

bool is_lstm(const Options& options) {
  return options.model.find("lstm") != std::string::npos;
}

Corpus corpus_of(const Options& options) {
  Corpus corpus = load_corpus(options.trees, options.count);
  if (options.binary) make_binary(corpus);
  if (options.nodes > 0) {
    const Form form = form_named(options.form.empty() ? "balanced" : options.form);
    corpus.trees = {random_tree(options.nodes, form, corpus.vocabulary, corpus.classes, 1)};
  } else if (!options.form.empty()) {
    reshape(corpus, form_named(options.form));
  }
  return corpus;
}

std::map<std::string, int64_t> sizes_of(const Options& options, const Corpus& corpus) {
  std::map<std::string, int64_t> sizes{
      {"d", options.hidden}, {"vocab", corpus.vocabulary}, {"classes", corpus.classes}};
  if (is_lstm(options)) sizes["e"] = options.embedding;
  return sizes;
}

Model model_of(const Options& options, const Corpus& corpus) {
  return Model::from_file(model_path(options), {.sizes = sizes_of(options, corpus)});
}

train::ModelTrainer trainer_of(const Options& options, const Corpus& corpus) {
  return train::make_trainer({.model = model_path(options),
                              .classes = corpus.classes,
                              .vocabulary_size = corpus.vocabulary,
                              .sizes = sizes_of(options, corpus),
                              .workers = options.workers});
}

namespace {

using Command = nlohmann::json (*)(const Options&);

void add_options(CLI::App& app, Options& options) {
  app.add_option("--root", options.root, "Directory of the project");
  app.add_option("--model", options.model, "A model of models/, without its ending");
  app.add_option("--trees", options.trees, "A file of bracketed trees, or 'generated'");
  app.add_option("--count", options.count, "How many of the trees; 0: all");
  app.add_flag("--binary", options.binary, "Two classes: above the middle one, and not");
  app.add_option("--form", options.form, "balanced, moderate or linear; else the trees as they are");
  app.add_option("--hidden", options.hidden);
  app.add_option("--embedding", options.embedding);
  app.add_option("--batch", options.batch)->check(CLI::PositiveNumber);
  app.add_option("--workers", options.workers)->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "Steps a round")->check(CLI::PositiveNumber);
  app.add_option("--style", options.style, "recursion, iteration or unrolling");
  app.add_option("--batching", options.batching, "Whether growing trees run in batches");
  app.add_option("--parameters", options.parameters, "File for what was learned");
  app.add_option("--nodes", options.nodes, "One tree of so many nodes instead of the trees");
  app.add_option("--depth", options.depth, "Of the recursion of x^n")->check(CLI::PositiveNumber);
  app.add_option("--out", options.out, "Directory for what is written");
}

int run(int argc, char** argv) {
  CLI::App app("How fast recursive models train and predict");
  Options options;
  add_options(app, options);
  app.fallthrough();
  app.require_subcommand(1);
  Command command = nullptr;
  const auto add = [&](const char* name, const char* description, Command measure) {
    app.add_subcommand(name, description)->callback([&command, measure] { command = measure; });
  };
  add("speed", "Training and inference beside the peak of matrix products", measure_speed);
  add("peers", "Write parameters and trees for other programs", write_for_peers);
  add("style", "TreeRNN by recursion, iteration or unrolling", measure_style);
  add("depth", "Gradient descent on x^n", measure_depth);
  add("train", "Train and write the parameters", train_parameters);
  add("growth", "Trees that TD-TreeLSTM grows by recursion or iteration", measure_growth);
  add("overhead", "A step beyond its kernels", measure_overhead);
  add("step", "Time and memory of a step", measure_step);
  add("products", "Matrix products beside oneDNN and OpenBLAS", measure_products);
  add("latency", "One tree beside its matrix products", measure_latency);
  CLI11_PARSE(app, argc, argv);
  fmt::print("{}\n", command(options).dump());
  return 0;
}

}  // namespace
}  // namespace hiaton::benchmarks

int main(int argc, char** argv) {
  try {
    return hiaton::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

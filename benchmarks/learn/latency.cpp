// Inference of one tree at a time, beside the matrix products that it needs: in the batches that one tree
// allows, one product for its leaves and one for all inner nodes of each height, on parameters that are
// packed before.
#include "commands.h"
#include "hiaton/error.h"
#include "kernels/gemm.h"
#include "measure.h"

namespace hiaton::benchmarks {
namespace {

using train::Tree;

/// How many nodes of each height there are: leaves, nodes above leaves alone, and so on.
std::vector<int64_t> nodes_by_height(const Tree& tree) {
  std::vector<int64_t> counts;
  std::vector<std::size_t> heights(tree.nodes.size());
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    for (int32_t child : tree.children(static_cast<int32_t>(i)))
      heights[i] = std::max(heights[i], heights[static_cast<std::size_t>(child)] + 1);
    counts.resize(std::max(counts.size(), heights[i] + 1));
    ++counts[heights[i]];
  }
  return counts;
}

/// Products of so many rows with a matrix, that is packed.
class Product {
 public:
  Product(int64_t depth, int64_t columns, int64_t most_rows)
      : x_(static_cast<std::size_t>(most_rows * depth), 0.5F),
        out_(static_cast<std::size_t>(most_rows * columns)) {
    const std::vector<float> w(static_cast<std::size_t>(depth * columns), 0.25F);
    packed_.pack(kernels::Transpose::No, w.data(), depth, columns, columns);
  }

  void run(int64_t rows) {
    kernels::multiply<float>(x_.data(), rows, packed_.depth(), packed_, out_.data(), packed_.columns(),
                             false);
  }

 private:
  kernels::PackedMatrix<float> packed_;
  std::vector<float> x_;
  std::vector<float> out_;
};

}  // namespace

nlohmann::json measure_latency(const Options& options) {
  if (options.model != "treelstm") throw ProgramError("expected the model treelstm, found " + options.model);
  const Corpus corpus = corpus_of(options);
  train::ModelTrainer trainer = trainer_of(options, corpus);
  std::vector<std::vector<int64_t>> heights;
  int64_t most = 0;
  for (const Tree& tree : corpus.trees) {
    heights.push_back(nodes_by_height(tree));
    most = std::max(most, *std::max_element(heights.back().begin(), heights.back().end()));
  }
  Product leaves(options.embedding, 3 * options.hidden, most);
  Product inner(2 * options.hidden, 5 * options.hidden, most);
  Product classes(options.hidden, corpus.classes, most);
  std::vector<train::TreeExamples> trees_alone;
  for (const Tree& tree : corpus.trees) trees_alone.push_back({trainer.model(), {tree}, corpus.classes});
  const auto predict = [&] {
    for (const train::TreeExamples& one : trees_alone) trainer.predict(one);
  };
  const auto multiply = [&] {
    for (const std::vector<int64_t>& counts : heights) {
      for (std::size_t height = 0; height < counts.size(); ++height) {
        (height == 0 ? leaves : inner).run(counts[height]);
        classes.run(counts[height]);
      }
    }
  };
  predict();
  multiply();
  std::vector<double> whole, products, ratios;
  const auto trees = static_cast<double>(corpus.trees.size());
  for (std::size_t round = 0; round < options.rounds; ++round) {
    whole.push_back(seconds_of(predict) / trees);
    products.push_back(seconds_of(multiply) / trees);
    ratios.push_back(whole.back() / products.back());
  }
  return {{"seconds_per_tree", median(whole)},
          {"product_seconds_per_tree", median(products)},
          {"times_products", median(ratios)}};
}

}  // namespace hiaton::benchmarks

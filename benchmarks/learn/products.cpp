// Matrix products on the shapes of recursive models: our kernels, oneDNN and OpenBLAS in turns, one thread,
// single precision. What is learned stays the same for many products: ours and oneDNN take it packed, in the
// order that they like best; OpenBLAS has no such call.
#include <cblas.h>

#include <cmath>
#include <dnnl.hpp>
#include <functional>
#include <unordered_map>

#include "commands.h"
#include "hiaton/error.h"
#include "kernels/gemm.h"
#include "measure.h"

// oneDNN runs its threads by OpenMP, which has this function.
extern "C" void omp_set_num_threads(int);

namespace hiaton::benchmarks {
namespace {

using dnnl::memory;

/// a b of a[rows, depth] and b[depth, columns].
struct Shape {
  int64_t rows;
  int64_t depth;
  int64_t columns;
};

std::vector<Shape> shapes() {
  std::vector<Shape> made;
  const std::pair<int64_t, int64_t> matrices[] = {{256, 640}, {640, 256}, {128, 384},
                                                  {300, 750}, {128, 5},   {70, 35}};
  for (const auto& [depth, columns] : matrices) {
    for (const int64_t rows : {1, 4, 16, 64, 256}) made.push_back({rows, depth, columns});
  }
  made.push_back({1000, 1000, 1000});
  return made;
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i * 7 % 16) / 16 - 0.5F;
  return made;
}

/// What all compute: a b, or of gradients a^T b of a[rows, depth] and b[rows, columns], added up.
struct Task {
  Task(const Shape& shape, bool is_gradient)
      : shape(shape),
        is_gradient(is_gradient),
        a(numbers(shape.rows * shape.depth)),
        b(numbers((is_gradient ? shape.rows : shape.depth) * shape.columns)) {}

  std::vector<float> result() const {
    return std::vector<float>(
        static_cast<std::size_t>((is_gradient ? shape.depth : shape.rows) * shape.columns));
  }

  Shape shape;
  bool is_gradient;
  std::vector<float> a, b;
};

class Contender {
 public:
  explicit Contender(const Task& task) : task_(task), result_(task.result()) {}
  virtual ~Contender() = default;
  virtual void run() = 0;
  const std::vector<float>& result() const { return result_; }

 protected:
  const Task& task_;
  std::vector<float> result_;
};

class Ours : public Contender {
 public:
  explicit Ours(const Task& task) : Contender(task) {
    const Shape& s = task.shape;
    if (!task.is_gradient) packed_.pack(kernels::Transpose::No, task.b.data(), s.depth, s.columns, s.columns);
  }

  void run() override {
    const Shape& s = task_.shape;
    if (task_.is_gradient) {
      kernels::accumulate_outer<float>(task_.a.data(), s.depth, task_.b.data(), s.columns, s.rows, s.depth,
                                       s.columns, result_.data(), s.columns);
    } else {
      kernels::multiply<float>(task_.a.data(), s.rows, s.depth, packed_, result_.data(), s.columns, false);
    }
  }

 private:
  kernels::PackedMatrix<float> packed_;
};

class OpenBlas : public Contender {
 public:
  using Contender::Contender;

  void run() override {
    const auto rows = static_cast<int>(task_.shape.rows);
    const auto depth = static_cast<int>(task_.shape.depth);
    const auto columns = static_cast<int>(task_.shape.columns);
    if (task_.is_gradient) {
      cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, depth, columns, rows, 1, task_.a.data(), depth,
                  task_.b.data(), columns, 1, result_.data(), columns);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, task_.a.data(), depth,
                  task_.b.data(), columns, 0, result_.data(), columns);
    }
  }
};

class OneDnn : public Contender {
 public:
  explicit OneDnn(const Task& task) : Contender(task) {
    omp_set_num_threads(1);
    const Shape& s = task.shape;
    const auto [left, right, out] =
        task.is_gradient
            ? std::tuple(matrix(s.depth, s.rows, Order::ba), matrix(s.rows, s.columns, Order::ab),
                         matrix(s.depth, s.columns, Order::ab))
            : std::tuple(matrix(s.rows, s.depth, Order::ab), matrix(s.depth, s.columns, Order::ab),
                         matrix(s.rows, s.columns, Order::ab));
    dnnl::primitive_attr attributes;
    if (task.is_gradient) {
      dnnl::post_ops add;
      add.append_sum(1);
      attributes.set_post_ops(add);
    }
    const memory::desc any_right = task.is_gradient ? right : matrix(s.depth, s.columns, Order::any);
    const dnnl::matmul::primitive_desc chosen({left, any_right, out}, attributes, engine_);
    memory given(right, engine_, const_cast<float*>(task.b.data()));
    memory packed(chosen.weights_desc(), engine_);
    dnnl::reorder(given, packed).execute(stream_, given, packed);
    stream_.wait();
    product_ = dnnl::matmul(chosen);
    arguments_ = {{DNNL_ARG_SRC, memory(left, engine_, const_cast<float*>(task.a.data()))},
                  {DNNL_ARG_WEIGHTS, packed},
                  {DNNL_ARG_DST, memory(out, engine_, result_.data())}};
  }

  void run() override {
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  using Order = memory::format_tag;

  static memory::desc matrix(int64_t rows, int64_t columns, Order order) {
    return {{rows, columns}, memory::data_type::f32, order};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul product_;
  std::unordered_map<int, memory> arguments_;
};

void require_equal(const std::vector<float>& found, const std::vector<float>& expected,
                   const std::string& whose) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(found[i] - expected[i]) > 1e-3F * (1 + std::abs(expected[i])))
      throw ProgramError(whose + " gets another product than ours");
  }
}

/// Floating-point operations a second.
nlohmann::json measure(const Task& task, const Options& options) {
  const std::unique_ptr<Contender> contenders[] = {
      std::make_unique<Ours>(task), std::make_unique<OneDnn>(task), std::make_unique<OpenBlas>(task)};
  const std::string names[] = {"ours", "onednn", "openblas"};
  for (std::size_t c = 0; c < 3; ++c) {
    contenders[c]->run();
    require_equal(contenders[c]->result(), contenders[0]->result(), names[c]);
  }
  const Shape& s = task.shape;
  const double flops = 2.0 * static_cast<double>(s.rows * s.depth * s.columns);
  constexpr double kFlopsAStep = 1e7;
  const double times = std::max(1.0, std::floor(static_cast<double>(options.steps) * kFlopsAStep / flops));
  std::vector<double> rates[3], ratios;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t c = 0; c < 3; ++c) {
      contenders[c]->run();  // brings back to the caches what the one before pushed out
      const double seconds = seconds_of([&] {
        for (int i = 0; i < static_cast<int>(times); ++i) contenders[c]->run();
      });
      rates[c].push_back(times * flops / seconds);
    }
    ratios.push_back(rates[0].back() / std::max(rates[1].back(), rates[2].back()));
  }
  nlohmann::json found{
      {"rows", s.rows}, {"depth", s.depth}, {"columns", s.columns}, {"ratio", median(ratios)}};
  for (std::size_t c = 0; c < 3; ++c) found[names[c]] = median(rates[c]);
  return found;
}

}  // namespace

nlohmann::json measure_products(const Options& options) {
  nlohmann::json found;
  for (const Shape& shape : shapes()) {
    found["products"].push_back(measure(Task(shape, false), options));
    found["gradients"].push_back(measure(Task(shape, true), options));
  }
  return found;
}

}  // namespace hiaton::benchmarks

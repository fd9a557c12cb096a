// Matrix products. Each is the gradient of the others.
#include "ops/contraction_kernels.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

bool are_floats_of_one_type(std::span<const Type> operands) {
  return operands[0].is_tensor() && operands[1].is_tensor() && is_float(operands[0].dtype) &&
         operands[0].dtype == operands[1].dtype;
}

/// The last dimension but `back`.
const Dim& dim_from_end(const Type& type, std::size_t back) {
  return type.shape[type.shape.size() - 1 - back];
}

std::span<const Dim> all_but_last(const Type& type, std::size_t count) {
  return std::span(type.shape).first(type.shape.size() - count);
}

/// The dimensions of the batch that batches of matrices broadcast to.
std::vector<Dim> batch_of(const Type& a, const Type& b) {
  const auto batch = [](const Type& type) {
    const std::span<const Dim> leading = all_but_last(type, 2);
    return Type(type.dtype, std::vector<Dim>(leading.begin(), leading.end()));
  };
  const Type batches[] = {batch(a), batch(b)};
  return broadcast(batches);
}

bool are_matrices(const Type& a, const Type& b) {
  return a.shape.size() >= 2 && b.shape.size() >= 2;
}

Type with_shape(const Type& like, std::span<const Dim> leading, std::initializer_list<Dim> last) {
  std::vector<Dim> shape(leading.begin(), leading.end());
  shape.insert(shape.end(), last);
  return Type(like.dtype, std::move(shape));
}

constexpr std::string_view kMatmulForms =
    "f32 or f64, the same for both, of shapes [.., n, k] and [.., k, m], [k] and [k, m], [n, k] and [k], or "
    "[k] and [k]";

Type matmul_type(const TypeQuestion& question) {
  const Type& a = question.operands[0];
  const Type& b = question.operands[1];
  if (!are_floats_of_one_type(question.operands)) refuse(kMatmulForms, question.operands);
  const bool vector = b.shape.size() == 1;
  const bool form = vector ? a.shape.size() <= 2 : b.shape.size() == 2 || are_matrices(a, b);
  if (!form || !may_equal(dim_from_end(a, 0), dim_from_end(b, vector ? 0 : 1))) {
    refuse(kMatmulForms, question.operands);
  }
  if (vector) return with_shape(a, all_but_last(a, 1), {});
  if (a.shape.size() == 1) return with_shape(a, {}, {dim_from_end(b, 0)});
  return with_shape(a, batch_of(a, b), {dim_from_end(a, 1), dim_from_end(b, 0)});
}

constexpr std::string_view kMatmulNtForms =
    "f32 or f64, the same for both, of shapes [.., n, k] and [.., m, k], or [k] and [m, k]";

Type matmul_nt_type(const TypeQuestion& question) {
  const Type& a = question.operands[0];
  const Type& b = question.operands[1];
  if (!are_floats_of_one_type(question.operands) || !(b.shape.size() == 2 || are_matrices(a, b)) ||
      !may_equal(dim_from_end(a, 0), dim_from_end(b, 0))) {
    refuse(kMatmulNtForms, question.operands);
  }
  if (a.shape.size() == 1) return with_shape(a, {}, {dim_from_end(b, 1)});
  return with_shape(a, batch_of(a, b), {dim_from_end(a, 1), dim_from_end(b, 1)});
}

constexpr std::string_view kMatmulTnForms =
    "f32 or f64, the same for both, of shapes [.., n, k] and [.., n, m], or [k] and [m]";

Type matmul_tn_type(const TypeQuestion& question) {
  const Type& a = question.operands[0];
  const Type& b = question.operands[1];
  const bool are_vectors = a.shape.size() == 1 && b.shape.size() == 1;
  if (!are_floats_of_one_type(question.operands) ||
      !(are_vectors || (are_matrices(a, b) && may_equal(dim_from_end(a, 1), dim_from_end(b, 1))))) {
    refuse(kMatmulTnForms, question.operands);
  }
  if (are_vectors) return Type(a.dtype, {a.shape[0], b.shape[0]});
  return with_shape(a, batch_of(a, b), {dim_from_end(a, 0), dim_from_end(b, 0)});
}

Type vectors(const TypeQuestion& question) {
  const Type& a = question.operands[0];
  const Type& b = question.operands[1];
  const bool fits = are_floats_of_one_type(question.operands) && a.shape.size() == 1 && b.shape.size() == 1;
  if (!fits) refuse("vectors of f32 or f64, the same for both", question.operands);
  return a;
}

Type dot_type(const TypeQuestion& question) {
  const Type a = vectors(question);
  if (!may_equal(a.shape[0], question.operands[1].shape[0])) {
    refuse("vectors of one length", question.operands);
  }
  return a.dtype;
}

Type outer_type(const TypeQuestion& question) {
  const Type a = vectors(question);
  return Type(a.dtype, {a.shape[0], question.operands[1].shape[0]});
}

Var op(const GradientQuestion& q, std::string_view name, const Var& a, const Var& b) {
  return q.builder.op(name, {a, b});
}

/// Sums a gradient over the batch that the operand was broadcast to.
Var of_batch(const GradientQuestion& q, const Var& gradient, const Var& operand) {
  const bool is_whole = operand.type().shape.size() < 2 ||
                        surely_equal(all_but_last(gradient.type(), 2), all_but_last(operand.type(), 2));
  return is_whole ? gradient : q.builder.op("sum_like", {gradient, operand});
}

/// The gradient of b, x^T g: where one matrix b is multiplied with a batch, the sum over the batch.
Var of_right(const GradientQuestion& q, const Var& x, const Var& g, const Var& b) {
  const bool one_for_all = b.type().shape.size() == 2 && x.type().shape.size() > 2;
  if (one_for_all && is_fixed(b.type().shape)) {
    const auto rows = [&](const Var& of) {
      return q.builder.op("reshape", {of}, {-1, of.type().shape.back().size});
    };
    return op(q, "matmul_tn", rows(x), rows(g));
  }
  return of_batch(q, op(q, "matmul_tn", x, g), b);
}

Var matmul_rule(const GradientQuestion& q, std::size_t index) {
  const Var a = q.operands[0];
  const Var b = q.operands[1];
  const std::size_t rank = a.type().shape.size();
  if (b.type().shape.size() == 1) {
    if (rank == 1) return q.gradient * (index == 0 ? b : a);
    return index == 0 ? op(q, "outer", q.gradient, b) : op(q, "matmul", q.gradient, a);
  }
  if (index == 0) return of_batch(q, op(q, "matmul_nt", q.gradient, b), a);
  return of_right(q, a, q.gradient, b);
}

Var matmul_nt_rule(const GradientQuestion& q, std::size_t index) {
  const Var a = q.operands[0];
  const Var b = q.operands[1];
  if (index == 0) return of_batch(q, op(q, "matmul", q.gradient, b), a);
  return of_right(q, q.gradient, a, b);
}

Var matmul_tn_rule(const GradientQuestion& q, std::size_t index) {
  const Var a = q.operands[0];
  const Var b = q.operands[1];
  if (index == 1) return of_batch(q, op(q, "matmul", a, q.gradient), b);
  if (a.type().shape.size() == 1) return op(q, "matmul", q.gradient, b);
  return of_batch(q, op(q, "matmul_nt", b, q.gradient), a);
}

Var dot_rule(const GradientQuestion& q, std::size_t index) {
  return q.gradient * q.operands[1 - index];
}

}  // namespace

std::span<const OpDef> linear_algebra() {
  static const OpDef all[] = {
      {
          .name = "matmul",
          .symbol = "@",
          .doc = "The matrix product, also of a vector and a matrix, and of two vectors. Batches of matrices "
                 "are "
                 "multiplied one by one, after broadcasting.",
          .operands = {"a", "b"},
          .type_rule = matmul_type,
          .tensor_kernel = matmul_kernel,
          .gradient = matmul_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Product,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2, 2}, {1, 2, 3, 4})},
                       tensor<float>({2}, {7, 10})},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2}, {1, 10})},
                       tensor<float>({2}, {21, 43})},
                      {{tensor<double>({2, 1}, {1, 2}), tensor<double>({1, 2}, {3, 4})},
                       tensor<double>({2, 2}, {3, 4, 6, 8})},
                      {{tensor<double>({3}, {1, 2, 3}), tensor<double>({3}, {1, 1, 2})}, 9.0},
                      {{tensor<double>({2, 1, 1}, {2, 3}), tensor<double>({1, 2}, {1, 10})},
                       tensor<double>({2, 1, 2}, {2, 20, 3, 30})},
                      {{tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 2, 1}, {1, 0, 0, 1})},
                       tensor<float>({2, 1, 1}, {1, 4})},
                      {{tensor<float>({1, 2}, {1, 2}), tensor<float>({2, 2, 1}, {1, 0, 0, 1})},
                       tensor<float>({2, 1, 1}, {1, 2})}},
      },
      {
          .name = "matmul_nt",
          .doc = "The matrix product of a and the transposed of b.",
          .operands = {"a", "b"},
          .type_rule = matmul_nt_type,
          .tensor_kernel = matmul_nt_kernel,
          .gradient = matmul_nt_rule,
          .fusion = Fusion::Tensor,
          .role = Role::ProductTransposed,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2, 2}, {1, 2, 3, 4})},
                       tensor<float>({2}, {5, 11})},
                      {{tensor<double>({2, 2}, {1, 2, 3, 4}), tensor<double>({1, 2}, {1, 10})},
                       tensor<double>({2, 1}, {21, 43})},
                      {{tensor<double>({2, 1, 1}, {2, 3}), tensor<double>({2, 1}, {1, 10})},
                       tensor<double>({2, 1, 2}, {2, 20, 3, 30})},
                      {{tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 2}, {1, 0, 0, 1})},
                       tensor<float>({2, 1, 1}, {1, 4})}},
      },
      {
          .name = "matmul_tn",
          .doc = "The matrix product of the transposed of a and b; of vectors, every product of an "
                 "element of a and one of b.",
          .operands = {"a", "b"},
          .type_rule = matmul_tn_type,
          .tensor_kernel = matmul_tn_kernel,
          .gradient = matmul_tn_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2}, {3, 4})},
                       tensor<float>({2, 2}, {3, 4, 6, 8})},
                      {{tensor<double>({2, 1}, {1, 2}), tensor<double>({2, 2}, {3, 4, 5, 6})},
                       tensor<double>({1, 2}, {13, 16})},
                      {{tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 1}, {1, 10})},
                       tensor<float>({2, 2, 1}, {1, 2, 30, 40})}},
      },
      {
          .name = "dot",
          .doc = "The inner product of two vectors.",
          .operands = {"a", "b"},
          .type_rule = dot_type,
          .tensor_kernel = dot_kernel,
          .gradient = dot_rule,
          .is_commutative = true,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2}, {3, 4})}, 11.0f}},
      },
      {
          .name = "outer",
          .doc = "Every product of an element of vector a and one of vector b: a matrix.",
          .operands = {"a", "b"},
          .type_rule = outer_type,
          .tensor_kernel = matmul_tn_kernel,
          .gradient = matmul_tn_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2}, {3, 4})},
                       tensor<float>({2, 2}, {3, 4, 6, 8})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops

#include "ops/contraction_kernels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/gemm.h"
#include "ops/instances.h"

namespace hiaton::ops {
namespace {

using Labels = std::vector<int64_t>;
/// The size of each label.
using Sizes = std::array<int64_t, kMostLabels>;

bool has(std::span<const int64_t> labels, int64_t label) {
  return std::ranges::find(labels, label) != labels.end();
}

/// The labels that fulfil a condition, each once.
template <class Condition>
Labels chosen(std::span<const int64_t> labels, Condition condition) {
  Labels found;
  for (const int64_t label : labels) {
    if (condition(label) && !has(found, label)) found.push_back(label);
  }
  return found;
}

int64_t count_of(std::span<const int64_t> labels, const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t label : labels) count *= sizes[static_cast<std::size_t>(label)];
  return count;
}

/// A step along the axes of a label, which may be several: the diagonal.
int64_t stride_of(int64_t label, std::span<const int64_t> labels, const Sizes& sizes) {
  int64_t stride = 0;
  int64_t elements = 1;
  for (std::size_t axis = labels.size(); axis-- > 0;) {
    if (labels[axis] == label) stride += elements;
    elements *= sizes[static_cast<std::size_t>(labels[axis])];
  }
  return stride;
}

/// An axis of a loop over elements of a tensor and of what they are added to.
struct Axis {
  int64_t size;
  int64_t from;
  int64_t to;
};

template <class T>
void add_up(std::span<const Axis> axes, const T* x, T* out) {
  if (axes.empty()) {
    *out += *x;
    return;
  }
  const Axis axis = axes.front();
  for (int64_t i = 0; i < axis.size; ++i) add_up(axes.subspan(1), x + i * axis.from, out + i * axis.to);
}

/// Writes x with its axes in the order of `to`, summed over the others.
template <class T>
void rearrange(std::span<const int64_t> from, std::span<const int64_t> to, const Sizes& sizes, const T* x,
               T* out) {
  std::fill_n(out, count_of(to, sizes), T{0});
  std::vector<Axis> axes;
  const auto add = [&](int64_t label) {
    axes.push_back(
        {sizes[static_cast<std::size_t>(label)], stride_of(label, from, sizes), stride_of(label, to, sizes)});
  };
  for (const int64_t label : chosen(to, [](int64_t) { return true; })) add(label);
  for (const int64_t label : chosen(from, [&](int64_t label) { return !has(to, label); })) add(label);
  add_up<T>(axes, x, out);
}

/// A tensor whose axes have labels: an operand, or the product so far.
template <class T>
class Factor {
 public:
  Factor(const T* elements, std::span<const int64_t> labels)
      : elements_(elements), labels_(labels.begin(), labels.end()) {}
  Factor(std::vector<T> elements, Labels labels)
      : made_(std::move(elements)), elements_(made_.data()), labels_(std::move(labels)) {}
  Factor(Factor&&) noexcept = default;
  Factor& operator=(Factor&&) noexcept = default;

  const Labels& labels() const { return labels_; }
  const T* elements() const { return elements_; }

  /// The same with these axes alone, in this order.
  Factor in_order(const Labels& order, const Sizes& sizes) const {
    if (order == labels_) return {elements_, labels_};
    std::vector<T> elements(static_cast<std::size_t>(count_of(order, sizes)));
    rearrange<T>(labels_, order, sizes, elements_, elements.data());
    return {std::move(elements), order};
  }

 private:
  std::vector<T> made_;
  const T* elements_;  ///< `made_`, or an operand's
  Labels labels_;
};

Labels joined(Labels first, const Labels& second, const Labels& third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

/// The product of the two, summed over what `is_needed` does not ask for: as many matrix products as both
/// have elements along the axes that are kept.
template <class T, class IsNeeded>
Factor<T> contracted(const Factor<T>& a, const Factor<T>& b, const Sizes& sizes, IsNeeded is_needed) {
  const auto in_both = [&](int64_t label) { return has(a.labels(), label) && has(b.labels(), label); };
  const Labels batch = chosen(a.labels(), [&](int64_t label) { return in_both(label) && is_needed(label); });
  const Labels depth = chosen(a.labels(), [&](int64_t label) { return in_both(label) && !is_needed(label); });
  const Labels rows = chosen(a.labels(), [&](int64_t label) { return !in_both(label) && is_needed(label); });
  const Labels columns =
      chosen(b.labels(), [&](int64_t label) { return !in_both(label) && is_needed(label); });
  const Factor<T> left = a.in_order(joined(batch, rows, depth), sizes);
  const Factor<T> right = b.in_order(joined(batch, depth, columns), sizes);
  const int64_t m = count_of(rows, sizes);
  const int64_t n = count_of(columns, sizes);
  const int64_t k = count_of(depth, sizes);
  const int64_t products = count_of(batch, sizes);
  std::vector<T> out(static_cast<std::size_t>(products * m * n));
  for (int64_t i = 0; i < products && m * n > 0; ++i) {
    kernels::gemm<T>(kernels::Transpose::No, kernels::Transpose::No, m, n, k, T{1},
                     left.elements() + i * m * k, k, right.elements() + i * k * n, n, T{0},
                     out.data() + i * m * n, n);
  }
  return {std::move(out), joined(batch, rows, columns)};
}

Sizes sizes_of_labels(const KernelCall& call, const Subscripts& subscripts) {
  Sizes sizes{};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    for (std::size_t axis = 0; axis < subscripts.of_operands[i].size(); ++axis)
      sizes[static_cast<std::size_t>(subscripts.of_operands[i][axis])] = call.operands[i].dims[axis];
  }
  return sizes;
}

template <class T>
void einsum(const KernelCall& call, const Subscripts& subscripts, const Sizes& sizes, int64_t instance) {
  Factor<T> product(call.operands[0].at<T>(instance), subscripts.of_operands[0]);
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    const Factor<T> next(call.operands[i].at<T>(instance), subscripts.of_operands[i]);
    product = contracted(product, next, sizes, [&](int64_t label) {
      const auto later = std::span(subscripts.of_operands).subspan(i + 1);
      return has(subscripts.of_result, label) ||
             std::ranges::any_of(later, [&](std::span<const int64_t> labels) { return has(labels, label); });
    });
  }
  rearrange<T>(product.labels(), subscripts.of_result, sizes, product.elements(),
               call.result.at<T>(instance));
}

}  // namespace

Subscripts::Subscripts(std::span<const int64_t> attributes) {
  while (true) {
    const auto end =
        static_cast<std::size_t>(std::ranges::find(attributes, kNextSubscripts) - attributes.begin());
    if (end == attributes.size()) break;
    of_operands.push_back(attributes.first(end));
    attributes = attributes.subspan(end + 1);
  }
  of_result = attributes;
}

Fault einsum_kernel(const KernelCall& call) {
  const Subscripts subscripts(call.attributes);
  const Sizes sizes = sizes_of_labels(call, subscripts);
  return for_float(call.result.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) einsum<T>(call, subscripts, sizes, i);
    return Fault::None;
  });
}

}  // namespace hiaton::ops

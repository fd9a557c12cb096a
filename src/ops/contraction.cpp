// Products of tensors summed over axes that are named: einsum. It is its own gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ops/contraction_kernels.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

void refuse_subscripts(std::string_view expected, std::span<const int64_t> subscripts) {
  throw ProgramError(
      fmt::format("expected as subscripts {}, found [{}]", expected, fmt::join(subscripts, ", ")));
}

/// The size of each label, as far as the operands tell it.
std::vector<Dim> sizes_by_label(const TypeQuestion& question, const Subscripts& subscripts) {
  std::vector<Dim> sizes;
  std::vector<bool> is_known;
  for (std::size_t i = 0; i < question.operands.size(); ++i) {
    const std::span<const int64_t> labels = subscripts.of_operands[i];
    const Type& operand = question.operands[i];
    if (labels.size() != operand.shape.size()) {
      throw ProgramError(fmt::format("expected {} axes of operand {}, as the subscripts name them, found {}",
                                     labels.size(), i + 1, to_string(operand)));
    }
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      const auto label = static_cast<std::size_t>(labels[axis]);
      if (label >= sizes.size()) {
        sizes.resize(label + 1, unknown_dim());
        is_known.resize(label + 1, false);
      }
      const Dim& size = operand.shape[axis];
      if (is_known[label] && !may_equal(sizes[label], size)) {
        refuse("one size for all axes of one label", question.operands);
      }
      sizes[label] = is_known[label] ? unify(sizes[label], size) : size;
      is_known[label] = true;
    }
  }
  for (const int64_t label : subscripts.of_result) {
    if (static_cast<std::size_t>(label) >= sizes.size() || !is_known[static_cast<std::size_t>(label)])
      refuse_subscripts("labels of the result that an operand has", subscripts.of_result);
  }
  return sizes;
}

Type einsum_type(const TypeQuestion& question) {
  for (const Type& operand : question.operands) {
    const bool is_right =
        !operand.is_data() && is_float(operand.dtype) && operand.dtype == question.operands[0].dtype;
    if (!is_right) refuse("f32 or f64, the same for all", question.operands);
  }
  const auto groups = 1 + std::count(question.attributes.begin(), question.attributes.end(), kNextSubscripts);
  const bool are_labels = std::ranges::all_of(question.attributes, [](int64_t label) {
    return label == kNextSubscripts || (label >= 0 && label < kMostLabels);
  });
  if (!are_labels || static_cast<std::size_t>(groups) != question.operands.size() + 1) {
    refuse_subscripts(fmt::format("labels from 0 to {} for {} operands and the result, with -1 between them",
                                  kMostLabels - 1, question.operands.size()),
                      question.attributes);
  }
  const Subscripts subscripts(question.attributes);
  const std::vector<Dim> sizes = sizes_by_label(question, subscripts);
  Type result(question.operands[0].dtype);
  for (const int64_t label : subscripts.of_result)
    result.shape.push_back(sizes[static_cast<std::size_t>(label)]);
  return result;
}

/// The gradient of an operand is the product of the gradient with the other operands, summed over the axes
/// that the operand does not have. A factor of ones stands for axes that it alone has.
Var einsum_rule(const GradientQuestion& q, std::size_t index) {
  const Subscripts subscripts(q.attributes);
  std::vector<Var> factors{q.gradient};
  Attributes labels;
  std::vector<bool> is_given(kMostLabels);
  const auto give = [&](std::span<const int64_t> group) {
    for (const int64_t label : group) {
      labels.push_back(label);
      is_given[static_cast<std::size_t>(label)] = true;
    }
    labels.push_back(kNextSubscripts);
  };
  give(subscripts.of_result);
  for (std::size_t i = 0; i < q.operands.size(); ++i) {
    if (i == index) continue;
    factors.push_back(q.operands[i]);
    give(subscripts.of_operands[i]);
  }
  const std::span<const int64_t> own = subscripts.of_operands[index];
  const bool has_all =
      std::ranges::all_of(own, [&](int64_t label) { return is_given[static_cast<std::size_t>(label)]; });
  if (!has_all) {
    factors.push_back(q.builder.op("ones_like", {q.operands[index]}));
    give(own);
  }
  for (const int64_t label : own) labels.push_back(label);
  return q.builder.op("einsum", factors, labels);
}

}  // namespace

std::span<const OpDef> contraction() {
  static const OpDef all[] = {
      {
          .name = "einsum",
          .doc =
              "The product of the operands, summed over the axes whose labels the result does not have. The "
              "subscripts are a label for each axis of each operand and of the result, with -1 between them. "
              "Axes of one label have one size. einsum(\"bij,bjk->bik\", x, y) writes labels as letters.",
          .operands = {"x", "others..."},
          .attributes = {{.name = "subscripts", .is_list = true, .from_text = einsum_subscripts}},
          .type_rule = einsum_type,
          .tensor_kernel = einsum_kernel,
          .gradient = einsum_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2}, {1, 10})},
                       tensor<float>({2}, {21, 43}),
                       {0, 1, -1, 1, -1, 0}},
                      {{tensor<double>({2, 2}, {1, 2, 3, 4})}, 5.0, {0, 0, -1}},
                      {{tensor<float>({1, 2, 2}, {1, 2, 3, 4}), tensor<float>({1, 2, 1}, {1, 10}),
                        tensor<float>({2, 2}, {1, 2, 3, 4})},
                       tensor<float>({1, 1, 2}, {150, 214}),
                       {0, 1, 2, -1, 0, 2, 3, -1, 1, 4, -1, 0, 3, 4}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops

namespace hiaton {

namespace {

/// The letters of the axes that the result has where the text does not say: those that stand once, in the
/// order of the alphabet.
std::string letters_of_result(std::string_view operands) {
  std::string letters;
  for (const char letter : operands) {
    if (letter != ',' && std::ranges::count(operands, letter) == 1) letters += letter;
  }
  std::ranges::sort(letters);
  return letters;
}

}  // namespace

Attributes einsum_subscripts(std::string_view text) {
  std::string letters(text);
  std::erase(letters, ' ');
  const std::size_t arrow = letters.find("->");
  const std::string operands = letters.substr(0, arrow);
  const std::string result =
      arrow == std::string::npos ? letters_of_result(operands) : letters.substr(arrow + 2);
  std::string labels;
  Attributes subscripts;
  for (const char letter : fmt::format("{},{}", operands, result)) {
    if (letter == ',') {
      subscripts.push_back(ops::kNextSubscripts);
    } else if (std::isalpha(static_cast<unsigned char>(letter)) != 0) {
      if (labels.find(letter) == std::string::npos) labels += letter;
      subscripts.push_back(static_cast<int64_t>(labels.find(letter)));
    } else {
      throw ProgramError(
          fmt::format("expected as subscripts a letter for each axis, as in \"bij,bjk->bik\", found '{}' in "
                      "\"{}\"",
                      letter, text));
    }
  }
  return subscripts;
}

}  // namespace hiaton

// Random ListOps expressions: drawn, evaluated and written without recursion.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_set>

#include "hiaton/error.h"
#include "hiaton/trees.h"
#include "train/random_stream.h"

namespace hiaton::train {
namespace listops {

constexpr int32_t kDigits = 10;
/// Beyond these one expression fills the memory.
constexpr int32_t kMostDepth = 1'000'000;
constexpr int32_t kMostOperands = 10'000;
/// How often to draw anew for a wanted value; after that any value will do.
constexpr int kDrawsForAValue = 200;
/// So many expressions in a row that were there before: there are hardly any others.
constexpr int kDrawsForANewOne = 1000;
constexpr int kDrawsForANewOfAValue = 50;
/// One in so many operands, besides the one that reaches the depth, is an operation.
constexpr uint32_t kOperandsPerOperation = 4;

/// May change the order of the operands.
using Evaluate = int32_t (*)(std::span<int32_t> operands);

int32_t median(std::span<int32_t> operands) {
  std::sort(operands.begin(), operands.end());
  const std::size_t middle = operands.size() / 2;
  // The median of an even number of operands is the mean of the middle two, rounded down.
  return operands.size() % 2 == 1 ? operands[middle] : (operands[middle - 1] + operands[middle]) / 2;
}

int32_t sum_modulo_ten(std::span<int32_t> operands) {
  int64_t sum = 0;
  for (const int32_t operand : operands) sum += operand;
  return static_cast<int32_t>(sum % kDigits);
}

struct Operator {
  std::string_view name;
  Evaluate evaluate;
};

constexpr std::array<Operator, 4> kOperators = {{
    {"MAX", [](std::span<int32_t> operands) { return *std::max_element(operands.begin(), operands.end()); }},
    {"MIN", [](std::span<int32_t> operands) { return *std::min_element(operands.begin(), operands.end()); }},
    {"MED", median},
    {"SM", sum_modulo_ten},
}};

const Operator* find_operator(std::string_view name) {
  const auto* found =
      std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& op) { return op.name == name; });
  return found == kOperators.end() ? nullptr : found;
}

/// A digit or an operation; expressions are lists of them in preorder.
struct Term {
  const Operator* op = nullptr;
  int32_t arity = 0;
  int32_t value = 0;
};
using Expression = std::vector<Term>;

class Generator {
 public:
  explicit Generator(const ListOpsOptions& options)
      : options_(options), random_(options.seed), wanted_(random_.between(0, kDigits - 1)) {
    for (const std::string& name : options.operators) operators_.push_back(find_operator(name));
  }

  /// An expression that was not drawn before. It stays until the next call.
  const Expression& next() {
    for (int draws = 0; draws < kDrawsForANewOne; ++draws) {
      draw_balanced();
      write_key();
      const bool is_new = seen_.insert(key_).second;
      // A value may have had all its expressions: then it is the next one's turn.
      if (is_new || draws % kDrawsForANewOfAValue == kDrawsForANewOfAValue - 1)
        wanted_ = (wanted_ + 1) % kDigits;
      if (is_new) return expression_;
    }
    throw ProgramError(fmt::format(
        "expected ListOps options that allow more different expressions, found hardly any beyond {}; "
        "allow more depth, operands or operators, or ask for fewer",
        seen_.size()));
  }

 private:
  /// Draws one with the value whose turn it is, if one is found.
  void draw_balanced() {
    for (int draws = 0; draws < kDrawsForAValue; ++draws) {
      draw();
      evaluate();
      if (expression_[0].value == wanted_) break;
    }
  }

  void draw() {
    expression_.clear();
    open_.assign(1, random_.between(options_.min_depth, options_.max_depth));
    int32_t operations = 1;
    while (!open_.empty()) {
      const int32_t depth = open_.back();
      open_.pop_back();
      if (depth == 0) {
        expression_.push_back({nullptr, 0, static_cast<int32_t>(random_.below(kDigits))});
        continue;
      }
      const auto* op = operators_[random_.below(static_cast<uint32_t>(operators_.size()))];
      const int32_t arity = random_.between(options_.min_arity, options_.max_arity);
      expression_.push_back({op, arity, 0});
      open_operands(arity, depth, operations);
    }
  }

  /// One operand is as deep as it has to be, the others are mostly digits.
  void open_operands(int32_t arity, int32_t depth, int32_t& operations) {
    const int32_t deepest = random_.between(0, arity - 1);
    for (int32_t i = 0; i < arity; ++i) {
      int32_t operand_depth = 0;
      if (i == deepest) {
        operand_depth = depth - 1;
      } else if (depth > 1 && random_.below(kOperandsPerOperation) == 0 &&
                 operations < options_.max_operations) {
        operand_depth = random_.between(1, depth - 1);
      }
      operations += operand_depth > 0;
      open_.push_back(operand_depth);
    }
  }

  /// From the last term to the first: operands come before their operation, the first on top of the stack.
  void evaluate() {
    values_.clear();
    for (auto term = expression_.rbegin(); term != expression_.rend(); ++term) {
      if (term->op != nullptr) {
        const std::size_t first = values_.size() - static_cast<std::size_t>(term->arity);
        term->value = term->op->evaluate(std::span(values_).subspan(first));
        values_.resize(first);
      }
      values_.push_back(term->value);
    }
  }

  /// Tells expressions apart: operator and arity, or digit, of each term.
  void write_key() {
    key_.clear();
    const auto add = [this](std::size_t number) {
      for (; number >= 0x80; number >>= 7) key_.push_back(static_cast<char>(number | 0x80));
      key_.push_back(static_cast<char>(number));
    };
    for (const Term& term : expression_) {
      if (term.op == nullptr) {
        add(static_cast<std::size_t>(term.value));
      } else {
        add(static_cast<std::size_t>(kDigits + (term.op - kOperators.data())));
        add(static_cast<std::size_t>(term.arity));
      }
    }
  }

  const ListOpsOptions options_;
  Random random_;
  int32_t wanted_;  ///< the value whose turn it is
  std::vector<const Operator*> operators_;
  std::pmr::monotonic_buffer_resource memory_;  ///< freed as a whole, which takes no time
  std::pmr::unordered_set<std::pmr::string> seen_{&memory_};
  Expression expression_;
  std::pmr::string key_;       ///< of expression_
  std::vector<int32_t> open_;  ///< depths of the operands still to draw
  std::vector<int32_t> values_;
};

/// Expressions as binary trees in a Treebank.
class Binarizer {
 public:
  void add(const Expression& expression) {
    nodes_.clear();
    open_.clear();
    for (const Term& term : expression) {
      if (term.op == nullptr) {
        push({.label = term.value, .word = word(static_cast<std::size_t>(term.value))});
        close_finished();
      } else {
        open_operation(term);
      }
    }
    trees_.trees.push_back({nodes_});
  }

  const Treebank& trees() const { return trees_; }
  Treebank take() { return std::move(trees_); }
  void forget(std::size_t count) {
    for (; forgotten_ < count; ++forgotten_) trees_.trees[forgotten_] = {};
  }

 private:
  /// `OP a b c` is (v (_ (_ (_ OP) a) b) c): as many nested nodes as operands, then the operator.
  void open_operation(const Term& term) {
    for (int32_t i = 0; i < term.arity; ++i) {
      open_.push_back(static_cast<int32_t>(nodes_.size()));
      push({.label = i == 0 ? term.value : Node::kNone, .child_count = 2});
    }
    push({.word = word(kDigits + static_cast<std::size_t>(term.op - kOperators.data()))});
  }

  /// An operand is the last child of the innermost node, and may end an operation that is an operand itself.
  void close_finished() {
    for (bool ends_operation = true; ends_operation && !open_.empty();) {
      Node& node = nodes_[static_cast<std::size_t>(open_.back())];
      node.subtree_end = static_cast<int32_t>(nodes_.size());
      open_.pop_back();
      ends_operation = node.label != Node::kNone;
    }
  }

  void push(Node node) {
    node.subtree_end = static_cast<int32_t>(nodes_.size()) + 1;
    nodes_.push_back(node);
  }

  /// That of a digit, or of the operator of a number behind the digits.
  int32_t word(std::size_t symbol) {
    int32_t& word = words_[symbol];
    if (word == kNew) {
      word = static_cast<int32_t>(trees_.words.size());
      trees_.words.push_back(symbol < kDigits ? std::to_string(symbol)
                                              : std::string(kOperators[symbol - kDigits].name));
    }
    return word;
  }

  Treebank trees_;
  std::size_t forgotten_ = 0;
  static constexpr int32_t kNew = -1;  ///< was not met yet
  std::array<int32_t, kDigits + kOperators.size()> words_ = [] {
    std::array<int32_t, kDigits + kOperators.size()> none{};
    none.fill(kNew);
    return none;
  }();
  std::vector<Node> nodes_;
  std::vector<int32_t> open_;  ///< nodes whose last child is still to come, innermost last
};

void check(const ListOpsOptions& options) {
  std::vector<std::string> findings;
  const auto require = [&](bool holds, std::string finding) {
    if (!holds) findings.push_back(std::move(finding));
  };
  require(!options.operators.empty(), "expected at least one operator, found none");
  for (const std::string& name : options.operators) {
    require(find_operator(name) != nullptr,
            fmt::format("expected an operator of MAX, MIN, MED, SM, found '{}'", name));
  }
  require(options.min_depth >= 1,
          fmt::format("expected a least depth of 1 or more, found {}", options.min_depth));
  require(
      options.max_depth >= options.min_depth,
      fmt::format("expected a greatest depth of {} or more, found {}", options.min_depth, options.max_depth));
  require(options.min_arity >= 1, fmt::format("expected 1 operand or more, found {}", options.min_arity));
  require(
      options.max_arity >= options.min_arity,
      fmt::format("expected at most {} operands or more, found {}", options.min_arity, options.max_arity));
  require(options.max_depth <= kMostDepth,
          fmt::format("expected a greatest depth of at most {}, found {}", kMostDepth, options.max_depth));
  require(options.max_arity <= kMostOperands,
          fmt::format("expected at most {} operands, found {}", kMostOperands, options.max_arity));
  if (!findings.empty()) throw ProgramError(fmt::format("ListOps: {}", fmt::join(findings, "; ")));
}

Treebank generate(Generator& generator, std::size_t count) {
  Binarizer trees;
  for (std::size_t i = 0; i < count; ++i) trees.add(generator.next());
  return trees.take();
}

}  // namespace listops

ListOps generate_listops(const ListOpsOptions& options, std::size_t train_count, std::size_t dev_count) {
  listops::check(options);
  listops::Generator generator(options);
  ListOps data;
  data.train = listops::generate(generator, train_count);
  data.dev = listops::generate(generator, dev_count);
  return data;
}

struct ListOpsStream::Parts {
  explicit Parts(const ListOpsOptions& options) : generator(options) {}

  listops::Generator generator;
  listops::Binarizer trees;
};

ListOpsStream::ListOpsStream(const ListOpsOptions& options) {
  listops::check(options);
  parts_ = std::make_unique<Parts>(options);
}

ListOpsStream::ListOpsStream(ListOpsStream&&) noexcept = default;
ListOpsStream& ListOpsStream::operator=(ListOpsStream&&) noexcept = default;
ListOpsStream::~ListOpsStream() = default;

const Treebank& ListOpsStream::first(std::size_t count) {
  while (drawn().trees.size() < count) parts_->trees.add(parts_->generator.next());
  return drawn();
}

void ListOpsStream::forget(std::size_t count) {
  parts_->trees.forget(std::min(count, drawn().trees.size()));
}

const Treebank& ListOpsStream::drawn() const {
  return parts_->trees.trees();
}

}  // namespace hiaton::train

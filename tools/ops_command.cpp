// hiaton ops [NAME...]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "hiaton/op.h"
#include "output.h"

namespace hiaton::cli {
namespace {

/// "axis", "axis=-1" where it may be left out, "shape=[...]".
std::string attribute_text(const AttributeDef& attribute) {
  if (attribute.is_list) return fmt::format("{}=[...]", attribute.name);
  if (!attribute.otherwise) return fmt::format("{}=...", attribute.name);
  return fmt::format("{}={}", attribute.name, *attribute.otherwise);
}

/// How a program writes it: "a + b", "-a", "min(a, b)", "softmax(x, axis=-1)".
std::string spelling(const OpDef& op) {
  const std::vector<std::string_view>& operands = op.operands.value;
  const std::string_view symbol = op.symbol;
  if (symbol.empty()) {
    std::vector<std::string> arguments(operands.begin(), operands.end());
    for (const AttributeDef& attribute : op.attributes) arguments.push_back(attribute_text(attribute));
    return fmt::format("{}({})", op.name.value, fmt::join(arguments, ", "));
  }
  if (operands.size() == 2) return fmt::format("{} {} {}", operands[0], symbol, operands[1]);
  const bool word = std::isalpha(static_cast<unsigned char>(symbol.front()));
  return fmt::format("{}{}{}", symbol, word ? " " : "", operands[0]);
}

/// The element types of scalars it takes, and what it takes besides.
std::string operand_types(const OpDef& op) {
  if (op.fusion.value == Fusion::Data) return "any values";
  std::string text;
  for (const KernelVariant& variant : op.kernels) text += fmt::format("{}, ", name_of(variant.operand));
  return text + "tensors";
}

/// Whether gradients pass, or why not.
std::string gradient_text(const OpDef& op) {
  const Gradient& gradient = op.gradient.value;
  return gradient.passes() ? "yes" : fmt::format("no: {}", gradient.why_none);
}

/// ", axis=0, shape=[2, 3]".
std::string attributes_of(const OpDef& op, const Sample& sample) {
  std::string text;
  for (const std::string& attribute : op.attribute_texts(sample.attributes)) text += ", " + attribute;
  return text;
}

/// "of 2 and 3 gives 5"; empty where there is no sample.
std::string first_sample(const OpDef& op) {
  if (op.samples.value.empty()) return "";
  const Sample& sample = op.samples.value.front();
  std::vector<std::string> operands;
  for (const Value& operand : sample.operands) operands.push_back(to_string(operand));
  return fmt::format("of {}{} gives {}", fmt::join(operands, " and "), attributes_of(op, sample),
                     to_string(sample.result));
}

std::string describe(const OpDef& op) {
  const std::string sample = first_sample(op);
  return fmt::format("{:<17} {}\n    {}\n    for {}{}{}\n    gradient: {}\n", op.name.value, spelling(op),
                     op.doc.value, operand_types(op), sample.empty() ? "" : "; ", sample, gradient_text(op));
}

std::string markdown_page() {
  std::string text =
      "# Operations\n\nMade by `hiaton ops --markdown` from the catalogue.\n\n"
      "| name | written | what it gives | for | gradient | example |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const OpDef* op : catalog().all()) {
    text += fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", op->name.value, spelling(*op), op->doc.value,
                        operand_types(*op), gradient_text(*op), first_sample(*op));
  }
  return text;
}

int show_ops(const std::vector<std::string>& names) {
  std::string text;
  for (const OpDef* op : catalog().all()) {
    if (names.empty()) text += (text.empty() ? "" : "\n") + describe(*op);
  }
  for (const std::string& name : names) {
    const OpDef* op = catalog().find(name);
    if (op == nullptr)
      throw UsageError(fmt::format("there is no operation '{}'; 'hiaton ops' lists all", name));
    text += describe(*op);
  }
  write_to_stdout(text);
  return kSuccess;
}

}  // namespace

Command add_ops_command(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto markdown = std::make_shared<bool>(false);
  CLI::App* options = app.add_subcommand("ops", "Describe the operations that programs may use");
  options->add_option("NAME", *names, "Only these operations")->type_name("");
  options->add_flag("--markdown", *markdown, "The page of all operations, for docs/operations.md");
  return {options, [names, markdown](const std::vector<std::string>&) {
            if (!*markdown) return show_ops(*names);
            write_to_stdout(markdown_page());
            return static_cast<int>(kSuccess);
          }};
}

}  // namespace hiaton::cli

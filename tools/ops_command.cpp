// hiaton ops [NAME...]
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "hiaton/op.h"
#include "output.h"

namespace hiaton::cli {
namespace {

/// How a program writes it: "a + b", "-a", "min(a, b)".
std::string spelling(const OpDef& op) {
  const std::vector<std::string_view>& operands = op.operands.value;
  const std::string_view symbol = op.symbol.value;
  if (symbol.empty()) return fmt::format("{}({})", op.name.value, fmt::join(operands, ", "));
  if (operands.size() == 2) return fmt::format("{} {} {}", operands[0], symbol, operands[1]);
  const bool word = std::isalpha(static_cast<unsigned char>(symbol.front()));
  return fmt::format("{}{}{}", symbol, word ? " " : "", operands[0]);
}

std::string operand_types(const OpDef& op) {
  std::string text;
  for (const KernelVariant& variant : op.kernels.value) {
    if (!text.empty()) text += ", ";
    text += name_of(variant.operand);
  }
  return text;
}

/// "of 2 and 3 gives 5"; empty where there is no sample.
std::string first_sample(const OpDef& op) {
  if (op.samples.value.empty()) return "";
  const Sample& sample = op.samples.value.front();
  std::vector<std::string> operands;
  for (const Value& operand : sample.operands) operands.push_back(to_string(operand));
  return fmt::format("of {} gives {}", fmt::join(operands, " and "), to_string(sample.result));
}

std::string describe(const OpDef& op) {
  const std::string sample = first_sample(op);
  return fmt::format("{:<18}{}\n    {}\n    for {}{}{}\n", op.name.value, spelling(op), op.doc.value,
                     operand_types(op), sample.empty() ? "" : "; ", sample);
}

std::string markdown_page() {
  std::string text =
      "# Operations\n\nMade by `hiaton ops --markdown` from the catalogue.\n\n"
      "| name | written | what it gives | for | example |\n| --- | --- | --- | --- | --- |\n";
  for (const OpDef* op : catalog().all()) {
    text += fmt::format("| {} | `{}` | {} | {} | {} |\n", op->name.value, spelling(*op), op->doc.value,
                        operand_types(*op), first_sample(*op));
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

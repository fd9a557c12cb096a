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

std::string describe(const OpDef& op) {
  std::string text = fmt::format("{:<18}{}\n", op.name.value, spelling(op));
  text += fmt::format("    {}\n", op.doc.value);
  text += fmt::format("    for {}", operand_types(op));
  if (!op.samples.value.empty()) {
    const Sample& sample = op.samples.value.front();
    std::vector<std::string> operands;
    for (const Value& operand : sample.operands) operands.push_back(to_string(operand));
    text += fmt::format("; of {} gives {}", fmt::join(operands, " and "), to_string(sample.result));
  }
  return text + "\n";
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
  CLI::App* options = app.add_subcommand("ops", "Describe the operations that programs may use");
  options->add_option("NAME", *names, "Only these operations")->type_name("");
  return {options, [names](const std::vector<std::string>&) { return show_ops(*names); }};
}

}  // namespace hiaton::cli

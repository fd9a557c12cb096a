#include "exec/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exec/budget.h"
#include "exec/graph_names.h"
#include "tensor/strings.h"

namespace hiaton::exec {
namespace {

constexpr std::size_t kShownCallsEachEnd = 8;
constexpr std::size_t kCallsToJudgeGrowthBy = 1000;
constexpr std::size_t kShownWaitingNodes = 8;
constexpr std::size_t kShownLineLength = 160;

bool has_text(const Graph& graph, Span span) {
  return graph.source() != nullptr && span.known();
}

std::string place_text(const Graph& graph, Span span) {
  return graph.source()->place_of(span.begin);
}

/// The message with the place and the line it is about, or, without text, with `otherwise`.
std::string message_at(const Graph& graph, Span span, const std::string& message,
                       const std::string& otherwise) {
  if (has_text(graph, span)) return render({span, message}, *graph.source());
  return otherwise.empty() ? message : fmt::format("{} ({})", message, otherwise);
}

std::string trimmed_line(const Graph& graph, Span span) {
  std::string_view line = graph.source()->line_at(span.begin);
  if (line.size() > kShownLineLength) return "";
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(line.substr(begin, line.find_last_not_of(" \t") - begin + 1));
}

/// The text of a value; large tensors show their first elements.
std::string shown(const Value& value) {
  constexpr int64_t kMost = 16;
  constexpr int64_t kShown = 4;
  if (!value.is_tensor()) return to_string(value);
  const int64_t size = value.tensor().size();
  if (size == 0) return fmt::format("an empty {}", to_string(value.type()));  // of any number of rows
  if (size <= kMost) return to_string(value);
  std::string text = fmt::format("{} of ", to_string(value.type()));
  for (int64_t i = 0; i < kShown; ++i) text += to_string(element_of(value.tensor(), i)) + ", ";
  return text + "...";
}

/// A string in quotes; of a long one its beginning.
std::string shown_string(const Value& string) {
  constexpr std::size_t kMost = 40;
  const std::span<const int32_t> code_points = code_points_of(string.slot().data);
  if (code_points.size() <= kMost) return quoted_string(to_utf8(code_points));
  return quoted_string(to_utf8(code_points.first(kMost))) + "...";
}

/// The text of a value of this type; data values show their variant.
std::string shown(const Value& value, const Type& type) {
  if (value.is_data() && is_string(type)) return shown_string(value);
  if (!value.is_data() || !type.is_data()) return shown(value);
  const Data data = value.data();
  if (data.variant() >= type.data->variants.size()) return shown(value);
  const Variant& variant = type.data->variants[data.variant()];
  return variant.fields.empty() ? variant.name : variant.name + "(...)";
}

/// "7 / 0", "-(3)", "i32(nan)".
std::string applied(const OpDef& op, std::span<const Value> operands) {
  std::vector<std::string> texts;
  for (const Value& operand : operands) {
    const bool is_text = op.role == Role::String && operand.is_data();
    texts.push_back(is_text ? shown_string(operand) : shown(operand));
  }
  const std::string_view symbol = op.symbol;
  if (!symbol.empty() && texts.size() == 2) return fmt::format("{} {} {}", texts[0], symbol, texts[1]);
  if (!symbol.empty() && texts.size() == 1) return fmt::format("{}({})", symbol, texts[0]);
  return fmt::format("{}({})", op.name.value, fmt::join(texts, ", "));
}

/// What the type rule says of the operands, or of the one size that no type tells.
std::string wrong_shapes(const OpDef& op, std::span<const int64_t> attributes, const Type* declared,
                         std::span<const Value> operands) {
  std::vector<Type> types;
  for (const Value& operand : operands) types.push_back(operand.type());
  try {
    const Type type = op.result_type({types, attributes, declared});
    if (op.role == Role::CheckDimension) {
      return fmt::format("expected {} elements along dimension {}, found {}", to_string(operands[1]),
                         attributes[0], to_string(types[0]));
    }
    return fmt::format("{} would give {}", applied(op, operands), to_string(type));
  } catch (const ProgramError& error) {
    return error.what();
  }
}

/// The arguments of the first phase as text. Those of later phases are gradients, which nobody wrote.
std::vector<std::string> argument_texts(const Graph& graph, const graph::Function& function,
                                        std::span<const std::optional<Value>> arguments) {
  std::vector<std::string> texts;
  if (function.triggered) return texts;
  const std::size_t count = function.phases.empty() ? arguments.size() : function.phases[0].params;
  for (std::size_t i = 0; i < std::min(count, arguments.size()); ++i) {
    const std::string value = arguments[i] ? shown(*arguments[i], graph[function.params[i].node].type) : "?";
    const bool named = i < function.param_names.size() && !function.param_names[i].empty();
    texts.push_back(named ? fmt::format("{} = {}", function.param_names[i], value) : value);
  }
  return texts;
}

CallRecord record_of_call(const Graph& graph, const CallChain& chain) {
  const graph::Site& site = graph[chain.site()];
  const graph::FunctionId function = chain.function();
  CallRecord record =
      shown_call(graph, site.callee, function.valid() ? function : site.callee, chain.arguments());
  if (has_text(graph, site.span)) {
    record.call_place = place_text(graph, site.span);
    record.call_line = trimmed_line(graph, site.span);
  } else if (graph.source() == nullptr) {
    record.call_place = fmt::format("call site {} in {}", chain.site().index(), graph[site.caller].name);
  }
  return record;
}

/// Whether the function stands nowhere in the text: it was made for the program, to enter it.
bool is_made(const Graph& graph, graph::FunctionId function) {
  return std::ranges::none_of(graph.nodes(), [function](const graph::Node& node) {
    return node.function == function && node.span.known();
  });
}

/// A program that calls its own main, or is trained, is entered by a call that stands nowhere in the text and
/// hands on all arguments. Other such calls are of functions that were made for what main writes.
bool is_entry_call(const Graph& graph, const graph::Site& site) {
  if (graph.source() == nullptr || site.caller != graph.main() || site.span.known()) return false;
  const std::vector<graph::OutPort>& params = graph[graph.main()].params;
  if (site.calls.size() < params.size()) return false;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (graph[site.calls[i]].inputs[0] != params[i]) return false;
  }
  return !params.empty() || is_made(graph, graph.main());
}

/// False at the end of the chain; the call that enters the program is not in it.
bool at_written_call(const RunPlace& place) {
  return place.chain.at_call() && !is_entry_call(place.graph, place.graph[place.chain.site()]);
}

CallRecord record_of_program(const RunPlace& place) {
  const std::vector<std::optional<Value>> arguments(place.program_arguments.begin(),
                                                    place.program_arguments.end());
  const graph::Function& program = place.graph[find_program(place.graph)];
  return {written_name(program), argument_texts(place.graph, program, arguments), "", ""};
}

uint64_t count_calls(const RunPlace& place) {
  uint64_t count = 0;
  for (place.chain.rewind(); at_written_call(place); place.chain.go_outward()) ++count;
  return count;
}

/// The error with the chain of calls; of a long chain the innermost and the outermost calls.
RunError with_chain(const RunPlace& place, Fault fault, std::string message, int64_t assumption = 0) {
  const uint64_t length = count_calls(place) + 1;
  std::vector<CallRecord> records;
  uint64_t position = 0;
  for (place.chain.rewind(); at_written_call(place); place.chain.go_outward(), ++position) {
    const bool shown = position < kShownCallsEachEnd || position + kShownCallsEachEnd >= length;
    if (shown) records.push_back(record_of_call(place.graph, place.chain));
  }
  records.push_back(record_of_program(place));
  return {fault, std::move(message), std::move(records), length, assumption};
}

struct Growth {
  graph::FunctionId function;
  std::size_t calls = 0;
  std::size_t judged = 0;
};

/// The function that most of the innermost calls are of; the program itself where there are no calls.
Growth find_growth(const RunPlace& place) {
  std::map<graph::FunctionId, std::size_t> counts;
  Growth growth{find_program(place.graph)};
  CallChain& chain = place.chain;
  for (chain.rewind(); at_written_call(place) && growth.judged < kCallsToJudgeGrowthBy; chain.go_outward()) {
    const graph::FunctionId callee = place.graph[chain.site()].callee;
    const std::size_t calls = ++counts[callee];
    ++growth.judged;
    if (calls > growth.calls) {
      growth.function = callee;
      growth.calls = calls;
    }
  }
  return growth;
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return seconds < 1 ? fmt::format("{:g} ms", seconds * 1e3) : fmt::format("{:g} s", seconds);
}

std::string budget_text(const RunOptions& options, Fault fault) {
  switch (fault) {
    case Fault::MaxFrames:
      return fmt::format("frame budget: more than {} frames are live", options.max_frames);
    case Fault::MaxBytes:
      if (!has_byte_budget(options)) return "byte budget: the run holds nearly all memory that was free";
      return fmt::format("byte budget: the run holds more than {} bytes", options.max_bytes);
    case Fault::Timeout:
      return fmt::format("time budget: the run takes longer than {}", duration_text(options.timeout));
    case Fault::OutOfMemory:
      return "out of memory: there is none left for another frame";
    default:
      return std::string(name_of(fault));
  }
}

std::string_view raised_by(Fault fault) {
  switch (fault) {
    case Fault::MaxFrames:
      return "; --max-frames (in C++ and Python max_frames) raises the budget";
    case Fault::MaxBytes:
      return "; --max-bytes (in C++ and Python max_bytes) raises the budget";
    case Fault::Timeout:
      return "; --timeout (in C++ and Python timeout) raises the budget";
    case Fault::OutOfMemory:
      return "; --max-bytes (in C++ and Python max_bytes) ends a run before memory does";
    default:
      return "";
  }
}

std::string growth_text(const Graph& graph, const Growth& growth, bool in_loop) {
  const std::string name = written_name(graph[growth.function]);
  std::string text = in_loop ? fmt::format("a loop in {}", name) : name;
  if (growth.judged > 1) {
    text += fmt::format(" ({} of the innermost {} calls)", growth.calls, growth.judged);
  }
  return text;
}

}  // namespace

std::string written_name(const graph::Function& function) {
  return function.phases.empty() ? function.name
                                 : function.name.substr(0, function.name.find(kExtendedSuffix));
}

graph::FunctionId find_program(const Graph& graph) {
  for (const graph::Site& site : graph.sites()) {
    if (is_entry_call(graph, site)) return site.callee;
  }
  return graph.main();
}

std::string describe(const Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph[id];
  const std::string_view kind = node.op != nullptr ? node.op->name.value : name_of(node.kind);
  std::string text = fmt::format("%{} {}", id.index(), kind);
  if (!node.name.empty()) text += fmt::format(" '{}'", node.name);
  if (node.function.valid()) text += fmt::format(" of {}", graph[node.function].name);
  if (has_text(graph, node.span)) text += fmt::format(" at {}", place_text(graph, node.span));
  return text;
}

int64_t assumption_of(Fault fault, std::span<const int64_t> attributes) {
  return fault == Fault::Assumption && !attributes.empty() ? attributes[0] : 0;
}

std::string operation_message(const OpDef& op, std::span<const int64_t> attributes, const Type& type,
                              std::span<const Value> operands, Fault fault) {
  if (fault == Fault::Shape)
    return fmt::format("{}: {}", name_of(fault), wrong_shapes(op, attributes, &type, operands));
  if (fault == Fault::Size)
    return fmt::format("{}: expected {}, found {}", name_of(fault),
                       to_string(operands[0]).starts_with('-') ? "0 or more" : "one that memory can hold",
                       to_string(operands[0]));
  if (fault == Fault::NoRows) {
    return fmt::format("{}: how large a row of the result is, only a call with a row tells", name_of(fault));
  }
  if (fault == Fault::Assumption) {
    const int64_t id = assumption_of(fault, attributes);
    if (id == kTooDeepGradient) {
      return fmt::format(
          "gradients of function values that the run chooses may stand {} deep inside each other, "
          "and this is one more; gradients of functions that are known before the run may stand as "
          "deep as they are written",
          kMostNestedGradients);
    }
    return fmt::format("{}: the condition is false{}", name_of(fault),
                       id == 0 ? "" : fmt::format(" (id={})", id));
  }
  const bool lacks_room = fault == Fault::Overflow || fault == Fault::InvalidCast;
  const bool is_text = fault == Fault::InvalidCast && operands.size() == 1 && operands[0].is_data();
  const std::string fit = is_text      ? fmt::format(": the string is no number of type {}", to_string(type))
                          : lacks_room ? fmt::format(" does not fit {}", to_string(type))
                                       : "";
  return fmt::format("{}: {}{}", name_of(fault), applied(op, operands), fit);
}

RunError operation_error(const RunPlace& place, graph::NodeId failed, std::span<const Value> operands,
                         Fault fault) {
  const graph::Node& node = place.graph[failed];
  const std::string message = operation_message(*node.op, node.attributes, node.type, operands, fault);
  return with_chain(place, fault, message_at(place.graph, node.span, message, describe(place.graph, failed)),
                    assumption_of(fault, node.attributes));
}

RunError budget_error(const RunPlace& place, const RunOptions& options, Fault fault,
                      std::optional<graph::LoopId> loop) {
  const Graph& graph = place.graph;
  const Growth growth = find_growth(place);
  const bool in_loop = loop.has_value() && graph[*loop].function == growth.function;
  const bool grew = fault != Fault::Timeout && fault != Fault::Interrupted;
  const std::string message =
      fmt::format("{}; {} {}{}", budget_text(options, fault), grew ? "what grew is" : "it was in",
                  growth_text(graph, growth, in_loop), raised_by(fault));
  const Span span = in_loop ? graph[*loop].span : graph[growth.function].span;
  return with_chain(place, fault, message_at(graph, span, message, ""));
}

CallRecord shown_call(const Graph& graph, graph::FunctionId called, graph::FunctionId function,
                      std::span<const std::optional<Value>> arguments) {
  const std::string from = written_name(graph[called]);
  const std::string name = written_name(graph[function]);
  return {name, argument_texts(graph, graph[function], arguments), "", "", from == name ? "" : from};
}

RunError on_process(const RunError& error, int process, std::string_view host) {
  std::string message = error.message();
  const std::string where = host.empty() ? "" : fmt::format(" on {}", host);
  message.insert(std::min(message.find('\n'), message.size()),
                 fmt::format(" (process {}{})", process, where));
  return {error, std::move(message), error.chain(), error.chain_length()};
}

RunError with_calls_around(const RunPlace& place, const RunError& error) {
  const RunError outer = with_chain(place, error.fault(), error.message());
  std::vector<CallRecord> records = error.chain();
  CallRecord inside;
  if (!records.empty()) {
    inside = std::move(records.back());
    records.pop_back();
  }
  const std::size_t given = records.size();
  records.insert(records.end(), outer.chain().begin(), outer.chain().end());
  CallRecord& call = records[given];
  if (!inside.arguments.empty()) call.arguments = std::move(inside.arguments);
  if (!inside.tail_called_from.empty()) {
    call.function = std::move(inside.function);
    if (call.tail_called_from.empty()) call.tail_called_from = std::move(inside.tail_called_from);
  }
  const uint64_t length = error.chain_length() + outer.chain_length();
  if (records.size() > 2 * kShownCallsEachEnd) {
    const auto each_end = static_cast<std::ptrdiff_t>(kShownCallsEachEnd);
    records.erase(records.begin() + each_end, records.end() - each_end);
  }
  return {error, error.message(), std::move(records), length};
}

RunError no_result_error(const Graph& graph, graph::NodeId output, bool was_dead,
                         std::span<const WaitingNode> waiting) {
  std::string message = fmt::format("no result: {}: {}", describe(graph, output),
                                    was_dead ? "its token is dead, no branch that gives it was taken"
                                             : "every token was consumed and none came to it");
  const std::size_t shown = std::min(waiting.size(), kShownWaitingNodes);
  for (std::size_t i = 0; i < shown; ++i) {
    const WaitingNode& node = waiting[i];
    message += fmt::format("\n  waiting: {} under tag [{}] for {} more", describe(graph, node.node),
                           fmt::join(node.tag, ", "), node.missing);
  }
  if (waiting.size() > shown) message += fmt::format("\n  ... {} more nodes ...", waiting.size() - shown);
  return {Fault::NoResult, std::move(message)};
}

}  // namespace hiaton::exec

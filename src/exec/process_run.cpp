#include "exec/process_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "exec/graph_names.h"
#include "exec/tag_chain.h"
#include "net/bytes.h"

namespace hiaton::exec {

// Numbers ---------------------------------------------------------------------------------------------------

CallSite PartitionedProgram::site(int process, CallSite here) const {
  const CallSite placed = partition.parts[static_cast<std::size_t>(process)].sites[here.index()];
  return partition.placed.sites[placed.index()];
}

LoopId PartitionedProgram::loop(int process, LoopId here) const {
  const LoopId placed = partition.parts[static_cast<std::size_t>(process)].loops[here.index()];
  return partition.placed.loops[placed.index()];
}

TagLabel PartitionedProgram::common(int process, const TagLabel& here) const {
  const partition::Part& part = partition.parts[static_cast<std::size_t>(process)];
  TagLabel label = here;
  if (here.site.valid()) label.site = part.sites[here.site.index()];
  if (here.loop.valid()) label.loop = part.loops[here.loop.index()];
  return label;
}

std::vector<net::ValueCodec> codecs_of(const partition::Partition& partition) {
  std::vector<net::ValueCodec> codecs;
  for (const partition::Channel& channel : partition.channels)
    codecs.emplace_back(partition.placed.graph[channel.of.node].type);
  return codecs;
}

ProcessRun::ProcessRun(const PartitionedProgram& program, int self, const PartitionedRunOptions& options,
                       std::span<const Value> arguments, ReferenceBudget& budget, net::Transport& transport,
                       const std::vector<std::unique_ptr<ProcessRun>>& others)
    : ReferenceRun(program.partition.parts[static_cast<std::size_t>(self)].graph, arguments, options.run,
                   budget),
      program_(program),
      partitioned_(options),
      self_(self),
      transport_(transport),
      others_(others) {
  for (uint32_t i = 0; i < part().sites.size(); ++i) sites_here_[part().sites[i].value] = i;
  for (uint32_t i = 0; i < part().loops.size(); ++i) loops_here_[part().loops[i].value] = i;
}

const partition::Part& ProcessRun::part() const {
  return program_.partition.parts[static_cast<std::size_t>(self_)];
}

/// A call is counted where the callee is at home.
bool ProcessRun::is_copy(CallSite site) const {
  const partition::PlacedGraph& placed = program_.partition.placed;
  const CallSite common = part().sites[site.index()];
  return placed.homes[placed.graph[common].callee.index()] != self_;
}

// Send and Recv ---------------------------------------------------------------------------------------------

/// The channel and the whole tag.
std::string ProcessRun::key_of(uint32_t channel, const Tag& tag) const {
  net::ByteWriter key;
  key.compact(channel);
  for (const TagCell* cell = tag.cell(); cell != nullptr; cell = cell->outer) {
    const TagLabel label = program_.common(self_, cell->label);
    if (label.site.valid()) {
      key.compact(uint64_t{label.site.value} << 1);
    } else {
      key.compact(uint64_t{label.loop.value} << 1 | 1);
      key.compact(label.iteration);
    }
  }
  return {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()};
}

void ProcessRun::send(NodeId id, const Tag& tag, const Value& value, bool dead) {
  const uint32_t number = graph()[id].index;
  const partition::Channel& channel = program_.partition.channels[number];
  net::ByteWriter payload;
  payload.text(key_of(number, tag));
  payload.number(static_cast<uint8_t>(dead));
  if (!dead && channel.carries_values) program_.codecs[number].write(value, payload);
  transport_.send(channel.to, {.channel = number, .aux = partitioned_.aux_of_messages}, payload.bytes());
  ++tokens_sent_;
  bytes_sent_ += sizeof(net::Header) + payload.bytes().size();
  if (options().on_token) options().on_token({{id}, elements(tag), value, dead});
  if (!partitioned_.on_crossing) return;
  std::vector<uint64_t> labels;
  for (const TagCell* cell = tag.cell(); cell != nullptr; cell = cell->outer) {
    const bool is_call = cell->label.site.valid();
    labels.push_back(is_call ? program_.site(self_, cell->label.site).index() : cell->label.iteration);
  }
  partitioned_.on_crossing({channel, number, std::move(labels), value, dead});
}

void ProcessRun::receive(NodeId id, const Tag& tag, bool dead) {
  const std::string key = key_of(graph()[id].index, tag);
  Waiting& waiting = waiting_[key];
  HIATON_CHECK(!waiting.tag.has_value());
  waiting.recv = id;
  waiting.tag = tag;
  waiting.dead = waiting.dead || dead;
  if (waiting.value) finish_receive(key);
}

void ProcessRun::on_message(const net::Header& header, std::span<const std::byte> payload) {
  net::ByteReader in(payload, "a token from another process");
  const std::string key = in.text();
  const bool dead = in.number<uint8_t>() != 0;
  const partition::Channel& channel = program_.partition.channels[header.channel];
  Value value;
  if (!dead && channel.carries_values) value = program_.codecs[header.channel].read(in);
  Waiting& waiting = waiting_[key];
  HIATON_CHECK(!waiting.value.has_value());
  waiting.recv = channel.recv;
  waiting.value = std::move(value);
  waiting.dead = waiting.dead || dead;
  if (waiting.tag) finish_receive(key);
}

void ProcessRun::finish_receive(const std::string& key) {
  const auto found = waiting_.find(key);
  const Waiting complete = std::move(found->second);
  waiting_.erase(found);
  emit({complete.recv}, *complete.tag, *complete.value, complete.dead);
}

std::vector<WaitingNode> ProcessRun::waiting() const {
  std::vector<WaitingNode> nodes = ReferenceRun::waiting();
  for (const auto& [key, waiting] : waiting_)
    nodes.push_back({waiting.recv, waiting.tag ? elements(*waiting.tag) : std::vector<uint64_t>(), 1});
  return nodes;
}

RunStats ProcessRun::finish() {
  waiting_.clear();
  RunStats stats = ReferenceRun::finish();
  stats.remote_tokens = tokens_sent_;
  stats.remote_bytes = bytes_sent_;
  return stats;
}

// Errors ----------------------------------------------------------------------------------------------------

/// The calls of a tag, as the graph that was split has them. What their arguments are, the process knows
/// where the callee is at home.
class ProcessRun::Chain : public TagChain {
 public:
  Chain(const ProcessRun& run, const Tag& tag) : TagChain(tag), run_(run) {}

  CallSite site() const override { return run_.program_.site(run_.self_, at()->label.site); }
  std::vector<std::optional<Value>> arguments() const override {
    std::vector<TagLabel> labels;
    for (const TagCell* cell = at(); cell != nullptr; cell = cell->outer)
      labels.push_back(run_.program_.common(run_.self_, cell->label));
    const partition::PlacedGraph& placed = run_.program_.partition.placed;
    const int home = placed.homes[placed.graph[labels[0].site].callee.index()];
    ProcessRun* const at_home = run_.others_[static_cast<std::size_t>(home)].get();
    std::vector<std::optional<Value>> known;
    if (at_home != nullptr) known = at_home->arguments_of(labels);
    known.resize(placed.graph[labels[0].site].calls.size());
    return known;
  }

 private:
  const ProcessRun& run_;
};

TagLabel ProcessRun::here(const TagLabel& common) const {
  TagLabel label = common;
  const auto find = [](const auto& table, uint32_t value) {
    const auto found = table.find(value);
    return found == table.end() ? UINT32_MAX : found->second;
  };
  if (common.site.valid()) label.site.value = find(sites_here_, common.site.value);
  if (common.loop.valid()) label.loop.value = find(loops_here_, common.loop.value);
  return label;
}

std::vector<std::optional<Value>> ProcessRun::arguments_of(std::span<const TagLabel> labels) {
  Tag tag;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const std::optional<Tag> inner = tags().find(tag, here(labels[i]));
    if (!inner) return {};
    tag = *inner;
  }
  return tag.cell()->arguments;
}

RunError ProcessRun::of_this_process(const RunError& error) const {
  return on_process(error, self_, partitioned_.names_hosts ? transport_.host(self_) : std::string());
}

RunError ProcessRun::refusal(NodeId id, const Tag& tag, std::span<const Value> operands, Fault fault) const {
  Chain chain(*this, tag);
  const RunPlace place{program_.graph, program_.arguments, chain};
  const NodeId placed = part().nodes[id.index()];
  HIATON_CHECK(placed.valid());
  const NodeId node = program_.partition.placed.nodes[placed.index()];
  return of_this_process(operation_error(place, node, operands, fault));
}

RunError ProcessRun::over_budget(const Tag& tag, Fault fault) const {
  Chain chain(*this, tag);
  std::optional<LoopId> loop;
  if (!tag.empty() && tag.label().loop.valid()) loop = program_.loop(self_, tag.label().loop);
  return of_this_process(budget_error({program_.graph, program_.arguments, chain}, options(), fault, loop));
}

}  // namespace hiaton::exec

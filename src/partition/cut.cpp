#include <deque>

#include "partition/alive.h"
#include "partition/part_maker.h"
#include "partition/split_steps.h"

namespace hiaton::partition {

Partition cut(PlacedGraph placed, int processes) {
  Partition partition{std::move(placed), {}, {}};
  AliveTokens alive(partition.placed.graph);
  Channels channels;
  std::deque<PartMaker> makers;
  for (int process = 0; process < processes; ++process)
    makers.emplace_back(partition.placed, alive, channels, process);
  for (PartMaker& maker : makers) {
    maker.add_nodes();
    maker.add_state_machines();
  }
  for (uint32_t number = 0; number < channels.all().size(); ++number) {
    Channel& channel = channels.all()[number];
    channel.send = makers[static_cast<std::size_t>(channel.from)].add_send(number, channel);
  }
  for (PartMaker& maker : makers) partition.parts.push_back(maker.finish());
  partition.channels = std::move(channels.all());
  return partition;
}

}  // namespace hiaton::partition

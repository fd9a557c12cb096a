#include "hiaton/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace hiaton {
namespace {

/// Readers take 0 for the system itself.
int id_of(const Trace::Process& process) {
  return process.number + 1;
}

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The format counts microseconds.
std::string microseconds(int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::string text_of(const Trace::Field& field, Slot slot) {
  return field.text.empty() ? to_string(Value(field.type, slot)) : field.text;
}

/// What JSON has no number for is text.
std::string json_of(const Trace::Field& field, Slot slot) {
  const std::string text = text_of(field, slot);
  if (!field.text.empty()) return json_string(text);
  const bool is_number = text.find_first_of("in") == std::string::npos;  // inf, nan
  return is_number || field.type == DType::Bool ? text : json_string(text);
}

}  // namespace

// Recording -------------------------------------------------------------------------------------------------

bool Trace::Track::has_room() {
  if (slices_.size() + arrows_.size() + samples_.size() < trace_.options_.most_events) return true;
  ++dropped_;
  return false;
}

/// What there is no memory for is dropped too: recording must not end a run.
bool Trace::Track::keep(const auto& add) {
  if (!has_room()) return false;
  try {
    add();
    return true;
  } catch (const std::bad_alloc&) {
    ++dropped_;
    return false;
  }
}

Slot* Trace::Track::begin(KindId kind) {
  const bool is_kept = open_not_kept_ == 0 && keep([&] {
                         slices_.push_back({trace_.now(), -1, kind, {}});
                         try {
                           open_.push_back(&slices_.back());
                         } catch (...) {
                           slices_.pop_back();
                           throw;
                         }
                       });
  if (is_kept) return slices_.back().fields;
  if (open_not_kept_++ > 0) ++dropped_;
  not_kept_ = {};
  return not_kept_.fields;
}

Slot* Trace::Track::end() {
  HIATON_CHECK(has_open());
  if (open_not_kept_ > 0) {
    --open_not_kept_;
    return not_kept_.fields;
  }
  Slice* slice = open_.back();
  open_.pop_back();
  slice->end = trace_.now();
  return slice->fields;
}

void Trace::Track::end_all() {
  while (has_open()) end();
}

void Trace::Track::add_arrow(uint64_t arrow, bool starts) {
  keep([&] { arrows_.push_back({trace_.now(), arrow, starts}); });
}

void Trace::Track::count(uint64_t frames, uint64_t bytes) {
  const Sample before = samples_.empty() ? Sample{} : samples_.back();
  if (before.frames == frames && before.bytes == bytes) return;
  keep([&] { samples_.push_back({trace_.now(), frames, bytes}); });
}

Trace::Track& Trace::track(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(tracks_.begin(), tracks_.end(),
                                  [&](const std::unique_ptr<Track>& track) { return track->name_ == name; });
  if (found != tracks_.end()) return **found;
  tracks_.push_back(std::unique_ptr<Track>(new Track(*this, name)));
  return *tracks_.back();
}

Trace::KindId Trace::kind(const Kind& kind) {
  HIATON_CHECK(kind.fields.size() <= kMostFields);
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = kind_of_.try_emplace(kind, static_cast<KindId>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  return known->second;
}

uint64_t Trace::dropped() const {
  uint64_t sum = 0;
  for (const std::unique_ptr<Track>& track : tracks_) sum += track->dropped_;
  return sum;
}

// Writing ---------------------------------------------------------------------------------------------------

std::string Trace::name_of(const Kind& kind, const Slot* fields) {
  if (kind.shown == 0) return kind.name;
  std::string shown;
  for (std::size_t i = kind.fields.size() - kind.shown; i < kind.fields.size(); ++i) {
    shown += (shown.empty() ? "" : ", ") + text_of(kind.fields[i], fields[i]);
  }
  return fmt::format("{}({})", kind.name, shown);
}

void Trace::write_slices(const Track& track, std::size_t thread, const Process& process,
                         std::string& json) const {
  const int64_t end_of_all = now();
  for (const Track::Slice& slice : track.slices_) {
    const Kind& kind = kinds_[slice.kind];
    const int64_t end = slice.end < 0 ? end_of_all : slice.end;
    json +=
        fmt::format(R"(,{}{{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{)", '\n',
                    json_string(name_of(kind, slice.fields)), json_string(kind.category), id_of(process),
                    thread, microseconds(slice.begin + process.delay), microseconds(end - slice.begin));
    for (std::size_t i = 0; i < kind.fields.size(); ++i) {
      json += fmt::format("{}{}:{}", i > 0 ? "," : "", json_string(kind.fields[i].name),
                          json_of(kind.fields[i], slice.fields[i]));
    }
    json += "}}";
  }
}

void Trace::write_arrows(const Track& track, std::size_t thread, const Process& process, std::string& json) {
  for (const Track::Arrow& arrow : track.arrows_) {
    json +=
        fmt::format(R"(,{}{{"ph":"{}","name":"steal","cat":"steal","id":{},"pid":{},"tid":{},"ts":{}{}}})",
                    '\n', arrow.starts ? 's' : 'f', arrow.number, id_of(process), thread,
                    microseconds(arrow.time + process.delay), arrow.starts ? "" : R"(,"bp":"e")");
  }
}

/// What all tracks hold together, at each moment at which one of them changed.
void Trace::write_counters(const Process& process, std::string& json) const {
  struct Change {
    Track::Sample sample;
    std::size_t track;
  };
  std::vector<Change> changes;
  for (std::size_t t = 0; t < tracks_.size(); ++t) {
    for (const Track::Sample& sample : tracks_[t]->samples_) changes.push_back({sample, t});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.sample.time < b.sample.time; });
  std::vector<Track::Sample> now(tracks_.size());
  for (const Change& change : changes) {
    now[change.track] = change.sample;
    uint64_t frames = 0;
    uint64_t bytes = 0;
    for (const Track::Sample& sample : now) {
      frames += sample.frames;
      bytes += sample.bytes;
    }
    for (const auto& [name, value] : {std::pair("frames", frames), std::pair("bytes", bytes)}) {
      json += fmt::format(R"(,{}{{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{}}}}})", '\n', name,
                          id_of(process), microseconds(change.sample.time + process.delay), name, value);
    }
  }
}

std::string Trace::events(const Process& process) const {
  const int id = id_of(process);
  std::string json = fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", id,
                                 json_string(process.name));
  for (std::size_t t = 0; t < tracks_.size(); ++t) {
    json += fmt::format(R"(,{}{{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                        '\n', id, t, json_string(tracks_[t]->name_));
    json += fmt::format(
        R"(,{}{{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", '\n',
        id, t, t);
    write_slices(*tracks_[t], t, process, json);
    write_arrows(*tracks_[t], t, process, json);
  }
  write_counters(process, json);
  return json;
}

std::string Trace::file_of(const std::vector<std::string>& events, uint64_t dropped) {
  return fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"dropped\":{}}},\"traceEvents\":[\n{}\n]}}\n", dropped,
      fmt::join(events, ",\n"));
}

std::string Trace::to_json() const {
  return file_of({events({})}, dropped());
}

}  // namespace hiaton

#include "train/report_json.h"

namespace hiaton::train {
namespace {

using graph::JsonPlace;

Evaluation evaluation_from(const JsonPlace& place) {
  place.require_fields({"loss", "root_accuracy", "all_accuracy", "roots", "nodes"});
  return {.loss = place.field("loss").real(),
          .root_accuracy = place.field("root_accuracy").real(),
          .all_accuracy = place.field("all_accuracy").real(),
          .roots = place.field("roots").integer(0),
          .nodes = place.field("nodes").integer(0)};
}

}  // namespace

nlohmann::ordered_json to_json(const EpochReport& report) {
  nlohmann::ordered_json json{{"epoch", report.epoch},
                              {"steps", report.steps},
                              {"train_loss", report.train_loss},
                              {"learning_rate", report.learning_rate},
                              {"seconds", report.seconds},
                              {"trees_per_second", report.trees_per_second},
                              {"best", report.best}};
  if (report.dev) {
    json["dev"] = {{"loss", report.dev->loss},
                   {"root_accuracy", report.dev->root_accuracy},
                   {"all_accuracy", report.dev->all_accuracy},
                   {"roots", report.dev->roots},
                   {"nodes", report.dev->nodes}};
  }
  return json;
}

EpochReport epoch_report_from(const JsonPlace& place) {
  place.require_fields(
      {"epoch", "steps", "train_loss", "learning_rate", "seconds", "trees_per_second", "best", "dev"});
  EpochReport report;
  report.epoch = place.field("epoch").integer(1);
  report.steps = place.field("steps").unsigned_number();
  report.train_loss = place.field("train_loss").real();
  report.learning_rate = place.field("learning_rate").real();
  report.seconds = place.field("seconds").real();
  report.trees_per_second = place.field("trees_per_second").real();
  report.best = place.field("best").boolean();
  if (place.has("dev")) report.dev = evaluation_from(place.field("dev"));
  return report;
}

}  // namespace hiaton::train

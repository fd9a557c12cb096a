#include "train/json_records.h"

namespace hiaton::train {
namespace {

using graph::JsonPlace;

Evaluation evaluation_from(const JsonPlace& place) {
  place.require_fields({"loss", "root_accuracy", "all_accuracy", "roots", "nodes", "metrics"});
  Evaluation evaluation{.loss = place.field("loss").real()};
  if (place.has("metrics")) {
    evaluation.is_of_trees = false;
    const JsonPlace metrics = place.field("metrics");
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const JsonPlace metric = metrics[i];
      metric.require_fields({"name", "mean", "is_share"});
      evaluation.metrics.push_back(
          {metric.field("name").text(), metric.field("mean").real(), metric.field("is_share").boolean()});
    }
    return evaluation;
  }
  evaluation.root_accuracy = place.field("root_accuracy").real();
  evaluation.all_accuracy = place.field("all_accuracy").real();
  evaluation.roots = place.field("roots").integer(0);
  evaluation.nodes = place.field("nodes").integer(0);
  return evaluation;
}

nlohmann::ordered_json to_json(const Evaluation& evaluation) {
  if (!evaluation.is_of_trees) {
    auto metrics = nlohmann::ordered_json::array();
    for (const Metric& metric : evaluation.metrics)
      metrics.push_back({{"name", metric.name}, {"mean", metric.mean}, {"is_share", metric.is_share}});
    return {{"loss", evaluation.loss}, {"metrics", std::move(metrics)}};
  }
  return {{"loss", evaluation.loss},
          {"root_accuracy", evaluation.root_accuracy},
          {"all_accuracy", evaluation.all_accuracy},
          {"roots", evaluation.roots},
          {"nodes", evaluation.nodes}};
}

}  // namespace

nlohmann::ordered_json to_json(const EpochReport& report) {
  nlohmann::ordered_json json{{"epoch", report.epoch},
                              {"steps", report.steps},
                              {"train_loss", report.train_loss},
                              {"learning_rate", report.learning_rate},
                              {"seconds", report.seconds},
                              {"examples_per_second", report.examples_per_second},
                              {"best", report.best}};
  if (report.dev) json["dev"] = to_json(*report.dev);
  return json;
}

EpochReport epoch_report_from(const JsonPlace& place) {
  place.require_fields(
      {"epoch", "steps", "train_loss", "learning_rate", "seconds", "examples_per_second", "best", "dev"});
  EpochReport report;
  report.epoch = place.field("epoch").integer(1);
  report.steps = place.field("steps").unsigned_number();
  report.train_loss = place.field("train_loss").real();
  report.learning_rate = place.field("learning_rate").real();
  report.seconds = place.field("seconds").real();
  report.examples_per_second = place.field("examples_per_second").real();
  report.best = place.field("best").boolean();
  if (place.has("dev")) report.dev = evaluation_from(place.field("dev"));
  return report;
}

}  // namespace hiaton::train

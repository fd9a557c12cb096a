#include "hiaton/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/model_trainer.h"
#include "train/random_stream.h"

namespace hiaton::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kProgram =
    "size vocab = 10\n"
    "data Ast = Node(kind: i64, children: List[Ast]) | Number(value: f64)\n"
    "param E: f32[vocab]\n"
    "fn loss(t: Ast, y: i64) -> f32 =\n"
    "  match t\n"
    "    Node(kind, children) -> fold(fn(sum, c) -> sum + loss(c, y), E[kind], children)\n"
    "    Number(v) -> f32(v)\n";

class ReadExamples : public ::testing::Test {
 protected:
  ReadExamples() : model(Model::from_text("ast", kProgram)) {
    form = {example_parameters(model.loss_program()), 2};
  }
  std::shared_ptr<const Source> source(const std::string& text) const {
    return std::make_shared<Source>("data.jsonl", text);
  }
  std::vector<std::string> read(const std::string& text) {
    words = vocabulary_of(source(text), form);
    std::vector<std::string> shown;
    for (const Example& example : read_examples(source(text), form, words))
      shown.push_back(to_string(example.arguments, form.parameters));
    return shown;
  }
  std::string error_in(const std::string& text) {
    return error_of<ProgramError>([&] { read(text); });
  }

  Model model;
  ExampleForm form;
  Vocabulary words;
};

TEST_F(ReadExamples, TakesEveryForm) {
  const std::string same = "Node(1, [Number(2.0)]) | 3";
  EXPECT_THAT(read("Node(1, [Number(2)]) | 3\n"
                   "\n"
                   "[[\"Node\", 1, [[\"Number\", 2]]], 3]\r\n"
                   "{\"y\": 3, \"t\": {\"Node\": {\"children\": [{\"Number\": 2}], \"kind\": 1}}}\n"
                   "{\"Node\": [1, [Number(2)]]} | 3"),
              ElementsAre(same, same, same, same));
  EXPECT_EQ(words.size(), 1);
}

TEST_F(ReadExamples, StringsAreWordsOfAVocabulary) {
  const std::string text = "[[\"Node\", \"If\", [[\"Node\", \"a|b\\u00e4\\n\", []], Node(\"If\", [])]], 1]\n";
  EXPECT_THAT(read(text), ElementsAre("Node(1, [Node(2, []), Node(1, [])]) | 1"));
  EXPECT_THAT(words.words(), ElementsAre("<unk>", "If", "a|bä\n"));
  const Vocabulary frequent = vocabulary_of(source(text), form, 2);
  EXPECT_THAT(frequent.words(), ElementsAre("<unk>", "If"));
  EXPECT_EQ(to_string(read_examples(source(text), form, frequent)[0].arguments, form.parameters),
            "Node(1, [Node(0, []), Node(1, [])]) | 1");
  const Directory directory;
  words.save(directory / "vocabulary.txt");
  EXPECT_EQ(Vocabulary::load(directory / "vocabulary.txt"), words);
}

TEST_F(ReadExamples, NamesThePlace) {
  const std::string good = "Number(1) | 1\n";
  EXPECT_THAT(error_in(good + "Number(1)\n"),
              HasSubstr("data.jsonl:2:10: error: expected '|' and the argument y: i64, found nothing"));
  EXPECT_THAT(error_in(good + "Number(1) | x | 2\n"),
              HasSubstr("data.jsonl:2:13: error: expected a value of type i64, found 'x'"));
  EXPECT_THAT(error_in("Number(1) | 1 | 2\n"),
              HasSubstr("data.jsonl:1:15: error: expected a value of type i64"));
  EXPECT_THAT(error_in("[[\"Number\", 1]]\n"),
              HasSubstr("data.jsonl:1:15: error: expected ',' and the argument y: i64, found ']'"));
  EXPECT_THAT(error_in("{\"t\": Number(1)}\n"),
              HasSubstr("data.jsonl:1:16: error: expected ',' and the argument y: i64, found '}'"));
  EXPECT_THAT(
      error_in("{\"tree\": Number(1)}\n"),
      HasSubstr("data.jsonl:1:2: error: expected the name of an argument of the program (t: Ast, y: i64), "
                "found \"tree\""));
  EXPECT_THAT(error_in("{\"t\": Number(1), \"t\": Number(1)}\n"),
              HasSubstr("expected 't' once, found it twice"));
  EXPECT_THAT(error_in("[[\"Node\", \"\\ud800\", []], 1]"),
              HasSubstr("1:11: error: expected a string of JSON"));
  EXPECT_THAT(error_in("\n \n"), HasSubstr("data.jsonl: expected examples, one a line, found none"));
  EXPECT_THAT(error_in(std::string(kMaxExampleBytes + 1, '[')),
              HasSubstr("data.jsonl:1:1: error: expected a line of at most 16 MiB, found 16777217 bytes"));
  std::string many;
  for (int i = 0; i < 10; ++i) many += "bad\n";
  EXPECT_THAT(error_in(many), HasSubstr("data.jsonl:5:1"));
}

TEST_F(ReadExamples, DeepValuesNeedNoStack) {
  std::string open;
  std::string close;
  for (int i = 0; i < 200'000; ++i) {
    open += "{\"Node\": [1, [";
    close += "]]}";
  }
  EXPECT_EQ(read(open + close + " | 1").size(), 1u);
  EXPECT_NE(error_in(open + " | 1"), "");
}

TEST_F(ReadExamples, FurtherArgumentsMayBeMissing) {
  form.required = 1;
  EXPECT_THAT(read("Number(1)\nNumber(1) | 2\n[[\"Number\", 1]]\n{\"t\": [\"Number\", 1]}\n"),
              ElementsAre("Number(1.0)", "Number(1.0)", "Number(1.0)", "Number(1.0)"));
}

TEST_F(ReadExamples, TreesAreToldFromTuples) {
  for (const char* text : {"(3 (2 It) (4 good))", "\n ( _ (0 a))", "(1(0 a)(1 b))", "(nan good)"})
    EXPECT_TRUE(looks_like_trees(Source("", text))) << text;
  for (const char* text :
       {"", "(1, 2)", "(-1.5, Leaf) | 1", "(Leaf(1), 2)", "((1, 2), 3)", "Leaf(1)", "[1]", "(", "(1"})
    EXPECT_FALSE(looks_like_trees(Source("", text))) << text;
}

/// Random types, values of them, and their text in JSON.
class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : random_(seed) {}

  Type type(int depth) {
    switch (random_.below(depth > 0 ? 7 : 4)) {
      case 0:
        return DType::I64;
      case 1:
        return random_.below(2) == 0 ? DType::Bool : DType::U8;
      case 2:
        return random_.below(2) == 0 ? DType::F32 : DType::F64;
      case 3:
        return Type(random_.below(2) == 0   ? DType::F64
                    : random_.below(2) == 0 ? DType::I32
                                            : DType::U8,
                    random_.below(2) == 0 ? Shape{unknown_dim()} : Shape{Dim{2, ""}, unknown_dim()});
      case 4:
        return types_.list_of(type(depth - 1));
      case 5:
        return types_.tuple_of({type(depth - 1), type(depth - 1)});
      default:
        return data_type(depth);
    }
  }

  Value value(const Type& type, int depth) {
    if (type.is_scalar()) return scalar(type.dtype);
    if (type.is_tensor()) return tensor(type);
    const bool is_list = type.data->name.starts_with("List[");
    const std::size_t count = type.data->variants.size();
    // The first variant of every type here is the one that ends.
    const std::size_t variant = depth <= 0 ? 0
                                : is_list  ? (random_.below(4) > 0)
                                           : random_.below(static_cast<uint32_t>(count));
    std::vector<Value> fields;
    for (std::size_t i = 0; i < type.data->variants[variant].fields.size(); ++i)
      fields.push_back(value(field_type(type, variant, i), depth - 1));
    return Data(static_cast<uint32_t>(variant), fields);
  }

  std::string json(const Value& value, const Type& type) {
    if (value.is_scalar()) return number(value);
    if (value.is_tensor()) {
      int64_t next = 0;
      return axis(value.tensor(), 0, next);
    }
    std::vector<std::string> fields;
    const Data data = value.data();
    if (type.data->name.starts_with("List[")) {
      Data cell = data;
      for (; cell.variant() == 1; cell = cell.field(1).data())
        fields.push_back(json(cell.field(0), field_type(type, 1, 0)));
      return joined("[", fields, "]");
    }
    const Variant& variant = type.data->variants[data.variant()];
    for (std::size_t i = 0; i < data.field_count(); ++i)
      fields.push_back(json(data.field(i), field_type(type, data.variant(), i)));
    if (is_tuple(type)) return joined("[", fields, "]");
    const std::string name = "\"" + variant.name + "\"";
    switch (random_.below(fields.empty() ? 2 : 3)) {
      case 0:
        fields.insert(fields.begin(), name);
        return joined("[", fields, "]");
      case 1:
        return fields.empty() ? name : "{" + name + ": " + joined("[", fields, "]") + "}";
      default:
        for (std::size_t i = 0; i < fields.size(); ++i)
          fields[i].insert(0, "\"" + variant.fields[i].name + "\": ");
        std::reverse(fields.begin(), fields.end());
        return "{" + name + ": " + joined("{", fields, "}") + "}";
    }
  }

 private:
  Type data_type(int depth) {
    const Type type = types_.declare("T" + std::to_string(++number_of_types_));
    std::vector<Variant> variants{{"A", {}}};
    for (uint32_t v = 0, more = random_.below(3); v < more; ++v) {
      Variant variant{std::string(1, static_cast<char>('B' + v)), {}};
      for (uint32_t f = 0, fields = random_.below(4); f < fields; ++f)
        variant.fields.push_back(
            {"f" + std::to_string(f), random_.below(3) == 0 ? type : this->type(depth - 1)});
      variants.push_back(std::move(variant));
    }
    types_.define(type, variants);
    return type;
  }

  Value scalar(DType dtype) {
    switch (dtype) {
      case DType::Bool:
        return random_.below(2) == 0;
      case DType::U8:
        return static_cast<uint8_t>(random_.next());
      case DType::I32:
        return static_cast<int32_t>(random_.next());
      case DType::I64:
        return static_cast<int64_t>(random_.next());
      case DType::F32:
        return std::bit_cast<float>(static_cast<uint32_t>(random_.next() >> 34));
      default:
        return std::bit_cast<double>(random_.next() >> 2);
    }
  }

  Value tensor(const Type& type) {
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) dims.push_back(dim.size >= 0 ? dim.size : random_.between(1, 3));
    Tensor tensor(type.dtype, dims);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const Slot slot = scalar(type.dtype).slot();
      std::memcpy(tensor.mutable_data<std::byte>() + static_cast<std::size_t>(i) * size_of(type.dtype), &slot,
                  size_of(type.dtype));
    }
    return tensor;
  }

  static std::string number(const Value& value) { return hiaton::to_string(value); }
  static std::string joined(const char* open, const std::vector<std::string>& parts, const char* close) {
    std::string text = open;
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", " : "") + parts[i];
    return text + close;
  }
  static std::string axis(const Tensor& tensor, std::size_t at, int64_t& next) {
    if (at == tensor.dims().size()) return number(element_of(tensor, next++));
    std::vector<std::string> parts;
    for (int64_t i = 0; i < tensor.dims()[at]; ++i) parts.push_back(axis(tensor, at + 1, next));
    return joined("[", parts, "]");
  }

  Random random_;
  DataTypes types_;
  int number_of_types_ = 0;
};

TEST(ReadStrings, AreThemselvesWhereTheProgramWantsThem) {
  const Model of_strings = Model::from_text(
      "text", "param w: f32[1]\nfn loss(s: str, kind: i64) -> f32 = w[0] * f32(length(s) - kind)\n");
  const ExampleForm wanted{example_parameters(of_strings.loss_program()), 2};
  const auto text = std::make_shared<Source>(
      "data.jsonl", "\"a|\\u00e9\\n\" | \"If\"\n{\"s\": \"\", \"kind\": 0}\n[\"\\ud83d\\ude00\", 1]\n");
  const Vocabulary vocabulary = vocabulary_of(text, wanted);
  EXPECT_THAT(vocabulary.words(), ElementsAre("<unk>", "If"));
  std::vector<std::string> shown;
  for (const Example& example : read_examples(text, wanted, vocabulary))
    shown.push_back(to_string(example.arguments, wanted.parameters));
  EXPECT_THAT(shown, ElementsAre("\"a|é\\n\" | 1", "\"\" | 0", "\"\U0001F600\" | 1"));
  const auto broken = std::make_shared<Source>("data.jsonl", "\"a\" | 1\n\"b\\q\" | 1\n");
  EXPECT_THAT(error_of<ProgramError>([&] { read_examples(broken, wanted, vocabulary); }),
              HasSubstr("data.jsonl:2:3"));
}

TEST(RandomExamples, ReadBackAsTheyWereWritten) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    RandomValues random(seed);
    Random choice(seed, 1);
    ExampleForm form;
    std::vector<Value> values;
    std::vector<std::string> arguments;
    for (uint32_t i = 0, count = 1 + choice.below(3); i < count; ++i) {
      form.parameters.push_back({"p" + std::to_string(i), random.type(3)});
      values.push_back(random.value(form.parameters[i].type, 6));
      arguments.push_back(random.json(values[i], form.parameters[i].type));
    }
    form.required = values.size();
    std::string by_position;
    std::string by_name;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      by_position += (i > 0 ? ", " : "") + arguments[i];
      by_name += (i > 0 ? ", \"" : "\"") + form.parameters[i].name + "\": " + arguments[i];
    }
    if (arguments.size() > 1) by_position = "[" + by_position + "]";
    const std::string text =
        to_string(values, form.parameters) + "\n" + by_position + "\n{" + by_name + "}\n";
    const std::vector<Example> read =
        read_examples(std::make_shared<Source>("random", text), form, Vocabulary());
    ASSERT_EQ(read.size(), 3u) << text;
    for (const Example& example : read) ASSERT_EQ(example.arguments, values) << text;
  }
}

std::vector<Example> examples_of(const std::string& text, const Model& model) {
  std::vector<EntryParameter> parameters = example_parameters(model.loss_program());
  const std::size_t count = parameters.size();
  return read_examples(std::make_shared<Source>("data", text), {std::move(parameters), count}, Vocabulary());
}

constexpr const char* kPlane =
    "param w: f32[2]\n"
    "fn predict(x: f32[2]) -> f32 = sum(w * x)\n"
    "fn loss(x: f32[2], y: f32, seed: i64) -> f32 = (predict(x) - y) * (predict(x) - y) + f32(0 * seed)\n"
    "data Scores = Scores(near: bool, error: f32)\n"
    "fn metrics(x: f32[2], y: f32) -> Scores = Scores(abs(predict(x) - y) < 0.1, abs(predict(x) - y))\n";
constexpr const char* kPoints = "[1, 0] | 3\n[0, 1] | -1\n[1, 1] | 2\n[2, 1] | 5\n[1, 2] | 1\n";

TEST(TrainOnExamples, LearnsALineAndResumesToTheSameBits) {
  const Directory directory;
  const Model model = Model::from_text("line", kPlane);
  const ExampleList points(model, examples_of(kPoints, model));
  Settings settings{.epochs = 40, .batch = 2, .learning_rate = 0.1, .out = directory / "whole"};
  ModelTrainer whole(model);
  const TrainingResult result = whole.train(points, &points, settings);
  const Evaluation last = whole.evaluate(points);
  EXPECT_LT(last.loss, 1e-2);
  ASSERT_EQ(last.metrics.size(), 2u);
  EXPECT_EQ(last.metrics[0].name, "near");
  EXPECT_TRUE(last.metrics[0].is_share);
  EXPECT_EQ(last.metrics[0].mean, 1.0);
  EXPECT_EQ(last.metrics[1].name, "error");
  EXPECT_LT(last.metrics[1].mean, 0.1);
  EXPECT_FALSE(result.history.back().dev->is_of_trees);
  EXPECT_EQ(result.history.back().dev->metrics, last.metrics);

  settings.out = directory / "resumed";
  settings.epochs = 13;
  ModelTrainer first(model);
  first.train(points, &points, settings);
  settings.epochs = 40;
  settings.resume = true;
  ModelTrainer second(model);
  second.train(points, &points, settings);
  EXPECT_EQ(second.parameters()[0].values, whole.parameters()[0].values);

  const ExampleList others(model, examples_of("[1, 0] | 4\n", model));
  EXPECT_THAT(error_of<ProgramError>([&] { ModelTrainer(model).train(others, &points, settings); }),
              HasSubstr("expected the examples that training began with, found others"));
}

TEST(TrainOnExamples, WhatIsSavedCanBeLoaded) {
  const Directory directory;
  const Model model = Model::from_text("line", kPlane);
  ModelTrainer trainer(model, {}, 7);
  trainer.train(ExampleList(model, examples_of(kPoints, model)), nullptr,
                {.epochs = 3, .learning_rate = 0.1});
  save_parameters(directory / "line.safetensors", trainer.parameters());
  ModelTrainer other(model);
  load_parameters(directory / "line.safetensors", other);
  EXPECT_EQ(other.parameters()[0].values, trainer.parameters()[0].values);
  const Value x = parse_value(tensor_type(DType::F32, {2}), "[1, 2]");
  EXPECT_EQ(other.predict({x}), trainer.predict({x}));
}

TEST(TrainOnExamples, ResumesWithinAWarmUpToTheSameBits) {
  const Directory directory;
  const Model model = Model::from_text("line", kPlane);
  const ExampleList points(model, examples_of(kPoints, model));
  Settings settings{
      .epochs = 2, .batch = 2, .learning_rate = 0.1, .schedule = {.warmup = 8}, .out = directory / "out"};
  ModelTrainer(model).train(points, nullptr, settings);  // six steps
  settings.epochs = 4;
  settings.resume = true;
  settings.schedule.warmup = 9;
  EXPECT_THAT(error_of<ProgramError>([&] { ModelTrainer(model).train(points, nullptr, settings); }),
              HasSubstr("schedule.warmup: 8, now 9"));
  settings.schedule.warmup = 8;
  ModelTrainer resumed(model);
  std::vector<double> rates;
  const Callbacks note{.on_step = [&](const StepReport& step) { rates.push_back(step.learning_rate); }};
  resumed.train(points, nullptr, settings, note);
  EXPECT_THAT(rates, ::testing::Pointwise(::testing::DoubleNear(1e-12), {0.0875, 0.1, 0.1, 0.1, 0.1, 0.1}));
  ModelTrainer whole(model);
  settings.out.clear();
  settings.resume = false;
  whole.train(points, nullptr, settings);
  EXPECT_EQ(resumed.parameters()[0].values, whole.parameters()[0].values);
}

TEST(TrainOnExamples, NamesTheExample) {
  const Model model = Model::from_text("root", "param w: f32[2]\nfn loss(i: i64) -> f32 = w[i]\n");
  ModelTrainer trainer(model);
  const ExampleList examples(model, examples_of("0\n1\n\n5\n", model));
  EXPECT_THAT(error_of<RunError>([&] { trainer.train(examples, nullptr, {.epochs = 1}); }),
              HasSubstr("for the example in line 4 of the data"));
}

TEST(TrainOnExamples, MetricsMustTakeWhatLossTakes) {
  const Model model = Model::from_text("m",
                                       "param w: f32[1]\nfn loss(x: f32, y: f32) -> f32 = sum(w) * x + y\nfn "
                                       "metrics(x: f32) -> bool = x > 0.0\n");
  ModelTrainer trainer(model);
  const ExampleList examples(model, examples_of("1 | 2\n", model));
  EXPECT_THAT(error_of<ProgramError>([&] { trainer.evaluate(examples); }),
              HasSubstr("expected 'metrics' to take what 'loss' takes, (x: f32, y: f32), found (x: f32)"));
}

}  // namespace
}  // namespace hiaton::train

#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "bag_of_words.h"
#include "base/file_bytes.h"
#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/safetensors.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;

std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::filesystem::path path_of(const std::string& bytes) {
    write_file(directory_ / "file.safetensors", bytes);
    return directory_ / "file.safetensors";
  }
  std::string read_error(const std::string& bytes) {
    return error_of<ProgramError>([&] { SafetensorsFile file(path_of(bytes)); });
  }
  std::string load_error(const std::filesystem::path& path) {
    return error_of<ProgramError>([&] { load_parameters(path, learner_.parameters()); });
  }

  Directory directory_;
  BagOfWords learner_{4, 2};
};

TEST_F(CheckpointTest, SavesAndLoadsTheSameBits) {
  learner_.parameters()[0].values = {1, -2, 0.1f, -0.0f, 1e-45f, 3e38f, 7, 8};
  save_parameters(directory_ / "p", learner_.parameters());
  BagOfWords other(4, 2);
  load_parameters(directory_ / "p", other.parameters());
  EXPECT_EQ(std::memcmp(other.parameters()[0].values.floats().data(),
                        learner_.parameters()[0].values.floats().data(), 32),
            0);
}

TEST_F(CheckpointTest, HasTheFormatOfSafetensors) {
  save_parameters(directory_ / "p", {{"w", {2}, {1, 2}}});
  const std::string bytes = file_text(directory_ / "p");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 8);
  EXPECT_THAT(bytes.substr(8, length),
              HasSubstr(R"(,"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"));
}

TEST_F(CheckpointTest, EveryChangedBitOfTheDataIsAnErrorAndChangesNothing) {
  save_parameters(directory_ / "p", learner_.parameters());
  const std::string bytes = file_text(directory_ / "p");
  const std::size_t size = (4 * 2 + 2) * sizeof(float);
  const Numbers before = learner_.parameters()[0].values;
  for (std::size_t at = bytes.size() - size; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_THAT(load_error(path_of(changed)), HasSubstr("expected what was written, with the checksum"));
      EXPECT_EQ(learner_.parameters()[0].values, before);
    }
  }
}

TEST_F(CheckpointTest, AChangedTextIsAnError) {
  write_safetensors(directory_ / "p", {}, {{"note", "step 1"}});
  std::string bytes = file_text(directory_ / "p");
  bytes.replace(bytes.find("step 1"), 6, "step 3");
  EXPECT_THAT(read_error(bytes), HasSubstr("'note': expected what was written"));
}

TEST_F(CheckpointTest, ChecksumsAreOfThisFileAndNoTextOfIt) {
  const Numbers w{1, 2};
  write_safetensors(directory_ / "p", std::vector<TensorView>{{"w", {2}, w}},
                    {{"note", "kept"}, {"hiaton.crc32c", "of another file"}});
  const SafetensorsFile file(directory_ / "p");
  EXPECT_EQ(file.metadata(), (Metadata{{"note", "kept"}}));
  EXPECT_EQ(file.values_of(*file.find("w")), w);
}

TEST_F(CheckpointTest, FilesOfOthersNeedNoChecksums) {
  const std::string header =
      R"({"__metadata__":{"note":"theirs"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const SafetensorsFile file(path_of(with_header(header, std::string(4, '\0'))));
  EXPECT_EQ(file.values_of(*file.find("w")), (Numbers{0}));
  const auto error_of_checksums = [&](const std::string& checksums) {
    return read_error(with_header(R"({"__metadata__":{"hiaton.crc32c":")" + checksums + "\"}}", ""));
  };
  EXPECT_THAT(error_of_checksums("none"), HasSubstr("hiaton.crc32c: expected a JSON object"));
  EXPECT_THAT(error_of_checksums("{}"), HasSubstr("hiaton.crc32c: expected"));
}

TEST_F(CheckpointTest, EveryTruncationIsAnError) {
  save_parameters(directory_ / "p", learner_.parameters());
  const std::string bytes = file_text(directory_ / "p");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(read_error(bytes.substr(0, size)), "") << size;
  }
  EXPECT_THAT(read_error(bytes.substr(0, bytes.size() - 1)), HasSubstr("the file is cut off"));
  EXPECT_THAT(read_error(bytes + "x"), HasSubstr("expected 40 bytes of data, found 41"));
}

TEST_F(CheckpointTest, EveryChangedHeaderByteIsAnErrorOrHarmless) {
  save_parameters(directory_ / "p", learner_.parameters());
  const std::string bytes = file_text(directory_ / "p");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  for (std::size_t at = 0; at < 8 + length; ++at) {
    for (const char change : {'\0', '9', '"', '\xFF', '}'}) {
      std::string changed = bytes;
      changed[at] = change;
      BagOfWords other(4, 2);
      other.parameters()[0].values.floats().assign(8, 99);
      try {
        load_parameters(path_of(changed), other.parameters());
        EXPECT_EQ(other.parameters()[0].values, learner_.parameters()[0].values) << at << ' ' << change;
      } catch (const ProgramError&) {
      }
    }
  }
}

TEST_F(CheckpointTest, SaysWhatIsWrongWithAFile) {
  const std::string data(8, '\0');
  EXPECT_THAT(read_error("abc"), HasSubstr("expected a safetensors file, found 3 bytes"));
  EXPECT_THAT(read_error(std::string(8, '\xFF') + "{}"),
              HasSubstr("expected a header of 18446744073709551615 bytes"));
  EXPECT_THAT(read_error(with_header("[]", "")), HasSubstr("a JSON object"));
  EXPECT_THAT(read_error(with_header("{\"a\"", "")), HasSubstr("a JSON object"));
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const auto error_of_one = [&](const std::string& dtype, const std::string& shape,
                                const std::string& offsets) {
    return read_error(with_header("{\"a\":" + tensor(dtype, shape, offsets) + "}", data));
  };
  EXPECT_EQ(error_of_one("F32", "[2]", "[0,8]"), "");
  EXPECT_EQ(error_of_one("F64", "[]", "[0,8]"), "");
  EXPECT_THAT(error_of_one("F33", "[2]", "[0,8]"),
              HasSubstr("a.dtype: expected a dtype as F32, found 'F33'"));
  EXPECT_THAT(error_of_one("F32", "[-2]", "[0,8]"), HasSubstr("a.shape[0]: expected a whole number"));
  EXPECT_THAT(error_of_one("F32", "2", "[0,8]"), HasSubstr("a.shape: expected a list"));
  EXPECT_THAT(error_of_one("F32", "[3]", "[0,8]"),
              HasSubstr("expected the 12 bytes of f32[3], found the bytes 0 to 8"));
  EXPECT_THAT(error_of_one("F32", "[2]", "[8,0]"), HasSubstr("found the bytes 8 to 0"));
  EXPECT_THAT(error_of_one("F32", "[4611686018427387904,4611686018427387904]", "[0,8]"),
              HasSubstr("found the bytes"));
  EXPECT_THAT(error_of_one("F32", "[2]", "[0,8,9]"), HasSubstr("another number of offsets"));
  EXPECT_THAT(error_of_one("F32", "[1]", "[4,8]"), HasSubstr("bytes 0 to 4 belong to none"));
  EXPECT_THAT(error_of_one("F32", "[4]", "[0,16]"),
              HasSubstr("expected 16 bytes of data, found 8; the file is cut off"));
  EXPECT_THAT(
      read_error(with_header(
          "{\"a\":" + tensor("F32", "[2]", "[0,8]") + ",\"b\":" + tensor("F32", "[1]", "[4,8]") + "}", data)),
      HasSubstr("'a' and 'b' overlap"));
  EXPECT_THAT(read_error(with_header(R"({"__metadata__":{"a":1}})", "")),
              HasSubstr("__metadata__.a: expected"));
}

TEST_F(CheckpointTest, NamesTheDifferencesToAnotherModel) {
  save_parameters(directory_ / "p", {{"E", {5, 2}, std::vector<float>(10)}, {"W", {1}, {1}}});
  const Numbers before = learner_.parameters()[0].values;
  const std::string error = load_error(directory_ / "p");
  EXPECT_THAT(error, HasSubstr("expected the parameters of this model, found those of another"));
  EXPECT_THAT(error, HasSubstr("'E': expected f32[4, 2], found f32[5, 2]"));
  EXPECT_THAT(error, HasSubstr("'b': expected f32[2], found none"));
  EXPECT_THAT(error, HasSubstr("'W': expected none, found f32[1]"));
  EXPECT_EQ(learner_.parameters()[0].values, before);
}

TEST_F(CheckpointTest, RefusesValuesThatAreNotFiniteOrNotFloats) {
  auto parameters = learner_.parameters();
  parameters[1].values.floats()[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of<ProgramError>([&] { save_parameters(directory_ / "p", parameters); }),
              HasSubstr("'b': expected finite values to be saved, found others"));
  std::vector<TensorView> views;
  for (const ParameterValues& parameter : parameters)
    views.push_back({parameter.name, parameter.shape, parameter.values});
  write_safetensors(directory_ / "p", views, {});
  EXPECT_THAT(load_error(directory_ / "p"), HasSubstr("'b': expected finite values, found nan at element 1"));
  std::string bytes = file_text(directory_ / "p");
  for (std::size_t at = bytes.find("F32"); at != std::string::npos; at = bytes.find("F32", at))
    bytes[at] = 'I';
  EXPECT_THAT(load_error(path_of(bytes)), HasSubstr("'E': expected f32[4, 2], found i32[4, 2]"));
}

TEST_F(CheckpointTest, WritesNothingThatCannotBeReadAgain) {
  const auto path = directory_ / "p";
  save_parameters(path, {{"w", {2}, {1, 2}}});
  const std::string before = file_text(path);
  const auto error = [&](const std::vector<ParameterValues>& parameters) {
    return error_of<ProgramError>([&] { save_parameters(path, parameters); });
  };
  EXPECT_EQ(error({{"w", {7}, {1, 2}}}), "'w': expected the 28 bytes of its shape [7], found 8");
  EXPECT_EQ(error({{"w", {2}, {1, 2}}, {"w", {1}, {1}}}),
            "expected another name for each tensor, found 'w' again");
  EXPECT_THAT(error({{"__metadata__", {1}, {1}}}), HasSubstr("found '__metadata__' again"));
  EXPECT_THAT(error({{"\xff", {1}, {1}}}), HasSubstr("expected names and texts in UTF-8"));
  EXPECT_THAT(error_of<ProgramError>([&] {
                write_safetensors(path, {}, {{"note", "\xff"}});
              }),
              HasSubstr("expected names and texts in UTF-8"));
  EXPECT_EQ(file_text(path), before);
}

TEST_F(CheckpointTest, GivesProgramsTheirParametersByName) {
  learner_.parameters()[1].values = {3, -4};
  save_parameters(directory_ / "p", learner_.parameters());
  const graph::Parameter b{"b", tensor_type(DType::F32, {2})};
  const std::vector<Value> values = load_values(directory_ / "p", std::vector{b});
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(to_string(values[0]), "[3.0, -4.0]");
  const std::vector<graph::Parameter> others{{"b", tensor_type(DType::F64, {2})},
                                             {"E", tensor_type(DType::F32, {2, 2})},
                                             {"W", tensor_type(DType::F32, {1})}};
  const std::string error = error_of<ProgramError>([&] { load_values(directory_ / "p", others); });
  EXPECT_THAT(error, HasSubstr("p: expected all parameters of the program, found others"));
  EXPECT_THAT(error, HasSubstr("'b': expected f64[2], found f32[2]"));
  EXPECT_THAT(error, HasSubstr("'E': expected f32[2, 2], found f32[4, 2]"));
  EXPECT_THAT(error, HasSubstr("'W': expected f32[1], found none"));
}

TEST_F(CheckpointTest, ParametersAloneCannotBeResumed) {
  save_parameters(directory_ / "p", learner_.parameters());
  Optimizer optimizer({}, learner_.parameters());
  Progress progress;
  EXPECT_THAT(error_of<ProgramError>([&] {
                load_checkpoint(directory_ / "p", learner_.parameters(), optimizer, progress, {}, 0);
              }),
              HasSubstr("expected a checkpoint to go on from"));
}

TEST_F(CheckpointTest, KeepsAllProgress) {
  Optimizer optimizer({}, learner_.parameters());
  Progress progress{7, 0.1, 0.25, -1.5, 1, {}};
  progress.history.push_back(
      {.epoch = 1, .steps = 5, .train_loss = 1.0 / 3, .dev = Evaluation{.loss = std::nan("")}});
  save_checkpoint(directory_ / "p", learner_.parameters(), optimizer, progress, {}, ~uint64_t{0});
  Progress loaded;
  load_checkpoint(directory_ / "p", learner_.parameters(), optimizer, loaded, {}, ~uint64_t{0});
  EXPECT_EQ(loaded.step, 7u);
  EXPECT_EQ(loaded.epoch_loss, 0.1);
  EXPECT_EQ(loaded.best_score, -1.5);
  ASSERT_EQ(loaded.history.size(), 1u);
  EXPECT_EQ(loaded.history[0].train_loss, 1.0 / 3);
  EXPECT_TRUE(std::isnan(loaded.history[0].dev->loss));
}

TEST_F(CheckpointTest, AFailedWriteLeavesTheOldFile) {
  write_file(directory_ / "file", "old");
  std::filesystem::create_directory(directory_ / "file.tmp");  // the temporary file cannot be made
  EXPECT_THAT(error_of<ProgramError>([&] { write_atomically(directory_ / "file", {"new"}); }),
              HasSubstr("cannot write"));
  EXPECT_EQ(file_text(directory_ / "file"), "old");
  EXPECT_THAT(error_of<ProgramError>([&] { write_atomically(directory_ / "no/where", {"new"}); }),
              HasSubstr("cannot write"));
}

TEST_F(CheckpointTest, SettingsFilesAreChecked) {
  write_file(directory_ / "s", "{");
  EXPECT_THAT(error_of<ProgramError>([&] { load_settings(directory_ / "s"); }),
              HasSubstr("expected settings in JSON"));
  save_settings(directory_ / "s", {});
  std::string text = file_text(directory_ / "s");
  text.replace(text.find("\"adam\""), 6, "\"adan\"");
  write_file(directory_ / "s", text);
  EXPECT_THAT(error_of<ProgramError>([&] { load_settings(directory_ / "s"); }),
              HasSubstr("optimizer.kind: expected one of sgd, adagrad, adam, rmsprop, adamw, found 'adan'"));
}

TEST_F(CheckpointTest, SettingsOfBeforeThereWereRmsPropAdamWAndWarmUpsAreRead) {
  Settings settings;
  settings.optimizer = {.kind = OptimizerKind::RmsProp, .rho = 0.75, .weight_decay = 0.5};
  settings.schedule.warmup = 30;
  save_settings(directory_ / "s", settings);
  EXPECT_EQ(load_settings(directory_ / "s"), settings);
  std::string text = file_text(directory_ / "s");
  for (const std::string line : {"\"rho\": 0.75,", "\"weight_decay\": 0.5,", "\"warmup\": 30,"}) {
    ASSERT_NE(text.find(line), std::string::npos) << text;
    text.erase(text.find(line), line.size());
  }
  write_file(directory_ / "s", text);
  settings.optimizer = {.kind = OptimizerKind::RmsProp};
  settings.schedule = {};
  EXPECT_EQ(load_settings(directory_ / "s"), settings);
}

}  // namespace
}  // namespace hiaton::train

// Programs as Python sees them: values of their data types, and their functions.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "hiaton/engine.h"
#include "hiaton/model.h"
#include "hiaton/train.h"
#include "tensors.h"

namespace hiaton::python {

/// A variant of a data type. Its class in Python keeps it alive.
struct VariantInfo {
  Type type;
  uint32_t number;
  std::string name;
  std::vector<std::string> fields;
  std::vector<Type> field_types;
  const class DataClasses* classes;
};

/// `hiaton.Data`: a value of a data type.
struct DataValue {
  Data data;
  const VariantInfo* variant;
};

/// The classes that Python has for the data types of a program, variant by variant.
class DataClasses {
 public:
  explicit DataClasses(const DataTypes& types);
  DataClasses(const DataClasses&) = delete;
  DataClasses& operator=(const DataClasses&) = delete;

  struct Entry {
    VariantInfo info;
    nb::object made;  ///< the class
  };
  /// By the name of the data type.
  std::map<std::string, std::vector<Entry>>& entries() { return entries_; }

  nb::object to_object(const Value& value, const Type& type) const;
  /// `what` is what messages call it. Throws TypeError where the object is no value of the type.
  Value to_value(nb::handle object, const Type& type, const std::string& what) const;

 private:
  nb::object list_object(const Value& value, const Type& type) const;
  Value list_value(nb::handle object, const Type& type, const std::string& what) const;
  Value tuple_value(nb::handle object, const Type& type, const std::string& what) const;
  bool is_same(const Type& ours, const Type& theirs) const;

  std::map<std::string, std::vector<Entry>> entries_;
  /// Types of other programs that were found to be the same: kept, so that no other one gets their place.
  mutable std::map<const DataType*, Type> known_;
};

/// How runs go.
struct RunSettings {
  int workers = 1;
  bool batching = true;
  Evaluation evaluation = Evaluation::DataDriven;
  int parts = 0;
  uint64_t max_frames = RunOptions().max_frames;
  uint64_t max_bytes = RunOptions().max_bytes;
  std::chrono::nanoseconds timeout = RunOptions().timeout;

  /// The options of a run with these settings, which `cancel` ends early.
  RunOptions options(const std::atomic<bool>& cancel) const;
};

/// Runs `run` with the interpreter's lock released. Ctrl-C sets what it is given, which ends it: then what
/// Python makes of the signal is raised, or, where that is nothing, it runs again.
void run_interruptibly(const std::function<void(const std::atomic<bool>& cancel)>& run);

/// While one lives, its thread may hold locks of the engine, and a fork waits: the child would have them
/// locked for ever. To be made without the interpreter's lock.
class Running {
 public:
  Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();
};

/// While a thread is between these, Ctrl-C waits.
void begin_writing();
void end_writing();

/// The learned parameters of a module. Runs may read them at the same time; an optimizer changes them alone.
class ParameterStore {
 public:
  explicit ParameterStore(std::vector<train::ParameterValues> parameters);

  const std::vector<train::ParameterValues>& parameters() const { return *parameters_; }
  /// As the engine sees them: they share the memory of the parameters.
  const std::vector<Value>& values() const { return values_; }
  std::shared_mutex& mutex() { return mutex_; }
  /// To be called before a run that may give out tensors which share the memory of parameters: the next
  /// change leaves that memory alone.
  void share() { shared_.store(true); }
  /// Lets `change` write the parameters, alone.
  void update(const std::function<void(std::vector<train::ParameterValues>&)>& change);

 private:
  void make_values();

  std::shared_ptr<std::vector<train::ParameterValues>> parameters_;
  std::vector<Value> values_;
  std::shared_mutex mutex_;
  std::atomic<bool> shared_{false};
};

/// The numbers of the rows of a sum that may differ from zero, in increasing order; None: all may.
nb::object row_numbers(const Gradients::Sum& sum);

/// The settings of an optimizer of `hiaton.optim` by its kind. Throws ProgramError where they make no sense.
train::OptimizerSettings optimizer_settings(const std::string& kind, const nb::dict& given);

/// A text with its functions, ready to be called.
class Source {
 public:
  /// Into how many parts argument lists are cut where the bits must be the same for any number of workers.
  static constexpr int kDeterministicParts = 2;

  Source(ir::Module module, CompileOptions options);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const ir::Module& module() const { return module_; }
  const CompileOptions& options() const { return options_; }
  /// Compiled at the first call.
  std::shared_ptr<const Program> program(const std::string& function);
  /// The same as a model, which needs a function `loss`.
  std::shared_ptr<const Model> model();
  /// Where a run adds up the gradients of the model, to be cleared: what an earlier call got, if nobody holds
  /// that any more, for memory that is new costs more than the zeros in it. With the interpreter's lock.
  std::shared_ptr<Gradients> sums();

 private:
  ir::Module module_;
  CompileOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;
  std::shared_ptr<const Model> model_;
  std::vector<std::shared_ptr<Gradients>> sums_;  ///< a few that were given out
};

/// `hiaton.Function`: a function of a program, with the settings of its runs.
struct Function {
  std::shared_ptr<Source> source;
  std::string name;
  nb::object classes_object;
  const DataClasses* classes;
  std::shared_ptr<ParameterStore> store;  ///< null: the program has no parameters
  RunSettings settings;
  std::shared_ptr<const Program> program;

  /// Calls `run` with the options of a run, while nobody changes the parameters.
  void run(const std::function<void(RunOptions)>& run) const;
  /// The arguments of a call, by parameter.
  std::vector<Value> arguments(const nb::args& args, const nb::kwargs& named) const;
  /// The argument lists of a call of `map`: the first of each of the lists, then the second of each, ...
  std::vector<std::vector<Value>> argument_lists(const nb::args& lists) const;
};

}  // namespace hiaton::python

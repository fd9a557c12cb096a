#include "hiaton/open_run.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "base/not_moved.h"
#include "exec/fault.h"
#include "exec/open_program.h"
#include "exec/run_checks.h"
#include "hiaton/error.h"

namespace hiaton {

class OpenRun::Impl {
 public:
  Impl(std::shared_ptr<const exec::OpenProgram> program, RunOptions options)
      : program_(std::move(program)),
        options_(std::move(options)),
        parameters_(options_.parameters.begin(), options_.parameters.end()),
        checks_(program_->graph, options_.checks_data),
        arguments_(program_->graph.inputs().size()) {
    options_.overflow = program_->overflow;
    options_.parameters = parameters_;
    cancel_ = options_.cancel != nullptr ? options_.cancel : &is_to_end_;
    run_ = exec::open_run(*program_, options_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { cancel(); }

  const std::vector<Phase>& phases() const { return program_->phases; }

  void feed(std::size_t parameter, Value argument) {
    const std::lock_guard lock(arguments_mutex_);
    if (is_over_) throw ProgramError("expected an open run to feed, found one that is over");
    if (parameter >= arguments_.size())
      throw ProgramError(fmt::format("expected one of {} parameters to feed, found number {}",
                                     arguments_.size(), parameter));
    if (is_fed_.size() <= parameter) is_fed_.resize(arguments_.size());
    if (is_fed_[parameter])
      throw ProgramError(
          fmt::format("expected a parameter to feed, found {}, which has its argument", name_of(parameter)));
    checks_.require(parameter, argument);
    arguments_[parameter] = std::move(argument);
    is_fed_[parameter] = true;
  }

  Value wait(std::size_t result, const std::atomic<bool>* cancel) {
    const std::lock_guard lock(mutex_);
    const std::size_t count = program_->graph.outputs().size();
    if (result >= count)
      throw ProgramError(fmt::format("expected one of {} results, found number {}", count, result));
    go_on(cancel);
    if (result < results_.size()) return results_[result];
    require_open();
    std::size_t phase = 0;
    for (std::size_t results = 0; results <= result; ++phase) results += phases()[phase].results;
    throw missing(fmt::format("before result {} is waited for", result), phase);
  }

  RunStats finish() {
    const std::lock_guard lock(mutex_);
    go_on(nullptr);
    require_open();
    if (run_ != nullptr) throw missing("before the run is finished", phases().size());
    return stats_;
  }

  void cancel() {
    is_to_end_.store(true);  // a wait
    const std::lock_guard lock(mutex_);
    was_cancelled_ = was_cancelled_ || run_ != nullptr;
    close(false);
  }

 private:
  std::string name_of(std::size_t parameter) const {
    const std::string& name = program_->graph[program_->graph.inputs()[parameter]].name;
    return name.empty() ? fmt::format("number {}", parameter) : fmt::format("'{}'", name);
  }

  /// Takes the phases whose arguments have all come, until there are none. Results that have come stay, also
  /// where the run ends by an error.
  void go_on(const std::atomic<bool>* cancel) {
    if (error_ != nullptr || run_ == nullptr) return;
    options_.cancel = cancel != nullptr ? cancel : cancel_;
    try {
      for (std::vector<std::vector<Value>> next = take_phases(); !next.empty(); next = take_phases()) {
        exec::with_errors_of_the_system(options_, [&] { run_->go_on(next); });
        keep_results();
      }
    } catch (...) {
      error_ = std::current_exception();
      close(false);
      return;
    }
    if (next_phase_ == phases().size()) close(true);
  }

  std::vector<std::vector<Value>> take_phases() {
    const std::lock_guard lock(arguments_mutex_);
    std::vector<std::vector<Value>> taken;
    for (; next_phase_ < phases().size(); ++next_phase_) {
      const std::size_t end = next_argument_ + phases()[next_phase_].params;
      for (std::size_t i = next_argument_; i < end; ++i) {
        if (i >= is_fed_.size() || !is_fed_[i]) return taken;
      }
      std::vector<Value>& phase = taken.emplace_back();
      for (; next_argument_ < end; ++next_argument_) phase.push_back(std::move(arguments_[next_argument_]));
    }
    return taken;
  }

  void keep_results() {
    const std::span<const Value> all = run_->results();
    std::size_t count = 0;
    for (std::size_t i = 0; i < next_phase_; ++i) count += phases()[i].results;
    if (run_->results_to_come() > program_->graph.outputs().size() - count)
      throw exec::no_result_error(program_->graph, program_->graph.outputs()[count - 1], false, {});
    for (std::size_t i = results_.size(); i < count; ++i) results_.push_back(all[i]);
  }

  void close(bool has_ended) {
    if (run_ == nullptr) return;
    stats_ = run_->close(has_ended);
    run_.reset();
    if (options_.stats != nullptr) *options_.stats = stats_;
    const std::lock_guard lock(arguments_mutex_);
    is_over_ = true;
    arguments_.clear();
  }

  void require_open() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
    if (was_cancelled_) throw ProgramError("expected an open run, found one that was cancelled");
  }

  /// The first parameter of the first `phases` phases that has no argument.
  ProgramError missing(const std::string& when, std::size_t phase_count) {
    const std::lock_guard lock(arguments_mutex_);
    std::size_t end = 0;
    for (std::size_t i = 0; i < phase_count; ++i) end += phases()[i].params;
    std::size_t first = next_argument_;
    while (first < end && first < is_fed_.size() && is_fed_[first]) ++first;
    return ProgramError(
        fmt::format("expected an argument for parameter {} {}, found none", name_of(first), when));
  }

  const std::shared_ptr<const exec::OpenProgram> program_;
  RunOptions options_;
  const std::vector<Value> parameters_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> is_to_end_{false};

  std::mutex arguments_mutex_;  ///< guards these five; taken after the other one
  exec::ArgumentChecks checks_;
  std::vector<Value> arguments_;
  std::vector<bool> is_fed_;
  std::size_t next_argument_ = 0;
  bool is_over_ = false;

  std::mutex mutex_;                      ///< guards the rest
  std::unique_ptr<exec::PhasedRun> run_;  ///< null: it is over
  std::size_t next_phase_ = 0;
  std::vector<Value> results_;  ///< that have come
  std::exception_ptr error_;
  bool was_cancelled_ = false;
  RunStats stats_;
};

OpenRun::OpenRun(std::shared_ptr<const exec::OpenProgram> program, RunOptions options)
    : impl_(std::make_unique<Impl>(std::move(program), std::move(options))) {}
OpenRun::OpenRun(OpenRun&&) noexcept = default;
OpenRun& OpenRun::operator=(OpenRun&&) noexcept = default;
OpenRun::~OpenRun() = default;

OpenRun::Impl& OpenRun::impl() const {
  return not_moved(impl_, "an open run", "an OpenRun");
}

const std::vector<Phase>& OpenRun::phases() const {
  return impl().phases();
}

std::size_t OpenRun::parameter_count() const {
  std::size_t count = 0;
  for (const Phase& phase : phases()) count += phase.params;
  return count;
}

void OpenRun::feed(std::size_t parameter, Value argument) {
  impl().feed(parameter, std::move(argument));
}

Value OpenRun::wait(std::size_t result, const std::atomic<bool>* cancel) {
  return impl().wait(result, cancel);
}

RunStats OpenRun::finish() {
  return impl().finish();
}

void OpenRun::cancel() {
  impl().cancel();
}

}  // namespace hiaton

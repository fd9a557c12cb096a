#include "properties/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hiaton/builder.h"
#include "properties/body.h"
#include "properties/random_choices.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kMostCostOfPlain = 12;
constexpr uint64_t kMostCostOfLevel = 8;

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed), seed_(seed) {}

  Program make() {
    choose_danger_and_size();
    plan_functions();
    declare_in_any_order();
    define();
    Program program{.seed = seed_, .danger = plan_.danger, .module = builder_.finish(), .arguments = {}};
    for (std::size_t i = 0; i < main_.params.size(); ++i) program.arguments.push_back(argument(i));
    return program;
  }

 private:
  struct Planned {
    Signature signature;
    std::string name;
    std::string placement;
  };

  void choose_danger_and_size() {
    const std::size_t choice = random_.below(10);
    if (choice >= 4) plan_.danger = static_cast<Danger>((choice - 4) % 5);
    const std::size_t size = random_.below(100);
    const int nodes = size < 75   ? random_.between(5, 30)
                      : size < 97 ? random_.between(30, 70)
                                  : random_.between(70, 250);
    size_of_each_ = nodes / 2;
    most_cost_ = static_cast<uint64_t>(size < 75 ? 200 : size < 97 ? 1000 : 6000);
    if (random_.below(500) == 0) most_cost_ = 10'000;
  }

  void plan_functions() {
    for (int i = random_.between(0, 2); i > 0; --i) plain_.push_back(plan(fmt::format("p{}", i), false));
    const int with_fuel = std::max(0, random_.between(-1, 3));
    for (int i = with_fuel; i > 0; --i) with_fuel_.push_back(plan(fmt::format("f{}", i), true));
    Planned main = plan("main", with_fuel > 0 && random_.percent(8));
    (main.signature.fuel ? with_fuel_ : plain_).push_back(std::move(main));
  }

  Planned plan(std::string name, bool with_fuel) {
    Planned function{.signature = {}, .name = std::move(name), .placement = {}};
    Signature& signature = function.signature;
    for (int i = random_.between(0, 3); i > 0; --i) signature.params.push_back(random_type(random_));
    for (int i = random_.percent(70) ? 1 : random_.between(2, 3); i > 0; --i) {
      signature.results.push_back(random_type(random_));
    }
    if (with_fuel) {
      signature.fuel = random_.below(signature.params.size() + 1);
      signature.params.insert(signature.params.begin() + static_cast<std::ptrdiff_t>(*signature.fuel),
                              DType::I64);
    }
    if (random_.percent(8)) function.placement = "process:0";
    return function;
  }

  void declare_in_any_order() {
    std::vector<Planned*> order;
    for (Planned& function : plain_) order.push_back(&function);
    for (Planned& function : with_fuel_) order.push_back(&function);
    random_.shuffle(order);
    for (Planned* function : order) declare(*function);
    for (const Planned& function : with_fuel_) plan_.with_fuel.push_back(function.signature);
  }

  void declare(Planned& planned) {
    std::vector<ir::ValueInfo> params;
    for (const DType type : planned.signature.params) {
      params.push_back({type, fmt::format("a{}", params.size())});
    }
    if (planned.signature.fuel) params[*planned.signature.fuel].name = "fuel";
    const std::vector<Type> results(planned.signature.results.begin(), planned.signature.results.end());
    planned.signature.ref = builder_.declare(planned.name, std::move(params), results);
    builder_.module()[planned.signature.ref.id].placement = planned.placement;
  }

  /// Plain functions call plain ones defined before them, those with fuel also each other, main everything.
  void define() {
    const bool main_has_fuel = !with_fuel_.empty() && with_fuel_.back().name == "main";
    const std::vector<Signature> with_fuel = std::exchange(plan_.with_fuel, {});
    for (const Planned& function : plain_) {
      if (function.name == "main") continue;
      Signature signature = function.signature;
      define(signature, kMostCostOfPlain);
      plan_.plain.push_back(signature);
    }
    plan_.with_fuel = with_fuel;
    for (Signature& signature : plan_.with_fuel) define(signature, kMostCostOfLevel);
    if (main_has_fuel) {
      main_ = plan_.with_fuel.back();
    } else {
      main_ = plain_.back().signature;
      define(main_, most_cost_);
    }
  }

  void define(Signature& signature, uint64_t most_cost) {
    builder_.define(signature.ref, [&](FunctionBuilder& f) {
      plan_.size = size_of_each_;
      return BodyMaker(random_, plan_, signature, f, most_cost).make();
    });
  }

  Value argument(std::size_t index) {
    if (main_.fuel != index) return random_value(random_, main_.params[index]);
    return Value(int64_t{plan_.affordable_fuel(most_cost_)});
  }

  Random random_;
  uint64_t seed_;
  Plan plan_;
  int size_of_each_ = 0;  ///< nodes of a function, about
  uint64_t most_cost_ = 0;
  std::vector<Planned> plain_;
  std::vector<Planned> with_fuel_;
  ModuleBuilder builder_;
  Signature main_;
};

}  // namespace

Program generate(uint64_t seed) {
  return Maker(seed).make();
}

}  // namespace hiaton::properties

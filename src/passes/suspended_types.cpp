#include "passes/suspended_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::passes {

/// Whether a value of the type, or one that it holds, has suspended fields.
bool SuspendedTypes::is_changed(const Type& type) {
  if (!type.is_data() || is_string(type)) return false;
  if (const auto known = changed_.find(type.data.get()); known != changed_.end()) return known->second;
  std::vector<Type> seen{type};
  bool found = false;
  for (std::size_t i = 0; i < seen.size() && !found; ++i) {
    const Type next = seen[i];
    found = fields_.has_any(next.data.get());
    for (std::size_t v = 0; v < next.data->variants.size(); ++v) {
      for (std::size_t k = 0; k < next.data->variants[v].fields.size(); ++k) {
        const Type field = field_type(next, v, k);
        const bool is_new = field.is_data() && !is_string(field) &&
                            std::ranges::none_of(seen, [&](const Type& other) { return other == field; });
        if (is_new) seen.push_back(field);
      }
    }
  }
  return changed_[type.data.get()] = found;
}

Type SuspendedTypes::own(const Type& type) {
  if (!type.is_data() || is_string(type)) return type;
  DataTypes& types = builder_.module().data_types;
  if (const std::optional<Type> known = types.find(type.data->name)) return *known;
  const Type made = types.declare(type.data->name);
  std::vector<Variant> variants = type.data->variants;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    for (std::size_t i = 0; i < variants[v].fields.size(); ++i)
      variants[v].fields[i].type = own(field_type(type, v, i));
  }
  types.define(made, std::move(variants));
  return made;
}

Type SuspendedTypes::computed(const Type& type) {
  if (!is_changed(type)) return own(type);
  if (const auto known = computed_.find(type.data.get()); known != computed_.end()) return known->second;
  DataTypes& types = builder_.module().data_types;
  const Type made = types.declare(fmt::format("OnDemand[{}]", type.data->name));
  computed_[type.data.get()] = made;
  std::vector<Variant> variants = type.data->variants;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    for (std::size_t i = 0; i < variants[v].fields.size(); ++i) {
      const Type field = field_type(type, v, i);
      variants[v].fields[i].type = fields_.is_suspended(type, v, i) ? suspended(field) : computed(field);
    }
  }
  types.define(made, std::move(variants));
  return made;
}

Type SuspendedTypes::suspended(const Type& type) {
  return suspension_of(type).type;
}

SuspendedTypes::Suspension& SuspendedTypes::suspension_of(const Type& type) {
  const Type value = computed(type);
  const std::string name = to_string(value);
  if (const auto known = by_name_.find(name); known != by_name_.end()) return *known->second;
  DataTypes& types = builder_.module().data_types;
  Suspension& made = suspensions_.emplace_back();
  by_name_[name] = &made;
  made.type = types.declare(fmt::format("Suspended[{}]", name));
  made.value = value;
  types.define(made.type, {{"Computed", {{"value", value}}}});
  made.callees.emplace_back();
  made.arguments.push_back(1);
  made.demand = builder_.declare(name_for("demand", type), {{made.type, "suspended"}}, {value});
  return made;
}

/// A name for a function of the type, which is not taken.
std::string SuspendedTypes::name_for(const std::string& verb, const Type& type) const {
  std::string name = verb + "_";
  for (const char c : to_string(type)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (name.back() != '_')
      name += '_';
  }
  while (name.back() == '_') name.pop_back();
  return builder_.unused_name(name);
}

Var SuspendedTypes::hold(FunctionBuilder& f, Var value, const Type& type) {
  return f.make(suspended(type), 0, {value});
}

std::size_t SuspendedTypes::variant_of(Suspension& suspension, FunctionRef callee,
                                       const std::vector<Var>& arguments) {
  for (std::size_t v = 1; v < suspension.callees.size(); ++v) {
    if (suspension.callees[v].id == callee.id) return v;
  }
  std::vector<Variant> variants = suspension.type.data->variants;
  Variant& made = variants.emplace_back(Variant{builder_.module()[callee.id].name + "...", {}});
  for (std::size_t i = 0; i < arguments.size(); ++i)
    made.fields.push_back({fmt::format("captured{}", i + 1), arguments[i].type()});
  // The memory that holds the value later.
  if (arguments.empty()) made.fields.push_back({"nothing", DType::Bool});
  builder_.module().data_types.redefine(suspension.type, std::move(variants));
  suspension.callees.push_back(callee);
  suspension.arguments.push_back(arguments.size());
  return suspension.callees.size() - 1;
}

Var SuspendedTypes::suspend(FunctionBuilder& f, FunctionRef callee, const std::vector<Var>& arguments,
                            const Type& type) {
  Suspension& suspension = suspension_of(type);
  const std::size_t variant = variant_of(suspension, callee, arguments);
  std::vector<Var> fields = arguments;
  if (fields.empty()) fields.push_back(f.constant(false));
  return f.make(suspension.type, variant, fields);
}

Var SuspendedTypes::demand(FunctionBuilder& f, Var suspension, const Type& type) {
  return f.call(suspension_of(type).demand, {suspension});
}

/// What the variants from `begin` to `end` give, by halves where they are many.
Vars SuspendedTypes::demanded(FunctionBuilder& f, const Suspension& suspension, Var number, std::size_t begin,
                              std::size_t end) {
  const Var whole = f.param(0);
  if (begin + 1 == end) {
    if (begin == 0) return f.field(whole, 0, 0);
    std::vector<Var> arguments;
    for (std::size_t i = 0; i < suspension.arguments[begin]; ++i)
      arguments.push_back(f.field(whole, begin, i));
    f.set_span(f.module()[suspension.callees[begin].id].span);
    const Var value = f.call(suspension.callees[begin], arguments);
    return f.op(settle_operation(), {value, whole}, {static_cast<int64_t>(begin)});
  }
  constexpr std::size_t kOneByOne = 12;
  const bool is_long = end - begin > kOneByOne && begin > 0;
  const std::size_t middle = is_long ? begin + (end - begin) / 2 : begin + 1;
  const Var first = is_long ? number < static_cast<int64_t>(middle) : number == static_cast<int64_t>(begin);
  return f.if_else(
      first, [&] { return demanded(f, suspension, number, begin, middle); },
      [&] { return demanded(f, suspension, number, middle, end); });
}

void SuspendedTypes::define_demand(const Suspension& suspension) {
  builder_.define(suspension.demand, [&](FunctionBuilder& f) {
    const std::size_t count = suspension.callees.size();
    const Var number = count > 1 ? f.variant(f.param(0)) : Var();
    return demanded(f, suspension, number, 0, count);
  });
}

Var SuspendedTypes::from_outside(FunctionBuilder& f, Var value, const Type& type) {
  return is_changed(type) ? Var(f.call(function_from_outside(type), {value})) : value;
}

FunctionRef SuspendedTypes::function_from_outside(const Type& type) {
  const auto [known, is_new] = from_outside_.try_emplace(type.data.get());
  if (!is_new) return known->second;
  const FunctionRef made =
      builder_.declare(name_for("given", type), {{own(type), "value"}}, {computed(type)});
  from_outside_[type.data.get()] = made;
  to_define_.emplace_back([this, type, made] {
    builder_.define(made, [&](FunctionBuilder& f) {
      return each_variant(f, type, computed(type), [&](Var field, const Type& its, bool is_suspended) {
        if (!is_suspended) return from_outside(f, field, its);
        return is_changed(its) ? suspend(f, function_from_outside(its), {field}, its) : hold(f, field, its);
      });
    });
  });
  return made;
}

Var SuspendedTypes::to_outside(FunctionBuilder& f, Var value, const Type& type) {
  if (!is_changed(type)) return value;
  const auto [known, is_new] = to_outside_.try_emplace(type.data.get());
  if (is_new) {
    const FunctionRef made =
        builder_.declare(name_for("result", type), {{computed(type), "value"}}, {own(type)});
    to_outside_[type.data.get()] = made;
    to_define_.emplace_back([this, type, made] {
      builder_.define(made, [&](FunctionBuilder& g) {
        return each_variant(g, type, own(type), [&](Var field, const Type& its, bool is_suspended) {
          return to_outside(g, is_suspended ? demand(g, field, its) : field, its);
        });
      });
    });
  }
  return f.call(to_outside_[type.data.get()], {value});
}

/// A value of the type `to` of the same variant as the parameter, with fields that `convert` makes.
Vars SuspendedTypes::each_variant(FunctionBuilder& f, const Type& type, const Type& to,
                                  const std::function<Var(Var, const Type&, bool)>& convert) {
  std::vector<std::function<Vars(const Vars&)>> cases;
  for (std::size_t v = 0; v < type.data->variants.size(); ++v) {
    cases.emplace_back([&, v](const Vars& fields) -> Vars {
      std::vector<Var> made;
      for (std::size_t i = 0; i < fields.size(); ++i)
        made.push_back(convert(fields[i], field_type(type, v, i), fields_.is_suspended(type, v, i)));
      return f.make(to, v, made);
    });
  }
  return f.match(f.param(0), cases);
}

void SuspendedTypes::finish() {
  while (!to_define_.empty()) {
    const std::function<void()> define = std::move(to_define_.front());
    to_define_.pop_front();
    define();
  }
  for (const Suspension& suspension : suspensions_) define_demand(suspension);
}

}  // namespace hiaton::passes

// "Did you mean ...": the known name that is most like an unknown one.
#pragma once

#include <string>
#include <string_view>

namespace hiaton::lang {

class Suggestion {
 public:
  explicit Suggestion(std::string_view unknown);

  void offer(std::string_view known);
  /// "; did you mean 'fact'?", or nothing where no offered name is near.
  std::string text() const;

 private:
  std::string_view unknown_;
  std::string_view best_;
  std::size_t best_distance_;
};

}  // namespace hiaton::lang

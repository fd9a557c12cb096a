#include "kernels/onednn.h"

#include <fmt/format.h>

#include <new>

#include "hiaton/error.h"

namespace hiaton::kernels {

const OneDnn& onednn() {
  static const OneDnn loaded;
  return loaded;
}

dnnl_engine_t onednn_cpu() {
  static dnnl_engine* const engine = [] {  // it stays until the process ends
    dnnl_engine_t made = nullptr;
    check_onednn(onednn().engine_create(&made, dnnl_cpu, 0), "use the processor");
    return made;
  }();
  return engine;
}

void check_onednn(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  throw Error(fmt::format("oneDNN cannot {}: its status is {}", what, static_cast<int>(status)));
}

}  // namespace hiaton::kernels

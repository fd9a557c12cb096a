// oneDNN, by its C interface. Its library is loaded when the first convolution runs: to load it takes longer
// than many a program.
#pragma once

#include <dnnl.h>

#include <memory>
#include <type_traits>

#include "base/shared_library.h"

namespace hiaton::kernels {

/// The functions of oneDNN that convolutions call. One for the process: onednn().
class OneDnn {
  const SharedLibrary library_{"libdnnl.so." HIATON_ONEDNN_MAJOR, "convolutions",
                               "libdnnl" HIATON_ONEDNN_MAJOR};

 public:
  OneDnn() = default;
  OneDnn(const OneDnn&) = delete;
  OneDnn& operator=(const OneDnn&) = delete;

#define HIATON_FUNCTION(name) \
  decltype(&::dnnl_##name) const name = library_.find<decltype(::dnnl_##name)>("dnnl_" #name)
  HIATON_FUNCTION(engine_create);
  HIATON_FUNCTION(stream_create);
  HIATON_FUNCTION(stream_wait);
  HIATON_FUNCTION(stream_destroy);
  HIATON_FUNCTION(memory_desc_init_by_tag);
  HIATON_FUNCTION(memory_desc_equal);
  HIATON_FUNCTION(memory_create);
  HIATON_FUNCTION(memory_set_data_handle);
  HIATON_FUNCTION(memory_destroy);
  HIATON_FUNCTION(dilated_convolution_forward_desc_init);
  HIATON_FUNCTION(dilated_convolution_backward_data_desc_init);
  HIATON_FUNCTION(dilated_convolution_backward_weights_desc_init);
  HIATON_FUNCTION(reorder_primitive_desc_create);
  HIATON_FUNCTION(primitive_desc_create);
  HIATON_FUNCTION(primitive_desc_query_md);
  HIATON_FUNCTION(primitive_desc_destroy);
  HIATON_FUNCTION(primitive_create);
  HIATON_FUNCTION(primitive_execute);
  HIATON_FUNCTION(primitive_destroy);
#undef HIATON_FUNCTION

  // OpenMP runs the threads of oneDNN.
  int (*const omp_get_max_threads)() = library_.find<int()>("omp_get_max_threads");
  void (*const omp_set_num_threads)(int) = library_.find<void(int)>("omp_set_num_threads");
};

/// Loads oneDNN at the first call. Throws Error where it is not installed.
const OneDnn& onednn();
/// The processor, for all of the process.
dnnl_engine_t onednn_cpu();

/// Throws std::bad_alloc, or Error that says what oneDNN could not do.
void check_onednn(dnnl_status_t status, const char* what);

/// An object of oneDNN that somebody owns.
template <class T>
using OneDnnHandle = std::unique_ptr<std::remove_pointer_t<T>, dnnl_status_t (*)(T)>;

/// While it lives, oneDNN runs all that its thread wants on that thread: the callers are the threads.
class OneThread {
 public:
  OneThread() : before_(onednn().omp_get_max_threads()) { onednn().omp_set_num_threads(1); }
  ~OneThread() { onednn().omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

}  // namespace hiaton::kernels

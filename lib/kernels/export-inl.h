// WEFT_EXPORT(type, name), after HWY_AFTER_NAMESPACE: defines name_kernel() of kernels.hpp, which
// returns the function `name` for the best SIMD target that this machine runs. Highway's dispatch
// tables do not take noexcept functions, but functions that return them.
#undef WEFT_EXPORT
#if HWY_ONCE
#define WEFT_EXPORT(type, name)                      \
  WEFT_OF_TARGET(type, name)                         \
  namespace weft::kernels {                          \
  HWY_EXPORT(name##_of_target);                      \
  type name##_kernel() noexcept {                    \
    return HWY_DYNAMIC_DISPATCH(name##_of_target)(); \
  }                                                  \
  }
#else
#define WEFT_EXPORT(type, name) WEFT_OF_TARGET(type, name)
#endif

#undef WEFT_OF_TARGET
#define WEFT_OF_TARGET(type, name)         \
  namespace weft::kernels::HWY_NAMESPACE { \
  type name##_of_target() {                \
    return &name;                          \
  }                                        \
  }

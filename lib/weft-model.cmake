# weft_add_model(<target> <header> <model>... [RESULTS <name>...] [TRAINING <loss>])
#
# Generates code for models that the header declares, for every SIMD target, and adds it to the
# CMake target: for weft::generated<model, results...>() or, with TRAINING, for
# weft::generated_training<model, loss>(). The header is a file, or a path as in #include "...".
#
# Models of one call are compiled as one file, named after the first. That takes less time in all
# than a file each, since most of a small model's time is the headers', but they do not compile in
# parallel.
function(weft_add_model target header)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TRAINING" "RESULTS")
  set(models ${arg_UNPARSED_ARGUMENTS})
  if(NOT models OR (DEFINED arg_TRAINING AND DEFINED arg_RESULTS))
    message(FATAL_ERROR
      "weft_add_model(<target> <header> <model>... [RESULTS <name>... | TRAINING <loss>])")
  endif()
  set(kind inference)
  if(DEFINED arg_TRAINING)
    set(kind training)
  endif()
  set(names "")
  foreach(name IN LISTS arg_RESULTS arg_TRAINING)
    string(APPEND names ", \"${name}\"")
  endforeach()
  list(JOIN ARGV " " said)
  set(said "weft_add_model(${said})")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set(header ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endif()

  # What the file says of each model.
  set(check [[
static_assert(!weft::in_unnamed_namespace<@model@>(),
              "@said@: @model@ is in an unnamed namespace, and so in each file another one");
static_assert(weft::detail::has_results<@model@@names@>(),
              "@said@: @model@ has no result of this name");
]])
  set(functions [[
generated_steps steps_@number@() {
  return steps_of<@unit@>();
}
]])
  set(dispatch [[
namespace generate {
generated_steps steps_of_best_target(tag<@unit@>) noexcept {
  return WEFT_OF_BEST_TARGET(steps_@number@)();
}
}  // namespace generate
template struct detail::made_by_weft_add_model<@unit@>;
]])
  set(parts check functions dispatch)
  set(number 0)
  foreach(model IN LISTS models)
    set(unit "${kind}<${model}${names}>")
    foreach(part IN LISTS parts)
      string(CONFIGURE "${${part}}" text @ONLY)
      string(APPEND ${part}_of_all "${text}")
    endforeach()
    math(EXPR number "${number} + 1")
  endforeach()

  list(GET models 0 first)
  string(MAKE_C_IDENTIFIER "${kind}<${first}${names}>" name)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/weft_models/${target}/${name}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weft-model.cpp.in ${file} @ONLY)
  target_sources(${target} PRIVATE ${file})
  # Stops at the first error, which is the informative one: the file is compiled once per SIMD
  # target.
  weft_own_flags(flags)
  set_source_files_properties(${file} PROPERTIES
    COMPILE_OPTIONS "-Wfatal-errors;${flags}" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

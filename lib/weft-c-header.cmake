# Writes <prefix>.h, and functions.cpp, from what generate/c_library.hpp has put into an object file.
# -D OBJECT=<object file> -D FOLDER=<where to> -D prefix=<library> -D model=<its class> -D version=<weft's>
# -D weights=<the file inside>
cmake_minimum_required(VERSION 3.25)
string(TOUPPER ${prefix} PREFIX)
set(C_float float)
set(C_int32 int)
set(C_bool "unsigned char")
set(C_bfloat16 "unsigned short")
# The arguments of a run for an input are given, those for a result are set.
set(begin_input in)
set(begin_result out)
set(const_input "const ")
set(star_result "*")
# A name in C's style, in_key_pos of in_KeyPos; of two alike, the second ends in an underscore.
macro(name variable from)
  string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" ${variable} "${from}")
  string(MAKE_C_IDENTIFIER "${${variable}}" ${variable})
  string(TOLOWER ${${variable}} ${variable})
  while(${variable} IN_LIST names)
    string(APPEND ${variable} _)
  endwhile()
  list(APPEND names ${${variable}})
  string(TOUPPER "${PREFIX}_${${variable}}" define)
endmacro()
set(functions [[
#pragma GCC visibility push(default)
#include "@prefix@.h"
#pragma GCC visibility pop
extern "C" int weft_c_@prefix@_run(@prefix@*, const size_t*, const void* const*, void* const*, size_t* const*);
extern "C" int weft_c_@prefix@_reset(@prefix@*, int, size_t);
const char* @prefix@_version(void) { return @PREFIX@_VERSION; }
int @prefix@_run(@prefix@ *model@parameters@) {
  const size_t lengths[] = {@lengths_input@0};
  const void* const inputs[] = {@input@0};
  void* const results[] = {@result@0};
  size_t* const found[] = {@lengths_result@0};
  return weft_c_@prefix@_run(model, lengths, inputs, results, found);
}
]])
set(number 0)
file(STRINGS ${OBJECT} lines REGEX "^weft_c[|]" NO_HEX_CONVERSION)
list(REMOVE_DUPLICATES lines)  # it may be in debug information, too
foreach(line IN LISTS lines)
  string(REPLACE "|" ";" fields "${line}")
  list(POP_FRONT fields marked what type called)
  if(what STREQUAL "model")
    set(bytes ${type})
    set(hash ${called})
  elseif(what STREQUAL "reset")
    name(axis "reset_${type}")
    set(reset "int ${prefix}_${axis}(${prefix} *model, size_t index)")
    string(APPEND resets "/* The same at one index of ${type} alone. */\n${reset};\n")
    string(APPEND functions "${reset} { return weft_c_${prefix}_reset(model, ${number}, index); }\n")
    math(EXPR number "${number} + 1")
  else()
    set(elements 1)
    set(dimensions "")
    set(axes "")
    foreach(field IN LISTS fields)
      string(REPLACE "~" ";" field "${field}")
      list(POP_FRONT field kind axis of slot least most)
      string(APPEND axes ", ${axis}")
      math(EXPR elements "${elements} * ${most}")
      set(key "${slot} ${of} ${most}")
      if(NOT DEFINED length_${key})
        name(length "n_${of}")
        set(length_${key} ${length})
        if(kind STREQUAL "fixed")
          set(length_${key} ${most})
          string(APPEND constants "#define ${define} ${most} /* ${of} */\n")
        else()
          string(APPEND constants "#define ${define}_LEAST ${least} /* ${of} */\n#define ${define}_MOST ${most}\n")
          string(APPEND lengths_${kind} "${length}, ")
          string(APPEND parameters_${kind} ",\n    size_t ${star_${kind}}${length} /* ")
          string(APPEND parameters_${kind} "length of ${of}, ${least} to ${most} */")
        endif()
      endif()
      string(APPEND dimensions "[${length_${key}}]")
    endforeach()
    name(leaf "${begin_${what}}_${called}")
    string(APPEND parameters ",\n    ${const_${what}}${C_${type}} *${leaf}")
    string(APPEND parameters " /* '${called}': ${type} ${dimensions}${axes} */")
    string(APPEND ${what} "${leaf}, ")
    string(APPEND constants "#define ${define}_ELEMENTS ${elements} /* at most */\n")
  endif()
endforeach()
if(NOT bytes)
  message(FATAL_ERROR "weft_add_c_library: there is no text of ${prefix}.h in ${OBJECT}, or its names are too long")
endif()
set(parameters "${parameters_input}${parameters}${parameters_result}")
string(CONFIGURE "${functions}" functions @ONLY)
file(WRITE ${FOLDER}/functions.cpp "${functions}")
file(READ ${CMAKE_CURRENT_LIST_DIR}/weft-c-library.h.in text)
string(CONFIGURE "${text}" text @ONLY)
file(WRITE ${FOLDER}/${prefix}.h "${text}")

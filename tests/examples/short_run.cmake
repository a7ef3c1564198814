# Runs PROGRAM with ARGUMENTS, a few steps: the exit status must be STATUS; the last,
# machine-readable line must be RESULT and then SPEED; the PICTURES must be PNG files in FOLDER; and
# the same seed must give the same text except for the speed.
foreach(i 1 2)
  execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} --pictures ${FOLDER} RESULT_VARIABLE status
    OUTPUT_VARIABLE out ERROR_VARIABLE text)
  if(NOT status STREQUAL STATUS)
    message(FATAL_ERROR "exit status ${status}, and ${STATUS} was expected: ${text}")
  endif()
  if(NOT out MATCHES "\n${RESULT}${SPEED}\n$")
    message(FATAL_ERROR "the last line is not what programs read: ${out}")
  endif()
  string(REGEX REPLACE "${SPEED}\n$" "" out_${i} "${out}")
endforeach()
if(NOT out_1 STREQUAL out_2)
  message(FATAL_ERROR "two runs with one seed differ:\n${out_1}\n${out_2}")
endif()
foreach(picture IN LISTS PICTURES)
  file(READ ${FOLDER}/${picture} magic LIMIT 8 HEX)
  if(NOT magic STREQUAL "89504e470d0a1a0a")
    message(FATAL_ERROR "${picture} is not a PNG file")
  endif()
endforeach()

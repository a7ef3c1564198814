# char_lm on ranks: whatever their number, and from the checkpoint of another number, it comes to the
# same losses and the same text.
#
# -D "RUN=<mpirun and the option for the number of ranks>" -D PROGRAM=<char_lm> -D TEXT=<file>
# -D WORK=<folder>
file(MAKE_DIRECTORY ${WORK})
file(REMOVE ${WORK}/checkpoint)
function(run ranks said)
  execute_process(
    COMMAND ${RUN} ${ranks} ${PROGRAM} --mpi --text ${TEXT} --steps 4 --batch 6 --sample 30
      --pictures ${WORK} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  # Four steps learn less than to count pairs: the status of rank 0 is 1.
  if(NOT code EQUAL 1 OR NOT text MATCHES "held-out: [0-9]")
    message(FATAL_ERROR "${ranks} ranks ended with ${code}\n${text}\n${errors}")
  endif()
  string(REGEX REPLACE "  tokens/s.*" "" text "${text}")
  set(${said} "${text}" PARENT_SCOPE)
endfunction()
run(1 one)
run(3 three --checkpoint ${WORK}/checkpoint)
run(2 resumed --checkpoint ${WORK}/checkpoint)
if(NOT one STREQUAL three OR NOT one STREQUAL resumed)
  message(FATAL_ERROR "1 rank:\n${one}\n3 ranks:\n${three}\n2 ranks from their checkpoint:\n${resumed}")
endif()

# One rank of three or four ends in the fourth step: all end within 10 seconds (and 5 to start), with a
# message that names the rank, and the file of the third step is whole.
#
# -D RUN=<mpirun with its options, or hosts.sh> -D PROGRAM=<weft_mpi_faults> -D WORK=<folder>
function(must_end what sentence)
  set(file ${WORK}/${what}.safetensors)
  file(REMOVE ${file})
  execute_process(COMMAND ${RUN} ${PROGRAM} ${what} ${file} TIMEOUT 15
    RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(code EQUAL 77)
    message("skipped: ${said}")
    return()
  endif()
  if(code EQUAL 0 OR NOT said MATCHES "${sentence}")
    message(FATAL_ERROR "${what}: ended with ${code}, and should say: ${sentence}\n${said}")
  endif()
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${what}: there is no checkpoint")
  endif()
  execute_process(COMMAND ${PROGRAM} reads ${file} RESULT_VARIABLE code ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what}: the last checkpoint is not whole\n${said}")
  endif()
  file(REMOVE ${file})
endfunction()
# MPICH names the process by its number.
must_end(killed "rank 1 .*signal 9|PID .*signal 9")
must_end(throws "rank 1 of [34]: the disk of this rank is full; all ranks end")
must_end(wrong "rank 1 of [34]: argument 'tokens': element 0 is -1")
must_end(caught "rank 1 of [34]: left by an exception")
must_end(own "rank 1 of [34]: left by an exception")

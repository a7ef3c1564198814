// Refers to a file in the program before main().
#include <weft/files/embedded.hpp>

const bool has_its_file = weft::embedded<"model.hpp">().front() == std::byte{'#'} ||
                          (throw "the embedded file is another one", false);

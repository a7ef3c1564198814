#include "support/program.hpp"

#include <cstdio>
#include <system_error>
#include <weft/run/error.hpp>

namespace examples {

int run_program(CLI::App& app, int argc, const char* const* argv,
                const std::function<void()>& run) {
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help
    std::fprintf(stderr, "%s: %s (%s --help says what is allowed)\n", name.c_str(), e.what(),
                 name.c_str());
  } catch (const weft::error& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
  }
  return 2;
}

void check_folder(const std::string& option, const std::filesystem::path& folder) {
  // Without an error code, is_directory would throw for a name that is too long.
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed))
    throw weft::error(option + ": " + folder.string() + " is not a folder");
}

}  // namespace examples

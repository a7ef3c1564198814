// Walks through the attention chapter's demonstrations, and writes a page of them.
#include <iostream>

#include "settings.hpp"
#include "support/program.hpp"
#include "tour.hpp"

int main(int argc, char** argv) {
  attention_tour::settings s;
  CLI::App app("Runs the attention chapter's demonstrations, and writes a page of them.",
               "attention_tour");
  attention_tour::add_options(app, s);
  return examples::run_program(app, argc, argv, [&] {
    attention_tour::check(s);
    attention_tour::run(std::cout).save(s.out);
    std::cout << "\npage: " << s.out << "\n";
  });
}

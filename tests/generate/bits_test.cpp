// Generated code has the same bits on all SIMD targets of a family.
#include <boost/test/unit_test.hpp>

#include "bits/hashes.hpp"
#include "bits/subject.hpp"
#include "generate/models.hpp"
#include "weft/run/generated.hpp"

namespace {

using namespace weft::generating;
using weft::testing::hashes, weft::testing::source_of, weft::testing::subject;

}  // namespace

BOOST_AUTO_TEST_SUITE(generated_bits, *boost::unit_test::label("full"))

// Those of tests/CMakeLists.txt that are generated for every target.
BOOST_AUTO_TEST_CASE(generated_code_has_the_same_bits_on_all_targets_of_a_family) {
  hashes all("generated");
  const auto add = [&]<class Unit>(const std::string& name, weft::generated_code<Unit> code) {
    static const subject s(source_of<Unit>());
    if (code.made().of == nullptr) return;  // as for one lane: the library's kernels compute it
    all.add(name, s.hash({.generated = code.made}));
  };
  all.check_on_every_target([&] {
    add("narrow", weft::generated<narrow>());
    add("odd", weft::generated<odd>());
    add("awkward_rows", weft::generated<awkward_rows>());
    add("awkward_elements", weft::generated<awkward_elements>());
    add("special_elements", weft::generated<special_elements>());
    add("awkward_attention", weft::generated<awkward_attention>());
    add("padded_awkward_attention", weft::generated<padded_awkward_attention>());
    add("t5_attention", weft::generated<t5_attention>());
    add("turning_awkward", weft::generated<turning_awkward>());
    add("fixed_waves", weft::generated<fixed_waves>());
    add("fixed_encoder", weft::generated<fixed_encoder, "y">());
    add("perceptron.gradients", weft::generated_training<perceptron>());
    add("recurrent.gradients", weft::generated_training<recurrent>());
  });
}

BOOST_AUTO_TEST_SUITE_END()

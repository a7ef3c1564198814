#define BOOST_TEST_MODULE weft examples
#include <boost/test/unit_test.hpp>

#define BOOST_TEST_MODULE weft laws
#include <boost/test/unit_test.hpp>

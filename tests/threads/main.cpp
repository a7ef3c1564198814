#define BOOST_TEST_MODULE weft threadss
#include <boost/test/unit_test.hpp>

#define BOOST_TEST_MODULE weft kernels
#include <boost/test/unit_test.hpp>

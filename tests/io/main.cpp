#define BOOST_TEST_MODULE weft io
#include <boost/test/unit_test.hpp>

#define BOOST_TEST_MODULE weft models
#include <boost/test/unit_test.hpp>

#include "study.hpp"

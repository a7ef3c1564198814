#pragma once

// The product of 1 2 3 with itself by weft's kernels; -1 where generated code gives another result
// than it should.
float answer();
// Whether weft's library throws weft::error where lengths differ.
bool refuses_other_lengths();

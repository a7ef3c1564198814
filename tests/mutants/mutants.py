"""Deliberate mistakes: in `file` the text `old`, which occurs once, becomes `new`."""

# In the order in which they are asked; the first that fails has killed the mutant.
PROGRAMS = ["weft_random_test", "weft_passes_test", "weft_kernels_test", "weft_ops_test",
            "weft_nn_test", "weft_models_test", "weft_run_test"]

MUTANTS = [
    {
        "name": "plan: a normalised sum overwrites its gain",
        "file": "include/weft/graph/op.hpp",
        "old": "return operands < 4 || operand == 0 || operand == 3;",
        "new": "return operands < 5 || operand == 0;",
    },
]

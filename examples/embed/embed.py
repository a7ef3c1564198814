"""Prints the first elements of a text's vector, by the library that is its argument."""
import ctypes, sys
import numpy as np

lib = ctypes.CDLL(sys.argv[1])
lib.encoder_error.restype = ctypes.c_char_p
def call(name, *arguments):
    if getattr(lib, "encoder_" + name)(*arguments): raise ValueError(lib.encoder_error().decode())

model = ctypes.c_void_p()
call("create", ctypes.byref(model), None, ctypes.c_size_t(0))
tokens = np.frombuffer(b"A model in C.", np.uint8).astype(np.int32)
vector = np.empty(32, np.float32)
call("run", model, ctypes.c_size_t(len(tokens)), tokens.ctypes, vector.ctypes)
print(*(f"{x:.9g}" for x in vector[:4]), sep="\n")

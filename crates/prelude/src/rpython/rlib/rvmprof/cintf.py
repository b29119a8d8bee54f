"""The part of the sampling profiler that is C code: there is none."""
IS_SUPPORTED = False
NATIVE_PROFILING_SUPPORTED = False

"""Entries of the original toolchain's just-in-time compiler: names for what programs import to
test their hints, which they cannot do here."""


def jittify_and_run(*args, **kwds):
    raise NotImplementedError("programs cannot be run under a just-in-time compiler here")

ll_meta_interp = jittify_and_run

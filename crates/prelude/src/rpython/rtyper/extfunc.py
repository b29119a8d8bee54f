"""Functions that other functions implement once a program is translated."""


def register_external(function, args, result=None, export_name=None, llimpl=None,
                      llfakeimpl=None, sandboxsafe=False):
    """Calls of function become calls of llimpl, a function in RPython; without one, of
    llfakeimpl, by which the original's interpreter of low-level code stands for it."""
    llimpl = llimpl or llfakeimpl
    if llimpl is None:
        raise NotImplementedError("register_external(%s): an llimpl is required; use "
                                  "rffi.llexternal for functions of a C library"
                                  % (export_name or function.__name__))
    function._llimpl_ = llimpl

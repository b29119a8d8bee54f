"""The log of the tracing JIT, which nothing writes."""


class JitlogError(Exception):
    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg


def enable_jitlog(fileno):
    """Where the log would go."""
    raise JitlogError("this program was compiled without the log of the JIT")


def disable_jitlog():
    pass


def stats_flush_trace_counts(warmrunnerdesc):
    pass

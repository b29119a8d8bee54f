"""Signals, which are left to what the system does by default."""

SIGINT = 2
SIGTERM = 15
NSIG = 65


def pypysig_poll():
    """The number of a signal that has arrived, or -1."""
    return -1


def pypysig_setflag(signum):
    """Notes the signal from now on."""


def pypysig_default(signum):
    pass


def pypysig_ignore(signum):
    pass

"""Random bytes of the system."""
import os


def init_urandom():
    return None


def urandom(n, signal_checker=None):
    """That many random bytes."""
    return os.urandom(n)

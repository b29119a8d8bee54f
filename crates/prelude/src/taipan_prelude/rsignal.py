"""Signals. They are noted as they arrive, and asked for."""
from taipan_lowlevel import (
    rpy_signal_set, rpy_signal_poll, rpy_signal_push, rpy_signal_wakeup_fd,
    rpy_signal_wakeup_errno)
from taipan_prelude.rposix import checked

def ll_default(number):
    checked(rpy_signal_set(number, 0))

def ll_ignore(number):
    checked(rpy_signal_set(number, 1))

def ll_note(number):
    checked(rpy_signal_set(number, 2))

def ll_poll():
    return rpy_signal_poll()

def ll_push(number):
    rpy_signal_push(number)

def ll_wakeup_fd(fd, with_nul_byte):
    return rpy_signal_wakeup_fd(fd, with_nul_byte)

def ll_wakeup_errno():
    return rpy_signal_wakeup_errno()

"""What depends on the machine that a program is compiled for."""

import os
import platform
from rpython.rlib import rthread, rgil
from rpython.rlib.rstacklet import StackletThread
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo


class CConfig:
    _compilation_info_ = ExternalCompilationInfo(
        includes=['fcntl.h', 'sys/stat.h'], pre_include_bits=['#define _GNU_SOURCE'])
    O_DIRECTORY = rffi_platform.ConstantInteger('O_DIRECTORY')

config = rffi_platform.configure(CConfig)
MACHINE = platform.machine()

info = ExternalCompilationInfo(
    separate_module_sources=["""
        double half(int n, float f) { return n * (double)f; }
        signed char minus(signed char c) { return -c; }
        unsigned wide(unsigned char a, short b) { return a + b; }
    """],
    post_include_bits=['double half(int, float);',
                       'signed char minus(signed char);',
                       'unsigned wide(unsigned char, short);'])
half = rffi.llexternal('half', [rffi.INT, rffi.FLOAT], rffi.DOUBLE, compilation_info=info)
minus = rffi.llexternal('minus', [rffi.SIGNEDCHAR], rffi.SIGNEDCHAR, compilation_info=info)
wide = rffi.llexternal('wide', [rffi.UCHAR, rffi.SHORT], rffi.UINT, compilation_info=info)


class State(object):
    total = 0
    left = 0
    lock = None

state = State()


def worker():
    for i in range(100):
        state.lock.acquire(True)
        x = [i]
        state.total += x[0]
        state.lock.release()
        rgil.yield_thread()
    state.left -= 1


def threads():
    state.lock = rthread.allocate_lock()
    state.left = 1
    rthread.start_new_thread(worker, ())
    while state.left:
        rgil.yield_thread()
    return state.total


class Stacklets(object):
    pass

stacklets = Stacklets()


def piece(handle, arg):
    for i in range(3):
        stacklets.said.append(str(i))
        handle = stacklets.thread.switch(handle)
    return handle


def run_stacklets():
    stacklets.said = []
    stacklets.thread = StackletThread(None)
    handle = stacklets.thread.new(piece, llmemory.NULL)
    while not stacklets.thread.is_empty_handle(handle):
        handle = stacklets.thread.switch(handle)
    stacklets.said.append('done')
    return ' '.join(stacklets.said)


def entry_point(argv):
    print 'machine', MACHINE, os.uname()[4]
    print 'O_DIRECTORY', config['O_DIRECTORY'], os.O_DIRECTORY
    print 'threads', threads()
    print 'stacklets', run_stacklets()
    print 'C', half(rffi.cast(rffi.INT, 7), rffi.cast(rffi.FLOAT, 0.5)), \
        rffi.cast(lltype.Signed, minus(rffi.cast(rffi.SIGNEDCHAR, 7))), \
        rffi.cast(lltype.Signed, wide(rffi.cast(rffi.UCHAR, 255), rffi.cast(rffi.SHORT, 45)))
    return 0


def target(driver, args):
    return entry_point

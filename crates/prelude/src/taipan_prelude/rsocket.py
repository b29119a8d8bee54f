"""Sockets. A failure is OSError with its errno."""
from taipan_lowlevel import (
    rpy_net_socket, rpy_net_connect, rpy_net_bind, rpy_net_listen, rpy_net_accept,
    rpy_net_send, rpy_net_shutdown, rpy_net_set_option, rpy_net_port)
from taipan_prelude.rposix import checked

def ll_net_socket(family, kind, protocol):
    return checked(rpy_net_socket(family, kind, protocol))

def ll_net_connect(fd, host, port):
    return checked(rpy_net_connect(fd, host, port))

def ll_net_bind(fd, host, port):
    return checked(rpy_net_bind(fd, host, port))

def ll_net_listen(fd, backlog):
    return checked(rpy_net_listen(fd, backlog))

def ll_net_accept(fd):
    return checked(rpy_net_accept(fd))

def ll_net_send(fd, s):
    return checked(rpy_net_send(fd, s))

def ll_net_shutdown(fd, how):
    return checked(rpy_net_shutdown(fd, how))

def ll_net_set_option(fd, level, option, value):
    return checked(rpy_net_set_option(fd, level, option, value))

def ll_net_port(fd):
    return checked(rpy_net_port(fd))

"""Sockets of the Internet, version 4: enough for clients and simple servers.

The functions `_socket`, `_connect` and so on are the system's; what they raise becomes
CSocketError.
"""
import os

AF_UNSPEC = 0
AF_UNIX = 1
AF_INET = 2
AF_INET6 = 10
SOCK_STREAM = 1
SOCK_DGRAM = 2
SOL_SOCKET = 1
SO_REUSEADDR = 2
SHUT_RD = 0
SHUT_WR = 1
SHUT_RDWR = 2
INVALID_SOCKET = -1

NO_HOST = 10000
EAI_NONAME = -2


def rsocket_startup():
    pass


def _unavailable():
    raise OSError(1, "not allowed while a program is imported")


def _socket(family, kind, protocol):
    _unavailable()


def _connect(fd, host, port):
    _unavailable()


def _bind(fd, host, port):
    _unavailable()


def _listen(fd, backlog):
    _unavailable()


def _accept(fd):
    _unavailable()


def _send(fd, s):
    _unavailable()


def _shutdown(fd, how):
    _unavailable()


def _set_option(fd, level, option, value):
    _unavailable()


def _port(fd):
    _unavailable()


class SocketError(Exception):
    applevelerrcls = 'error'

    def get_msg(self):
        return ''

    def __str__(self):
        return self.get_msg()


class CSocketError(SocketError):
    """What the system refuses, with its errno."""

    def __init__(self, errno):
        self.errno = errno

    def get_msg(self):
        return os.strerror(self.errno)


class GAIError(SocketError):
    """A host without an address."""
    applevelerrcls = 'gaierror'

    def __init__(self, errno):
        self.errno = errno

    def get_msg(self):
        return "Name or service not known"


def _error(e):
    if e.errno == NO_HOST:
        return GAIError(EAI_NONAME)
    return CSocketError(e.errno)


class Address(object):
    """Where a socket can be: `host` and `port`."""
    family = AF_INET

    def __init__(self, host, port):
        self.host = host
        self.port = port

    def get_host(self):
        return self.host

    def get_port(self):
        return self.port


class INETAddress(Address):
    """A port of a host, given by its name or number; '' is any name of this machine."""


class RSocket(object):
    """A socket. Its methods raise SocketError."""
    fd = INVALID_SOCKET

    def __init__(self, family=AF_INET, type=SOCK_STREAM, proto=0, fd=INVALID_SOCKET):
        if fd == INVALID_SOCKET:
            try:
                fd = _socket(family, type, proto)
            except OSError as e:
                raise _error(e)
        self.fd = fd
        self.family = family
        self.type = type
        self.proto = proto

    def connect(self, address):
        try:
            _connect(self.fd, address.get_host(), address.get_port())
        except OSError as e:
            raise _error(e)

    def bind(self, address):
        try:
            _bind(self.fd, address.get_host(), address.get_port())
        except OSError as e:
            raise _error(e)

    def listen(self, backlog):
        try:
            _listen(self.fd, max(backlog, 0))
        except OSError as e:
            raise _error(e)

    def accept(self, inheritable=True):
        """The descriptor of a connection, and where it comes from."""
        try:
            return _accept(self.fd), INETAddress('', 0)
        except OSError as e:
            raise _error(e)

    def getsockname(self):
        try:
            return INETAddress('', _port(self.fd))
        except OSError as e:
            raise _error(e)

    def recv(self, buffersize, flags=0):
        """At most that many bytes; '' once the other side has closed."""
        try:
            return os.read(self.fd, buffersize)
        except OSError as e:
            raise _error(e)

    def send(self, data, flags=0):
        """Sends the start of a text: how many bytes went."""
        try:
            return _send(self.fd, data)
        except OSError as e:
            raise _error(e)

    def sendall(self, data, flags=0, signal_checker=None):
        while len(data) > 0:
            sent = self.send(data)
            assert sent >= 0
            data = data[sent:]

    def setsockopt_int(self, level, option, value):
        try:
            _set_option(self.fd, level, option, value)
        except OSError as e:
            raise _error(e)

    def shutdown(self, how):
        try:
            _shutdown(self.fd, how)
        except OSError as e:
            raise _error(e)

    def close(self):
        fd = self.fd
        if fd != INVALID_SOCKET:
            self.fd = INVALID_SOCKET
            try:
                os.close(fd)
            except OSError as e:
                raise _error(e)

    def detach(self):
        """The descriptor, which is the caller's from now on."""
        fd = self.fd
        self.fd = INVALID_SOCKET
        return fd

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

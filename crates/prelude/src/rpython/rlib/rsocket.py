"""Sockets. What fails raises SocketError.

A timeout is in seconds: negative where calls block, 0 where they never do.
"""
from rpython.rlib import _rsocket_rffi as _c, rpoll, rposix
from rpython.rlib._rsocket_addresses import *
from rpython.rlib.buffer import LLBuffer
from rpython.rlib.objectmodel import instantiate, keepalive_until_here, specialize
from rpython.rlib.rarithmetic import intmask, widen
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.rffi import offsetof, sizeof

constants = _c.constants
globals().update(constants)
INVALID_SOCKET = _c.INVALID_SOCKET
HAS_AF_UNIX = HAS_AF_NETLINK = HAS_AF_PACKET = HAS_SO_PROTOCOL = True
HAS_AF_ALG = HAS_AF_QIPCRTR = False
HAVE_SOCK_NONBLOCK = HAVE_SOCK_CLOEXEC = True
socketpair_default_family = AF_UNIX

htons, ntohs, htonl, ntohl = _c.htons, _c.ntohs, _c.htonl, _c.ntohl


def rsocket_startup():
    """Some systems need it before the first socket."""


def mallocbuf(buffersize):
    return lltype.malloc(rffi.CCHARP.TO, buffersize, flavor='raw')


class Defaults:
    timeout = -1.0
defaults = Defaults()


def getdefaulttimeout():
    return defaults.timeout


def setdefaulttimeout(timeout):
    """Of sockets made from now on."""
    defaults.timeout = timeout if timeout >= 0.0 else -1.0


class RSocket(object):
    """A socket that it closes when it is forgotten."""
    # Of one that somebody else makes, by instantiate().
    family = type = proto = 0
    fd = INVALID_SOCKET
    timeout = -1.0

    def __init__(self, family=AF_INET, type=SOCK_STREAM, proto=0, fd=INVALID_SOCKET,
                 inheritable=True):
        if _c.invalid_socket(fd):
            kind = type if inheritable else type | SOCK_CLOEXEC
            fd = intmask(_c.socket(family, kind, proto))
            if fd < 0:
                raise self.error_handler()
        _fill(self, fd, family, type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), proto)
        if type & SOCK_NONBLOCK == 0:
            self.settimeout(defaults.timeout)
        else:
            self.timeout = 0.0

    @staticmethod
    def empty_rsocket():
        return instantiate(RSocket)

    def __del__(self):
        fd = self.fd
        if intmask(fd) != INVALID_SOCKET:
            self.fd = INVALID_SOCKET
            _c.socketclose_no_errno(fd)

    def __exit__(self, *failure):
        self.close()

    def __enter__(self):
        return self

    def error_handler(self):
        """The error that a method raises for the saved errno."""
        return last_error()

    def _check(self, result):
        if intmask(result) < 0:
            raise self.error_handler()

    def close(self):
        fd = self.fd
        if intmask(fd) != INVALID_SOCKET:
            self.fd = INVALID_SOCKET
            self._check(_c.socketclose(fd))

    def detach(self):
        """The descriptor, which is the caller's from now on."""
        fd = self.fd
        self.fd = INVALID_SOCKET
        return fd

    def dup(self, SocketClass=None):
        if SocketClass is None:
            SocketClass = RSocket
        fd = intmask(_c.dup(self.fd))
        self._check(fd)
        return make_socket(fd, self.family, self.type, self.proto, SocketClass)

    # Waiting.

    def gettimeout(self):
        return self.timeout

    def settimeout(self, timeout):
        self.timeout = timeout if timeout >= 0.0 else -1.0
        self._setblocking(timeout < 0.0)

    def setblocking(self, block):
        self.settimeout(-1.0 if block else 0.0)

    def _setblocking(self, block):
        before = intmask(_c.fcntl(self.fd, _c.F_GETFL, 0))
        self._check(before)
        flags = before & ~_c.O_NONBLOCK if block else before | _c.O_NONBLOCK
        if flags != before:
            self._check(_c.fcntl(self.fd, _c.F_SETFL, flags))

    def _select(self, for_writing):
        """Waits as long as the timeout says: 0 once it can go on, 1 after the time, -1 with
        the errno saved."""
        if self.timeout <= 0.0 or intmask(self.fd) == INVALID_SOCKET:
            return 0
        event = _c.POLLOUT if for_writing else _c.POLLIN
        try:
            ready = rpoll.poll({self.fd: event}, int(self.timeout * 1000.0 + 0.5))
        except rpoll.PollError as e:
            rposix.set_saved_errno(e.errno)
            return -1
        return 0 if ready else 1

    def wait_for_data(self, for_writing):
        outcome = self._select(for_writing)
        if outcome == 1:
            raise SocketTimeout
        if outcome != 0:
            raise self.error_handler()

    # Addresses.

    def bind(self, address):
        result = _c.socketbind(self.fd, address.lock(), address.addrlen)
        address.unlock()
        self._check(result)

    def listen(self, backlog):
        """Takes connections; so many may wait."""
        self._check(_c.socketlisten(self.fd, max(backlog, 1)))

    def accept(self, inheritable=True):
        """Waits for a connection: its descriptor, and where it comes from."""
        self.wait_for_data(False)
        address, most = make_null_address(self.family)
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, most)
            flags = 0 if inheritable else SOCK_CLOEXEC
            fd = intmask(_c.socketaccept4(self.fd, address.lock(), size, flags))
            address.unlock()
            address.addrlen = intmask(size[0])
        self._check(fd)
        return fd, address

    def _connect(self, address):
        """An errno or 0, and whether the time was up."""
        result = _c.socketconnect(self.fd, address.lock(), address.addrlen)
        address.unlock()
        if intmask(result) >= 0:
            return 0, False
        errno = _c.geterrno()
        if self.timeout > 0.0 and errno == _c.EINPROGRESS:
            outcome = self._select(True)
            if outcome == 1:
                return _c.EWOULDBLOCK, True
            if outcome < 0:
                return _c.geterrno(), False
            errno = self.getsockopt_int(SOL_SOCKET, SO_ERROR)
            if errno == _c.EISCONN:
                errno = 0
        return errno, False

    def connect(self, address):
        errno, late = self._connect(address)
        if late:
            raise SocketTimeout
        if errno != 0:
            raise CSocketError(errno)

    def connect_ex(self, address):
        """As connect(), but answers an errno, or 0."""
        return self._connect(address)[0]

    def getpeername(self):
        address, most = make_null_address(self.family)
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, most)
            result = _c.socketgetpeername(self.fd, address.lock(), size)
            address.unlock()
            address.addrlen = intmask(size[0])
        self._check(result)
        return address

    def getsockname(self):
        address, most = make_null_address(self.family)
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, most)
            result = _c.socketgetsockname(self.fd, address.lock(), size)
            address.unlock()
            address.addrlen = intmask(size[0])
        self._check(result)
        return address

    def shutdown(self, how):
        self._check(_c.socketshutdown(self.fd, how))

    # Options.

    def getsockopt(self, level, option, maxlen):
        with rffi.scoped_alloc_buffer(maxlen) as value:
            with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
                size[0] = rffi.cast(_c.socklen_t, maxlen)
                self._check(_c.socketgetsockopt(self.fd, level, option, value.raw, size))
                return value.str(intmask(size[0]))

    def getsockopt_int(self, level, option):
        try:
            return getsockopt_int(self.fd, level, option)
        except CSocketError:
            raise self.error_handler()

    def setsockopt(self, level, option, value):
        with rffi.scoped_nonmovingbuffer(value) as p:
            self._check(_c.socketsetsockopt(self.fd, level, option, p, len(value)))

    def setsockopt_None(self, level, option, optlen):
        self._check(_c.socketsetsockopt(self.fd, level, option,
                                        lltype.nullptr(rffi.CCHARP.TO), optlen))

    def setsockopt_int(self, level, option, value):
        with lltype.scoped_alloc(rffi.INTP.TO, 1) as p:
            p[0] = rffi.cast(rffi.INT, value)
            self._check(_c.socketsetsockopt(self.fd, level, option,
                                            rffi.cast(rffi.CCHARP, p), 4))

    # Receiving.

    def recv(self, buffersize, flags=0):
        """At most that many bytes; '' once the other side has closed."""
        self.wait_for_data(False)
        with rffi.scoped_alloc_buffer(buffersize) as buf:
            count = intmask(_c.socketrecv(self.fd, buf.raw, buffersize, flags))
            self._check(count)
            # With MSG_TRUNC it is the size of the packet.
            return buf.str(min(count, buffersize))

    def recvinto(self, rwbuffer, nbytes, flags=0):
        """Receives into memory; how many bytes."""
        self.wait_for_data(False)
        count = intmask(_c.socketrecv(self.fd, rwbuffer.get_raw_address(), nbytes, flags))
        keepalive_until_here(rwbuffer)
        self._check(count)
        return count

    def recvfrom(self, buffersize, flags=0):
        """Bytes, and who has sent them; None if that is not known."""
        with rffi.scoped_alloc_buffer(buffersize) as buf:
            count, address = self._recvfrom(buf.raw, buffersize, flags)
            return buf.str(min(count, buffersize)), address

    def recvfrom_into(self, rwbuffer, nbytes, flags=0):
        result = self._recvfrom(rwbuffer.get_raw_address(), nbytes, flags)
        keepalive_until_here(rwbuffer)
        return result

    def _recvfrom(self, p, nbytes, flags):
        self.wait_for_data(False)
        address, most = make_null_address(self.family)
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, most)
            count = intmask(_c.recvfrom(self.fd, p, nbytes, flags, address.lock(), size))
            address.unlock()
            address.addrlen = intmask(size[0])
        self._check(count)
        if address.addrlen == 0:
            address = None
        return count, address

    def recvmsg(self, message_size, ancbufsize=0, flags=0):
        """A message, its control messages (level, type, bytes), flags, and the sender."""
        if message_size < 0:
            raise RSocketError("Invalid message size")
        with rffi.scoped_alloc_buffer(message_size) as buf:
            count, control, flags, address = self.recvmsg_into(
                [LLBuffer(buf.raw, message_size)], ancbufsize, flags)
            return buf.str(min(count, message_size)), control, flags, address

    def recvmsg_into(self, buffers, ancbufsize=0, flags=0):
        address, most = make_null_address(self.family)
        if ancbufsize < 0:
            raise RSocketError("invalid ancillary data buffer length")
        self.wait_for_data(False)
        with lltype.scoped_alloc(rffi.CArray(_c.iovec), max(len(buffers), 1)) as parts:
            for i in range(len(buffers)):
                parts[i].c_iov_base = buffers[i].get_raw_address()
                rffi.setintfield(parts[i], 'c_iov_len', buffers[i].getlength())
            with rffi.scoped_alloc_buffer(ancbufsize) as control:
                with lltype.scoped_alloc(_c.msghdr, zero=True) as message:
                    message.c_msg_name = address.lock()
                    rffi.setintfield(message, 'c_msg_namelen', most)
                    _set_message(message, parts, len(buffers), control.raw, ancbufsize)
                    count = intmask(_c.recvmsg(self.fd, message, flags))
                    address.unlock()
                    self._check(count)
                    keepalive_until_here(buffers)
                    controls = _control_messages(control.raw,
                                                 intmask(message.c_msg_controllen))
                    flags = widen(message.c_msg_flags)
                    address.addrlen = intmask(message.c_msg_namelen)
        if address.addrlen == 0:
            address = None
        return count, controls, flags, address

    # Sending: how many bytes went.

    def send_raw(self, dataptr, length, flags=0):
        self.wait_for_data(True)
        count = intmask(_c.send(self.fd, dataptr, length, flags))
        self._check(count)
        return count

    def send(self, data, flags=0):
        with rffi.scoped_nonmovingbuffer(data) as p:
            return self.send_raw(p, len(data), flags)

    def sendall(self, data, flags=0, signal_checker=None):
        """Sends everything; a signal does not stop it, unless `signal_checker` raises."""
        with rffi.scoped_nonmovingbuffer(data) as p:
            done = 0
            while done < len(data):
                try:
                    done += self.send_raw(rffi.ptradd(p, done), len(data) - done, flags)
                except CSocketError as failure:
                    if failure.errno != _c.EINTR:
                        raise
                if signal_checker is not None:
                    signal_checker()

    def sendto(self, data, length, flags, address):
        self.wait_for_data(True)
        count = intmask(_c.sendto(self.fd, data, length, flags, address.lock(),
                                  address.addrlen))
        address.unlock()
        self._check(count)
        return count

    def sendmsg(self, messages, ancillary=None, flags=0, address=None):
        """Sends byte strings as one message, with control messages (level, type, bytes)."""
        self.wait_for_data(True)
        data = ''.join(messages)
        room = 0
        if ancillary is not None:
            for _, _, content in ancillary:
                room += CMSG_SPACE(len(content))
        with rffi.scoped_nonmovingbuffer(data) as p:
            with lltype.scoped_alloc(rffi.CArray(_c.iovec), 1) as parts:
                parts[0].c_iov_base = p
                rffi.setintfield(parts[0], 'c_iov_len', len(data))
                with lltype.scoped_alloc(rffi.CCHARP.TO, max(room, 1), zero=True) as control:
                    if ancillary is not None:
                        _put_control_messages(control, ancillary)
                    with lltype.scoped_alloc(_c.msghdr, zero=True) as message:
                        if address is not None:
                            message.c_msg_name = address.lock()
                            rffi.setintfield(message, 'c_msg_namelen', address.addrlen)
                        _set_message(message, parts, 1, control, room)
                        count = intmask(_c.sendmsg(self.fd, message, flags))
        keepalive_until_here(address)
        self._check(count)
        return count


def _set_message(message, parts, count, control, room):
    message.c_msg_iov = parts
    rffi.setintfield(message, 'c_msg_iovlen', count)
    message.c_msg_control = control
    rffi.setintfield(message, 'c_msg_controllen', room)


def _put_control_messages(p, ancillary):
    for level, kind, content in ancillary:
        header = rffi.cast(lltype.Ptr(_c.cmsghdr), p)
        rffi.setintfield(header, 'c_cmsg_len', CMSG_LEN(len(content)))
        rffi.setintfield(header, 'c_cmsg_level', level)
        rffi.setintfield(header, 'c_cmsg_type', kind)
        for i in range(len(content)):
            p[CMSG_LEN(0) + i] = content[i]
        p = rffi.ptradd(p, CMSG_SPACE(len(content)))


def _control_messages(p, size):
    result = []
    start = CMSG_LEN(0)
    while size >= start:
        header = rffi.cast(lltype.Ptr(_c.cmsghdr), p)
        length = min(intmask(header.c_cmsg_len), size) - start
        if length < 0:
            break
        result.append((widen(header.c_cmsg_level), widen(header.c_cmsg_type),
                       rffi.charpsize2str(rffi.ptradd(p, start), length)))
        size -= CMSG_SPACE(length)
        p = rffi.ptradd(p, CMSG_SPACE(length))
    return result


def CMSG_LEN(demanded_len):
    """Bytes of a control message with that many bytes in it."""
    if demanded_len < 0:
        return 0
    return _c.CMSG_LEN(demanded_len)


def CMSG_SPACE(demanded_size):
    """The same, with what is needed before the next one."""
    if demanded_size < 0:
        return 0
    return _c.CMSG_SPACE(demanded_size)

# ____________________________________________________________ sockets from descriptors

@specialize.arg(4)
def make_socket(fd, family, type, proto, SocketClass=RSocket):
    """The socket of a descriptor."""
    made = instantiate(SocketClass)
    _fill(made, fd, family, type, proto)
    made.timeout = defaults.timeout
    return made


def _fill(sock, fd, family, type, proto):
    sock.fd = fd
    sock.family, sock.type, sock.proto = family, type, proto


def dup(fd, inheritable=True):
    try:
        result = rposix.dup(fd, inheritable)
    except OSError as e:
        raise CSocketError(e.errno)
    return result


@specialize.arg(4)
def fromfd(fd, family, type, proto=0, SocketClass=RSocket, inheritable=True):
    """A socket of its own for a copy of a descriptor."""
    return make_socket(dup(fd, inheritable), family, type, proto, SocketClass)


@specialize.arg(3)
def socketpair(family=socketpair_default_family, type=SOCK_STREAM, proto=0,
               SocketClass=RSocket, inheritable=True):
    """Two sockets that are connected to each other."""
    kind = type if inheritable else type | SOCK_CLOEXEC
    with lltype.scoped_alloc(_c.socketpair_t, 2) as fds:
        if intmask(_c.socketpair(family, kind, proto, fds)) < 0:
            raise last_error()
        return (make_socket(intmask(fds[0]), family, type, proto, SocketClass),
                make_socket(intmask(fds[1]), family, type, proto, SocketClass))


def sock_get_inheritable(fd):
    """Whether programs that this one starts have the socket as well."""
    try:
        return rposix.get_inheritable(fd)
    except OSError as failure:
        raise CSocketError(failure.errno)


def sock_set_inheritable(fd, inheritable):
    try:
        rposix.set_inheritable(fd, inheritable)
    except OSError as failure:
        raise CSocketError(failure.errno)


def getsockopt_int(fd, level, option):
    with lltype.scoped_alloc(rffi.INTP.TO, 1, zero=True) as value:
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, 4)
            if intmask(_c.socketgetsockopt(fd, level, option,
                                           rffi.cast(rffi.CCHARP, value), size)) < 0:
                raise last_error()
            return widen(value[0])


def get_socket_family(fd):
    with lltype.scoped_alloc(_c.sockaddr, zero=True) as address:
        with lltype.scoped_alloc(_c.socklen_t_ptr.TO) as size:
            size[0] = rffi.cast(_c.socklen_t, sizeof(_c.sockaddr))
            if intmask(_c.socketgetsockname(fd, address, size)) < 0:
                raise last_error()
            return widen(address.c_sa_family)

# ____________________________________________________________ names

def gethostname():
    with rffi.scoped_alloc_buffer(1024) as buf:
        if intmask(_c.gethostname(buf.raw, 1024)) < 0:
            raise last_error()
        return rffi.charp2strn(buf.raw, 1024)


def sethostname(hostname):
    with rffi.scoped_nonmovingbuffer(hostname) as p:
        if intmask(_c.sethostname(p, len(hostname))) < 0:
            raise last_error()


def gethostbyname(name):
    """The address of a host, version 4."""
    address = instantiate(INETAddress)
    makeipaddr(name, address)
    return address


def gethost_common(hostname, hostent, addr=None):
    """Name, other names and addresses of what the C library has found, which is of the
    family of addr if that is given."""
    if not hostent:
        raise HSocketError(hostname)
    family = rffi.getintfield(hostent, 'c_h_addrtype')
    if not (addr is None or addr.family == family):
        raise CSocketError(_c.EAFNOSUPPORT)
    aliases = []
    if hostent.c_h_aliases:
        aliases = rffi.charpp2liststr(hostent.c_h_aliases)
    addresses = []
    i = 0
    while hostent.c_h_addr_list[i]:
        p = hostent.c_h_addr_list[i]
        if family == AF_INET:
            address = INETAddress.from_in_addr(rffi.cast(lltype.Ptr(_c.in_addr), p))
        elif family == AF_INET6:
            address = INET6Address.from_in6_addr(rffi.cast(lltype.Ptr(_c.in6_addr), p))
        else:
            raise RSocketError("unknown address family")
        addresses.append(address)
        i += 1
    return rffi.charp2str(hostent.c_h_name), aliases, addresses


def gethostbyname_ex(name):
    addr = gethostbyname(name)
    return gethost_common(name, _c.gethostbyname(name), addr)


def gethostbyaddr(ip):
    addr = makeipaddr(ip)
    assert isinstance(addr, IPAddress)
    p, size = addr.lock_in_addr()
    hostent = _c.gethostbyaddr(p, size, addr.family)
    addr.unlock()
    return gethost_common(ip, hostent, addr)


def getservbyname(name, proto=None):
    """The port of a service."""
    with rffi.scoped_str2charp(name) as c_name:
        with rffi.scoped_str2charp(proto) as c_proto:
            servent = _c.getservbyname(c_name, c_proto)
    if not servent:
        raise RSocketError("service/proto not found")
    return ntohs(rffi.getintfield(servent, 'c_s_port'))


def getservbyport(port, proto=None):
    """The service of a port."""
    with rffi.scoped_str2charp(proto) as c_proto:
        servent = _c.getservbyport(htons(port), c_proto)
    if not servent:
        raise RSocketError("port/proto not found")
    name = rffi.charp2str(servent.c_s_name)
    return name


def getprotobyname(name):
    """The number of a protocol."""
    protoent = _c.getprotobyname(name)
    if protoent:
        return widen(protoent.c_p_proto)
    raise RSocketError("protocol not found")


def if_nameindex():
    """Numbers and names of the network's devices."""
    found = _c.if_nameindex()
    if not found:
        raise last_error()
    result = []
    i = 0
    while found[i].c_if_name:
        result.append((widen(found[i].c_if_index), rffi.charp2str(found[i].c_if_name)))
        i += 1
    _c.if_freenameindex(found)
    return result

# ____________________________________________________________ numbers of hosts

def inet_aton(ip):
    """Four bytes of a text with dots."""
    with rffi.scoped_alloc_buffer(4) as buf:
        if intmask(_c.inet_aton(ip, buf.raw)) == 0:
            raise RSocketError("illegal IP address string passed to inet_aton")
        return buf.str(4)


def inet_ntoa(packed):
    """The text of four bytes."""
    if len(packed) != 4:
        raise RSocketError("packed IP wrong length for inet_ntoa")
    return '.'.join([str(ord(c)) for c in packed])


def _address_size(family):
    if family == AF_INET:
        return 4
    if family == AF_INET6:
        return 16
    raise RSocketError("unknown address family")


def inet_pton(family, ip):
    """The bytes of a text."""
    size = _address_size(family)
    with rffi.scoped_alloc_buffer(size) as buf:
        outcome = intmask(_c.inet_pton(family, ip, buf.raw))
        if outcome < 0:
            raise last_error()
        if outcome == 0:
            raise RSocketError("illegal IP address string passed to inet_pton")
        return buf.str(size)


def inet_ntop(family, packed):
    """The text of bytes."""
    if len(packed) != _address_size(family):
        raise ValueError("packed IP wrong length for inet_ntop")
    with rffi.scoped_nonmovingbuffer(packed) as p:
        with rffi.scoped_alloc_buffer(_c.INET6_ADDRSTRLEN) as buf:
            if not _c.inet_ntop(family, p, buf.raw, _c.INET6_ADDRSTRLEN):
                raise last_error()
            return rffi.charp2str(buf.raw)

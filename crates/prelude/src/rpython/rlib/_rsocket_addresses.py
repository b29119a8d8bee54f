"""Where sockets can be: an Address holds a C `sockaddr` of its family in raw memory."""
from rpython.rlib import _rsocket_rffi as _c
from rpython.rlib.objectmodel import instantiate, keepalive_until_here, specialize
from rpython.rlib.rarithmetic import intmask, r_uint, widen
from rpython.rtyper.lltypesystem import lltype, rffi

globals().update(_c.constants)


class SocketError(Exception):
    """What went wrong with a socket; `applevelerrcls` is the name that Python programs
    know it by."""
    applevelerrcls = 'error'

    def __init__(self):
        pass

    def get_msg(self):
        return ''

    def get_msg_unicode(self):
        return self.get_msg().decode('latin-1')

    def get_msg_utf8(self):
        msg = self.get_msg()
        return msg, len(msg)

    def __str__(self):
        return self.get_msg()


class SocketErrorWithErrno(SocketError):
    def __init__(self, errno):
        self.errno = errno


class RSocketError(SocketError):
    """A misuse, explained."""

    def __init__(self, message):
        self.message = message

    def get_msg(self):
        return self.message


class CSocketError(SocketErrorWithErrno):
    """What the system refuses."""

    def get_msg(self):
        return _c.socket_strerror_str(self.errno)


class GAIError(SocketErrorWithErrno):
    """A name without an address; `errno` is a number of getaddrinfo()."""
    applevelerrcls = 'gaierror'

    def get_msg(self):
        return _c.gai_strerror_str(self.errno)


class HSocketError(SocketError):
    """A host that is not found."""
    applevelerrcls = 'herror'

    def __init__(self, host):
        self.host = host

    def get_msg(self):
        return "host lookup failed: '%s'" % (self.host,)


class SocketTimeout(SocketError):
    applevelerrcls = 'timeout'

    def get_msg(self):
        return 'timed out'


def last_error():
    return CSocketError(_c.geterrno())


class Address(object):
    """`addrlen` bytes at `addr_p`, freed with the object. Code that looks at them calls
    lock(TYPE), and unlock() once it is done."""
    family = -1
    maxlen = _c.NI_MAXHOST
    addr_p = lltype.nullptr(_c.sockaddr)
    addrlen = 0

    def __init__(self, addr, addrlen):
        self.addr_p = addr
        self.addrlen = addrlen

    def __del__(self):
        if self.addr_p:
            lltype.free(self.addr_p, flavor='raw', track_allocation=False)

    @specialize.ll()
    def setdata(self, addr, addrlen):
        assert not self.addr_p
        self.addr_p = rffi.cast(_c.sockaddr_ptr, addr)
        self.addrlen = addrlen

    @specialize.ll()
    def lock(self, TYPE=_c.sockaddr):
        return rffi.cast(lltype.Ptr(TYPE), self.addr_p)

    def unlock(self):
        keepalive_until_here(self)

    def _allocate(self, size):
        """Memory of zeroes but for the family."""
        memory = lltype.malloc(rffi.CCHARP.TO, size, flavor='raw', zero=True,
                               track_allocation=False)
        rffi.cast(rffi.USHORTP, memory)[0] = rffi.cast(rffi.USHORT, self.family)
        self.setdata(memory, size)


class IPAddress(Address):
    """A host by number, and a port."""

    def get_host(self):
        return getnameinfo(self, NI_NUMERICHOST | NI_NUMERICSERV)[0]

    def lock_in_addr(self):
        """The number of the host, and how many bytes that is; to be unlocked."""
        raise NotImplementedError


class INETAddress(IPAddress):
    """Of the Internet, version 4. A host is given by name or number; '' is any."""
    family = AF_INET
    struct = _c.sockaddr_in
    maxlen = minlen = 16

    def __init__(self, host, port):
        makeipaddr(host, self)
        a = self.lock(_c.sockaddr_in)
        rffi.setintfield(a, 'c_sin_port', _c.htons(port))
        self.unlock()

    def __repr__(self):
        try:
            return '<INETAddress %s:%d>' % (self.get_host(), self.get_port())
        except SocketError:
            return '<INETAddress ?>'

    def get_port(self):
        a = self.lock(_c.sockaddr_in)
        port = _c.ntohs(rffi.getintfield(a, 'c_sin_port'))
        self.unlock()
        return port

    def eq(self, other):
        return (isinstance(other, INETAddress) and self.get_host() == other.get_host() and
                self.get_port() == other.get_port())

    @staticmethod
    def from_in_addr(in_addr):
        result = instantiate(INETAddress)
        result._allocate(INETAddress.maxlen)
        a = result.lock(_c.sockaddr_in)
        a.c_sin_addr.c_s_addr = in_addr.c_s_addr
        result.unlock()
        return result

    def lock_in_addr(self):
        a = self.lock(_c.sockaddr_in)
        return rffi.cast(rffi.VOIDP, a.c_sin_addr), 4


class INET6Address(IPAddress):
    """Of the Internet, version 6."""
    family = AF_INET6
    struct = _c.sockaddr_in6
    maxlen = minlen = 28

    def __init__(self, host, port, flowinfo=0, scope_id=0):
        makeipaddr(host, self)
        a = self.lock(_c.sockaddr_in6)
        rffi.setintfield(a, 'c_sin6_port', _c.htons(port))
        rffi.setintfield(a, 'c_sin6_flowinfo', _c.htonl(flowinfo))
        rffi.setintfield(a, 'c_sin6_scope_id', scope_id)
        self.unlock()

    def __repr__(self):
        try:
            return '<INET6Address %s:%d %d %d>' % (self.get_host(), self.get_port(),
                                                   self.get_flowinfo(), self.get_scope_id())
        except SocketError:
            return '<INET6Address ?>'

    def get_port(self):
        a = self.lock(_c.sockaddr_in6)
        port = _c.ntohs(rffi.getintfield(a, 'c_sin6_port'))
        self.unlock()
        return port

    def get_flowinfo(self):
        a = self.lock(_c.sockaddr_in6)
        flowinfo = _c.ntohl(a.c_sin6_flowinfo)
        self.unlock()
        return rffi.cast(lltype.Unsigned, flowinfo)

    def get_scope_id(self):
        a = self.lock(_c.sockaddr_in6)
        scope_id = rffi.cast(lltype.Unsigned, a.c_sin6_scope_id)
        self.unlock()
        return scope_id

    def eq(self, other):
        return (isinstance(other, INET6Address) and self.get_host() == other.get_host() and
                self.get_port() == other.get_port() and
                self.get_flowinfo() == other.get_flowinfo() and
                self.get_scope_id() == other.get_scope_id())

    @staticmethod
    def from_in6_addr(in6_addr):
        result = instantiate(INET6Address)
        result._allocate(INET6Address.maxlen)
        a = result.lock(_c.sockaddr_in6)
        for i in range(16):
            a.c_sin6_addr.c_s6_addr[i] = in6_addr.c_s6_addr[i]
        result.unlock()
        return result

    def lock_in_addr(self):
        a = self.lock(_c.sockaddr_in6)
        return rffi.cast(rffi.VOIDP, a.c_sin6_addr), 16


class UNIXAddress(Address):
    """A path of the file system, or with a zero byte first a name of its own space."""
    family = AF_UNIX
    struct = _c.sockaddr_un
    minlen, maxlen = 2, 110

    def __init__(self, path):
        most = 108
        if not path.startswith('\x00'):
            most -= 1
        if len(path) > most:
            raise RSocketError("AF_UNIX path too long")
        self._allocate(UNIXAddress.maxlen)
        self.addrlen = UNIXAddress.minlen + len(path)
        a = self.lock(_c.sockaddr_un)
        for i in range(len(path)):
            a.c_sun_path[i] = path[i]
        self.unlock()

    def __repr__(self):
        return '<UNIXAddress %r>' % (self.get_path(),)

    def get_path(self):
        a = self.lock(_c.sockaddr_un)
        most = self.addrlen - UNIXAddress.minlen
        length = 0
        if most > 0 and a.c_sun_path[0] == '\x00':
            length = most
        else:
            while length < most and a.c_sun_path[length] != '\x00':
                length += 1
        result = ''.join([a.c_sun_path[i] for i in range(length)])
        self.unlock()
        return result

    def eq(self, other):
        return isinstance(other, UNIXAddress) and self.get_path() == other.get_path()


class NETLINKAddress(Address):
    """A port of the kernel."""
    family = AF_NETLINK
    struct = _c.sockaddr_nl
    maxlen = minlen = 12

    def __init__(self, pid, groups):
        self._allocate(NETLINKAddress.maxlen)
        a = self.lock(_c.sockaddr_nl)
        rffi.setintfield(a, 'c_nl_pid', pid)
        rffi.setintfield(a, 'c_nl_groups', groups)
        self.unlock()

    def get_pid(self):
        a = self.lock(_c.sockaddr_nl)
        pid = rffi.cast(lltype.Unsigned, a.c_nl_pid)
        self.unlock()
        return pid

    def get_groups(self):
        a = self.lock(_c.sockaddr_nl)
        groups = rffi.cast(lltype.Unsigned, a.c_nl_groups)
        self.unlock()
        return groups

    def __repr__(self):
        return '<NETLINKAddress %d %d>' % (intmask(self.get_pid()), intmask(self.get_groups()))


class PacketAddress(Address):
    """A device of the machine."""
    family = AF_PACKET
    struct = _c.sockaddr_ll
    maxlen = minlen = 20
    ifr_name_size = 16
    sll_addr_size = 8

    def __init__(self, ifindex, protocol, pkttype=0, hatype=0, haddr=""):
        self._allocate(PacketAddress.maxlen)
        a = self.lock(_c.sockaddr_ll)
        rffi.setintfield(a, 'c_sll_protocol', _c.htons(protocol))
        rffi.setintfield(a, 'c_sll_ifindex', ifindex)
        rffi.setintfield(a, 'c_sll_pkttype', pkttype)
        rffi.setintfield(a, 'c_sll_hatype', hatype)
        size = min(len(haddr), PacketAddress.sll_addr_size)
        for i in range(size):
            a.c_sll_addr[i] = rffi.cast(rffi.UCHAR, ord(haddr[i]))
        rffi.setintfield(a, 'c_sll_halen', size)
        self.unlock()

    @staticmethod
    def get_ifindex_from_ifname(fd, ifname):
        with lltype.scoped_alloc(_c.ifreq, zero=True) as p:
            for i in range(min(len(ifname), PacketAddress.ifr_name_size - 1)):
                p.c_ifr_name[i] = ifname[i]
            if widen(_c.ioctl(fd, _c.SIOCGIFINDEX, p)) != 0:
                raise RSocketError("invalid interface name")
            return widen(p.c_ifr_ifindex)

    def get_ifname(self, fd):
        a = self.lock(_c.sockaddr_ll)
        ifindex = rffi.getintfield(a, 'c_sll_ifindex')
        self.unlock()
        if ifindex != 0:
            with lltype.scoped_alloc(_c.ifreq, zero=True) as p:
                rffi.setintfield(p, 'c_ifr_ifindex', ifindex)
                if widen(_c.ioctl(fd, _c.SIOCGIFNAME, p)) == 0:
                    return rffi.charp2strn(rffi.cast(rffi.CCHARP, p.c_ifr_name),
                                           PacketAddress.ifr_name_size)
        return ''

    def get_protocol(self):
        a = self.lock(_c.sockaddr_ll)
        protocol = _c.ntohs(rffi.getintfield(a, 'c_sll_protocol'))
        self.unlock()
        return protocol

    def get_pkttype(self):
        a = self.lock(_c.sockaddr_ll)
        result = rffi.getintfield(a, 'c_sll_pkttype')
        self.unlock()
        return result

    def get_hatype(self):
        a = self.lock(_c.sockaddr_ll)
        result = rffi.getintfield(a, 'c_sll_hatype')
        self.unlock()
        return result

    def get_haddr(self):
        a = self.lock(_c.sockaddr_ll)
        size = rffi.getintfield(a, 'c_sll_halen')
        result = ''.join([chr(widen(a.c_sll_addr[i])) for i in range(size)])
        self.unlock()
        return result


def instantiate_family(family):
    """An address of a family, with nothing in it."""
    family = widen(family)
    if family == AF_INET:
        return instantiate(INETAddress)
    if family == AF_INET6:
        return instantiate(INET6Address)
    if family == AF_UNIX:
        return instantiate(UNIXAddress)
    if family == AF_NETLINK:
        return instantiate(NETLINKAddress)
    if family == AF_PACKET:
        return instantiate(PacketAddress)
    return instantiate(Address)


def make_address(addrptr, addrlen, result=None):
    """A copy of a C address: a new one, or `result`, which must be empty."""
    family = widen(addrptr.c_sa_family)
    if result is None:
        result = instantiate_family(family)
    elif result.family != family:
        raise RSocketError("address family mismatched")
    size = intmask(addrlen)
    source = rffi.cast(rffi.CCHARP, addrptr)
    memory = lltype.malloc(rffi.CCHARP.TO, size, flavor='raw', track_allocation=False)
    for i in range(size):
        memory[i] = source[i]
    result.setdata(memory, size)
    return result


def make_null_address(family):
    """An address for C functions to fill, and the most bytes it can have."""
    result = instantiate_family(family)
    result.setdata(lltype.malloc(rffi.CCHARP.TO, result.maxlen, flavor='raw', zero=True,
                                 track_allocation=False), 0)
    rffi.setintfield(result.lock(), 'c_sa_family', family)
    result.unlock()
    return result, result.maxlen


def makeipv4addr(s_addr, result=None):
    """The address of a host whose number is given as it goes over the net."""
    if result is None:
        result = instantiate(INETAddress)
    elif result.family != AF_INET:
        raise RSocketError("address family mismatched")
    result._allocate(INETAddress.maxlen)
    a = result.lock(_c.sockaddr_in)
    a.c_sin_addr.c_s_addr = rffi.cast(rffi.UINT, s_addr)
    result.unlock()
    return result


def _dotted(name):
    """The number of four that are given with dots between them, -1 if it is not that."""
    parts = name.split('.')
    if len(parts) != 4:
        return -1
    number = 0
    for part in parts:
        try:
            value = int(part)
        except ValueError:
            return -1
        if value < 0 or value > 255:
            return -1
        number = number << 8 | value
    return number


def makeipaddr(name, result=None):
    """The address of a host by name or number: a new one, or `result` filled. '' is any
    address of this machine, '<broadcast>' all machines nearby."""
    family = AF_UNSPEC
    if result is not None:
        family = result.family
    if len(name) == 0:
        info = getaddrinfo(None, '0', family, SOCK_DGRAM, 0, AI_PASSIVE, result)
        if len(info) > 1:
            raise RSocketError("wildcard resolved to multiple addresses")
        return info[0][4]
    if name == '<broadcast>':
        return makeipv4addr(r_uint(INADDR_BROADCAST), result)
    number = _dotted(name)
    if number >= 0:
        return makeipv4addr(_c.htonl(number), result)
    return getaddrinfo(name, None, family, 0, 0, 0, result)[0][4]


def getaddrinfo(host, port_or_service, family=AF_UNSPEC, socktype=0, proto=0, flags=0,
                address_to_fill=None):
    """What is known about a host: tuples of family, type, protocol, name, address. The
    first address is put into `address_to_fill` if there is one."""
    with lltype.scoped_alloc(_c.addrinfo, zero=True) as hints:
        rffi.setintfield(hints, 'c_ai_family', family)
        rffi.setintfield(hints, 'c_ai_socktype', socktype)
        rffi.setintfield(hints, 'c_ai_protocol', proto)
        rffi.setintfield(hints, 'c_ai_flags', flags)
        with lltype.scoped_alloc(rffi.CArray(_c.addrinfo_ptr), 1) as found:
            with rffi.scoped_str2charp(host) as c_host:
                with rffi.scoped_str2charp(port_or_service) as c_service:
                    error = intmask(_c.getaddrinfo(c_host, c_service, hints, found))
            first = found[0]
    if error != 0:
        raise GAIError(error)
    result = []
    try:
        info = first
        while info:
            address = make_address(info.c_ai_addr, widen(info.c_ai_addrlen), address_to_fill)
            address_to_fill = None
            name = ''
            if info.c_ai_canonname:
                name = rffi.charp2str(info.c_ai_canonname)
            result.append((widen(info.c_ai_family), widen(info.c_ai_socktype),
                           widen(info.c_ai_protocol), name, address))
            info = info.c_ai_next
    finally:
        _c.freeaddrinfo(first)
    return result


def getnameinfo(address, flags):
    """Host and service of an address, as texts."""
    with rffi.scoped_alloc_buffer(NI_MAXHOST) as host:
        with rffi.scoped_alloc_buffer(NI_MAXSERV) as service:
            error = intmask(_c.getnameinfo(address.lock(), address.addrlen, host.raw,
                                           NI_MAXHOST, service.raw, NI_MAXSERV, flags))
            address.unlock()
            if error != 0:
                raise GAIError(error)
            return rffi.charp2str(host.raw), rffi.charp2str(service.raw)

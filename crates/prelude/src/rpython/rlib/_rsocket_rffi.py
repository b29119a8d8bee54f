"""What rsocket needs of the C library, for Linux on x86-64: numbers, layouts, functions."""
import errno as _errno
import os

from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rposix import get_saved_errno
from rpython.rtyper.lltypesystem import lltype, rffi

WIN32 = _WIN32 = _MSVC = _MINGW32 = _CYGWIN = _MACOSX = False
_POSIX = linux = True
poll_may_be_broken = False
HAVE_SENDMSG = HAVE_ACCEPT4 = True
SAVE_ERR = rffi.RFFI_SAVE_ERRNO
INVALID_SOCKET = -1
INET_ADDRSTRLEN, INET6_ADDRSTRLEN = 16, 46

F_GETFD, F_SETFD, F_GETFL, F_SETFL = 1, 2, 3, 4
FD_CLOEXEC = 1
O_NONBLOCK = 04000
POLLIN, POLLPRI, POLLOUT, POLLERR, POLLHUP = 1, 2, 4, 8, 16
FD_SETSIZE = MAX_FD_SIZE = 1024
# What a pipe takes at once.
PIPE_BUF = 4096
EINTR, EWOULDBLOCK, EINPROGRESS = _errno.EINTR, _errno.EAGAIN, _errno.EINPROGRESS
EAFNOSUPPORT, EISCONN, EINVAL = 97, 106, _errno.EINVAL
SIOCGIFNAME, SIOCGIFINDEX = 0x8910, 0x8933

constants = {
    'AF_UNSPEC': 0, 'AF_UNIX': 1, 'AF_INET': 2, 'AF_AX25': 3, 'AF_IPX': 4,
    'AF_APPLETALK': 5, 'AF_NETROM': 6, 'AF_BRIDGE': 7, 'AF_X25': 9, 'AF_INET6': 10,
    'AF_ROSE': 11, 'AF_DECnet': 12, 'AF_SECURITY': 14, 'AF_KEY': 15, 'AF_NETLINK': 16,
    'AF_ROUTE': 16, 'AF_PACKET': 17, 'AF_ATMSVC': 20, 'AF_SNA': 22, 'AF_IRDA': 23,
    'AF_PPPOX': 24, 'AF_WANPIPE': 25, 'AF_LLC': 26,
    'SOCK_STREAM': 1, 'SOCK_DGRAM': 2, 'SOCK_RAW': 3, 'SOCK_RDM': 4, 'SOCK_SEQPACKET': 5,
    'SOCK_CLOEXEC': 02000000, 'SOCK_NONBLOCK': 04000,
    'SHUT_RD': 0, 'SHUT_WR': 1, 'SHUT_RDWR': 2, 'SOMAXCONN': 4096,
    'SOL_SOCKET': 1, 'SOL_IP': 0, 'SOL_TCP': 6, 'SOL_UDP': 17,
    'SO_DEBUG': 1, 'SO_REUSEADDR': 2, 'SO_TYPE': 3, 'SO_ERROR': 4, 'SO_DONTROUTE': 5,
    'SO_BROADCAST': 6, 'SO_SNDBUF': 7, 'SO_RCVBUF': 8, 'SO_KEEPALIVE': 9,
    'SO_OOBINLINE': 10, 'SO_LINGER': 13, 'SO_REUSEPORT': 15, 'SO_PASSCRED': 16,
    'SO_PEERCRED': 17, 'SO_RCVLOWAT': 18, 'SO_SNDLOWAT': 19, 'SO_RCVTIMEO': 20,
    'SO_SNDTIMEO': 21, 'SO_BINDTODEVICE': 25, 'SO_PRIORITY': 12, 'SO_MARK': 36,
    'SO_PROTOCOL': 38, 'SO_DOMAIN': 39,
    'MSG_OOB': 1, 'MSG_PEEK': 2, 'MSG_DONTROUTE': 4, 'MSG_CTRUNC': 8, 'MSG_TRUNC': 0x20,
    'MSG_DONTWAIT': 0x40, 'MSG_EOR': 0x80, 'MSG_WAITALL': 0x100, 'MSG_NOSIGNAL': 0x4000,
    'MSG_MORE': 0x8000, 'MSG_ERRQUEUE': 0x2000, 'MSG_CMSG_CLOEXEC': 0x40000000,
    'SCM_RIGHTS': 1, 'SCM_CREDENTIALS': 2,
    'IPPROTO_IP': 0, 'IPPROTO_ICMP': 1, 'IPPROTO_IGMP': 2, 'IPPROTO_IPIP': 4,
    'IPPROTO_TCP': 6, 'IPPROTO_EGP': 8, 'IPPROTO_PUP': 12, 'IPPROTO_UDP': 17,
    'IPPROTO_IDP': 22, 'IPPROTO_TP': 29, 'IPPROTO_IPV6': 41, 'IPPROTO_ROUTING': 43,
    'IPPROTO_FRAGMENT': 44, 'IPPROTO_RSVP': 46, 'IPPROTO_GRE': 47, 'IPPROTO_ESP': 50,
    'IPPROTO_AH': 51, 'IPPROTO_ICMPV6': 58, 'IPPROTO_NONE': 59, 'IPPROTO_DSTOPTS': 60,
    'IPPROTO_PIM': 103, 'IPPROTO_SCTP': 132, 'IPPROTO_RAW': 255, 'IPPROTO_HOPOPTS': 0,
    'IP_TOS': 1, 'IP_TTL': 2, 'IP_HDRINCL': 3, 'IP_OPTIONS': 4, 'IP_RECVOPTS': 6,
    'IP_RETOPTS': 7, 'IP_MULTICAST_IF': 32, 'IP_MULTICAST_TTL': 33,
    'IP_MULTICAST_LOOP': 34, 'IP_ADD_MEMBERSHIP': 35, 'IP_DROP_MEMBERSHIP': 36,
    'IP_DEFAULT_MULTICAST_TTL': 1, 'IP_DEFAULT_MULTICAST_LOOP': 1,
    'IPV6_UNICAST_HOPS': 16, 'IPV6_MULTICAST_IF': 17, 'IPV6_MULTICAST_HOPS': 18,
    'IPV6_MULTICAST_LOOP': 19, 'IPV6_JOIN_GROUP': 20, 'IPV6_LEAVE_GROUP': 21,
    'IPV6_V6ONLY': 26, 'IPV6_CHECKSUM': 7,
    'TCP_NODELAY': 1, 'TCP_MAXSEG': 2, 'TCP_CORK': 3, 'TCP_KEEPIDLE': 4,
    'TCP_KEEPINTVL': 5, 'TCP_KEEPCNT': 6, 'TCP_SYNCNT': 7, 'TCP_LINGER2': 8,
    'TCP_DEFER_ACCEPT': 9, 'TCP_WINDOW_CLAMP': 10, 'TCP_INFO': 11, 'TCP_QUICKACK': 12,
    'INADDR_ANY': 0, 'INADDR_BROADCAST': 0xffffffff, 'INADDR_LOOPBACK': 0x7f000001,
    'INADDR_UNSPEC_GROUP': 0xe0000000, 'INADDR_ALLHOSTS_GROUP': 0xe0000001,
    'INADDR_MAX_LOCAL_GROUP': 0xe00000ff, 'INADDR_NONE': 0xffffffff,
    'AI_PASSIVE': 1, 'AI_CANONNAME': 2, 'AI_NUMERICHOST': 4, 'AI_V4MAPPED': 8, 'AI_ALL': 16,
    'AI_ADDRCONFIG': 32, 'AI_NUMERICSERV': 1024,
    'EAI_BADFLAGS': -1, 'EAI_NONAME': -2, 'EAI_AGAIN': -3, 'EAI_FAIL': -4, 'EAI_FAMILY': -6,
    'EAI_SOCKTYPE': -7, 'EAI_SERVICE': -8, 'EAI_MEMORY': -10, 'EAI_SYSTEM': -11,
    'EAI_OVERFLOW': -12,
    'NI_NUMERICHOST': 1, 'NI_NUMERICSERV': 2, 'NI_NOFQDN': 4, 'NI_NAMEREQD': 8,
    'NI_DGRAM': 16, 'NI_MAXHOST': 1025, 'NI_MAXSERV': 32,
    'PACKET_HOST': 0, 'PACKET_BROADCAST': 1, 'PACKET_MULTICAST': 2, 'PACKET_OTHERHOST': 3,
    'PACKET_OUTGOING': 4, 'PACKET_LOOPBACK': 5, 'PACKET_FASTROUTE': 6,
    'NETLINK_ROUTE': 0, 'NETLINK_SKIP': 1, 'NETLINK_USERSOCK': 2, 'NETLINK_FIREWALL': 3,
    'NETLINK_NFLOG': 5, 'NETLINK_XFRM': 6, 'NETLINK_IP6_FW': 13,
}
# Rarer ones.
constants.update({
    'AF_ALG': 38, 'AF_ASH': 18, 'AF_ATMPVC': 8, 'AF_BLUETOOTH': 31, 'AF_CAN': 29,
    'AF_ECONET': 19, 'AF_NETBEUI': 13, 'AF_QIPCRTR': 42, 'AF_RDS': 21, 'AF_TIPC': 30,
    'AF_VSOCK': 40, 'ALG_OP_DECRYPT': 0, 'ALG_OP_ENCRYPT': 1, 'ALG_OP_SIGN': 2,
    'ALG_OP_VERIFY': 3, 'ALG_SET_AEAD_ASSOCLEN': 4, 'ALG_SET_AEAD_AUTHSIZE': 5, 'ALG_SET_IV': 2,
    'ALG_SET_KEY': 1, 'ALG_SET_OP': 3, 'ALG_SET_PUB_KEY': 6, 'EAI_ADDRFAMILY': -9,
    'EAI_NODATA': -5, 'FD_SETSIZE': 1024, 'IPPORT_RESERVED': 1024, 'IPPORT_USERRESERVED': 5000,
    'IPPROTO_MPTCP': 262, 'IPPROTO_UDPLITE': 136, 'IPV6_DONTFRAG': 62, 'IPV6_DSTOPTS': 59,
    'IPV6_HOPLIMIT': 52, 'IPV6_HOPOPTS': 54, 'IPV6_NEXTHOP': 9, 'IPV6_PATHMTU': 61,
    'IPV6_PKTINFO': 50, 'IPV6_RECVDSTOPTS': 58, 'IPV6_RECVHOPLIMIT': 51, 'IPV6_RECVHOPOPTS': 53,
    'IPV6_RECVPATHMTU': 60, 'IPV6_RECVPKTINFO': 49, 'IPV6_RECVRTHDR': 56, 'IPV6_RECVTCLASS': 66,
    'IPV6_RTHDR': 57, 'IPV6_RTHDRDSTOPTS': 55, 'IPV6_RTHDR_TYPE_0': 0, 'IPV6_TCLASS': 67,
    'IP_ADD_SOURCE_MEMBERSHIP': 39, 'IP_BIND_ADDRESS_NO_PORT': 24, 'IP_BLOCK_SOURCE': 38,
    'IP_DROP_SOURCE_MEMBERSHIP': 40, 'IP_MAX_MEMBERSHIPS': 20, 'IP_PKTINFO': 8,
    'IP_RECVRETOPTS': 7, 'IP_RECVTOS': 13, 'IP_TRANSPARENT': 19, 'IP_UNBLOCK_SOURCE': 37,
    'MSG_CONFIRM': 2048, 'MSG_FASTOPEN': 536870912, 'NETLINK_CRYPTO': 21, 'NETLINK_DNRTMSG': 14,
    'NI_IDN': 32, 'PF_CAN': 29, 'PF_PACKET': 17, 'PF_RDS': 21, 'POLLERR': 8, 'POLLHUP': 16,
    'POLLIN': 1, 'POLLMSG': 1024, 'POLLNVAL': 32, 'POLLOUT': 4, 'POLLPRI': 2, 'POLLRDBAND': 128,
    'POLLRDNORM': 64, 'POLLWRNORM': 256, 'SIOCGIFINDEX': 35123, 'SIOCGIFNAME': 35088,
    'SOL_ALG': 279, 'SO_ACCEPTCONN': 30, 'SO_BINDTOIFINDEX': 62, 'SO_INCOMING_CPU': 49,
    'SO_PASSSEC': 34, 'SO_PEERSEC': 31, 'TCP_CC_INFO': 26, 'TCP_CONGESTION': 13,
    'TCP_FASTOPEN': 23, 'TCP_FASTOPEN_CONNECT': 30, 'TCP_FASTOPEN_KEY': 33,
    'TCP_FASTOPEN_NO_COOKIE': 34, 'TCP_INQ': 36, 'TCP_MD5SIG': 14, 'TCP_MD5SIG_EXT': 32,
    'TCP_NOTSENT_LOWAT': 25, 'TCP_QUEUE_SEQ': 21, 'TCP_REPAIR': 19, 'TCP_REPAIR_OPTIONS': 22,
    'TCP_REPAIR_QUEUE': 20, 'TCP_REPAIR_WINDOW': 29, 'TCP_SAVED_SYN': 28, 'TCP_SAVE_SYN': 27,
    'TCP_THIN_DUPACK': 17, 'TCP_THIN_LINEAR_TIMEOUTS': 16, 'TCP_TIMESTAMP': 24,
    'TCP_TX_DELAY': 37, 'TCP_ULP': 31, 'TCP_USER_TIMEOUT': 18, 'TCP_ZEROCOPY_RECEIVE': 35,
    'BDADDR_ANY': '00:00:00:00:00:00', 'BDADDR_LOCAL': '00:00:00:FF:FF:FF', 'has_ipv6': True})

globals().update(constants)

# ____________________________________________________________ layouts

socklen_t = rffi.UINT
socketfd_type = rffi.INT
socklen_t_ptr = lltype.Ptr(rffi.CFixedArray(socklen_t, 1))
socketpair_t = rffi.CArray(socketfd_type)

sockaddr = rffi.CStruct('sockaddr', ('sa_family', rffi.USHORT),
                        ('sa_data', rffi.CFixedArray(rffi.CHAR, 14)))
sockaddr_ptr = lltype.Ptr(sockaddr)
in_addr = rffi.CStruct('in_addr', ('s_addr', rffi.UINT))
in_addr_size = 4
sockaddr_in = rffi.CStruct('sockaddr_in', ('sin_family', rffi.USHORT),
                           ('sin_port', rffi.USHORT), ('sin_addr', in_addr),
                           ('sin_zero', rffi.CFixedArray(rffi.CHAR, 8)))
in6_addr = rffi.CStruct('in6_addr', ('s6_addr', rffi.CFixedArray(rffi.CHAR, 16)))
sockaddr_in6 = rffi.CStruct('sockaddr_in6', ('sin6_family', rffi.USHORT),
                            ('sin6_port', rffi.USHORT), ('sin6_flowinfo', rffi.UINT),
                            ('sin6_addr', in6_addr), ('sin6_scope_id', rffi.UINT))
sockaddr_un = rffi.CStruct('sockaddr_un', ('sun_family', rffi.USHORT),
                           ('sun_path', rffi.CFixedArray(rffi.CHAR, 108)))
sockaddr_nl = rffi.CStruct('sockaddr_nl', ('nl_family', rffi.USHORT), ('nl_pad', rffi.USHORT),
                           ('nl_pid', rffi.UINT), ('nl_groups', rffi.UINT))
sockaddr_ll = rffi.CStruct('sockaddr_ll', ('sll_family', rffi.USHORT),
                           ('sll_protocol', rffi.USHORT), ('sll_ifindex', rffi.INT),
                           ('sll_hatype', rffi.USHORT), ('sll_pkttype', rffi.UCHAR),
                           ('sll_halen', rffi.UCHAR),
                           ('sll_addr', rffi.CFixedArray(rffi.UCHAR, 8)))
ifreq = rffi.CStruct('ifreq', ('ifr_name', rffi.CFixedArray(rffi.CHAR, 16)),
                     ('ifr_ifindex', rffi.INT), ('ifr_rest', rffi.CFixedArray(rffi.CHAR, 20)))

addrinfo = lltype.ForwardReference()
addrinfo_ptr = lltype.Ptr(addrinfo)
addrinfo.become(rffi.CStruct('addrinfo', ('ai_flags', rffi.INT), ('ai_family', rffi.INT),
                             ('ai_socktype', rffi.INT), ('ai_protocol', rffi.INT),
                             ('ai_addrlen', socklen_t), ('ai_addr', sockaddr_ptr),
                             ('ai_canonname', rffi.CCHARP), ('ai_next', addrinfo_ptr)))
hostent = rffi.CStruct('hostent', ('h_name', rffi.CCHARP), ('h_aliases', rffi.CCHARPP),
                       ('h_addrtype', rffi.INT), ('h_length', rffi.INT),
                       ('h_addr_list', rffi.CCHARPP))
servent = rffi.CStruct('servent', ('s_name', rffi.CCHARP), ('s_aliases', rffi.CCHARPP),
                       ('s_port', rffi.INT), ('s_proto', rffi.CCHARP))
protoent = rffi.CStruct('protoent', ('p_name', rffi.CCHARP), ('p_aliases', rffi.CCHARPP),
                        ('p_proto', rffi.INT))
if_nameindex_s = rffi.CStruct('if_nameindex', ('if_index', rffi.UINT),
                              ('if_name', rffi.CCHARP))
iovec = rffi.CStruct('iovec', ('iov_base', rffi.CCHARP), ('iov_len', rffi.SIZE_T))
msghdr = rffi.CStruct('msghdr', ('msg_name', sockaddr_ptr), ('msg_namelen', socklen_t),
                      ('msg_iov', rffi.CArrayPtr(iovec)), ('msg_iovlen', rffi.SIZE_T),
                      ('msg_control', rffi.CCHARP), ('msg_controllen', rffi.SIZE_T),
                      ('msg_flags', rffi.INT))
cmsghdr = rffi.CStruct('cmsghdr', ('cmsg_len', rffi.SIZE_T), ('cmsg_level', rffi.INT),
                       ('cmsg_type', rffi.INT))

# ____________________________________________________________ functions

def external(name, args, result, **kwds):
    return rffi.llexternal(name, args, result, **kwds)

def external_c(name, args, result, **kwds):
    return rffi.llexternal(name, args, result, save_err=rffi.RFFI_SAVE_ERRNO, **kwds)

_INT, _UINT, _P = rffi.INT, rffi.UINT, rffi.CCHARP
socket = external_c('socket', [_INT, _INT, _INT], _INT)
socketclose = external_c('close', [_INT], _INT)
socketclose_no_errno = external('close', [_INT], _INT, releasegil=False)
socketconnect = external_c('connect', [_INT, sockaddr_ptr, socklen_t], _INT)
socketbind = external_c('bind', [_INT, sockaddr_ptr, socklen_t], _INT)
socketlisten = external_c('listen', [_INT, _INT], _INT)
socketaccept = external_c('accept', [_INT, sockaddr_ptr, socklen_t_ptr], _INT)
socketaccept4 = external_c('accept4', [_INT, sockaddr_ptr, socklen_t_ptr, _INT], _INT)
socketgetpeername = external_c('getpeername', [_INT, sockaddr_ptr, socklen_t_ptr], _INT)
socketgetsockname = external_c('getsockname', [_INT, sockaddr_ptr, socklen_t_ptr], _INT)
socketgetsockopt = external_c('getsockopt', [_INT, _INT, _INT, _P, socklen_t_ptr], _INT)
socketsetsockopt = external_c('setsockopt', [_INT, _INT, _INT, _P, socklen_t], _INT)
socketshutdown = external_c('shutdown', [_INT, _INT], _INT)
socketpair = external_c('socketpair', [_INT, _INT, _INT, lltype.Ptr(socketpair_t)], _INT)
socketrecv = external_c('recv', [_INT, _P, rffi.SIZE_T, _INT], rffi.SSIZE_T)
recvfrom = external_c('recvfrom', [_INT, _P, rffi.SIZE_T, _INT, sockaddr_ptr, socklen_t_ptr],
                      rffi.SSIZE_T)
recvmsg = external_c('recvmsg', [_INT, lltype.Ptr(msghdr), _INT], rffi.SSIZE_T)
send = external_c('send', [_INT, _P, rffi.SIZE_T, _INT], rffi.SSIZE_T)
sendto = external_c('sendto', [_INT, _P, rffi.SIZE_T, _INT, sockaddr_ptr, socklen_t],
                    rffi.SSIZE_T)
sendmsg = external_c('sendmsg', [_INT, lltype.Ptr(msghdr), _INT], rffi.SSIZE_T)
dup = external_c('dup', [_INT], _INT)
fcntl = external_c('fcntl', [_INT, _INT, _INT], _INT)
ioctl = external_c('ioctl', [_INT, rffi.ULONG, lltype.Ptr(ifreq)], _INT)

gethostname = external_c('gethostname', [_P, rffi.SIZE_T], _INT)
sethostname = external_c('sethostname', [_P, rffi.SIZE_T], _INT)
gethostbyname = external('gethostbyname', [_P], lltype.Ptr(hostent))
gethostbyaddr = external('gethostbyaddr', [_P, socklen_t, _INT], lltype.Ptr(hostent))
getservbyname = external('getservbyname', [_P, _P], lltype.Ptr(servent))
getservbyport = external('getservbyport', [_INT, _P], lltype.Ptr(servent))
getprotobyname = external('getprotobyname', [_P], lltype.Ptr(protoent))
getaddrinfo = external('getaddrinfo', [_P, _P, addrinfo_ptr, rffi.CArrayPtr(addrinfo_ptr)],
                       _INT)
freeaddrinfo = external('freeaddrinfo', [addrinfo_ptr], lltype.Void)
getnameinfo = external('getnameinfo', [sockaddr_ptr, socklen_t, _P, socklen_t, _P, socklen_t,
                                       _INT], _INT)
gai_strerror = external('gai_strerror', [_INT], _P)
if_nameindex = external_c('if_nameindex', [], rffi.CArrayPtr(if_nameindex_s))
if_freenameindex = external('if_freenameindex', [rffi.CArrayPtr(if_nameindex_s)], lltype.Void)

inet_aton = external('inet_aton', [_P, _P], _INT)
inet_pton = external_c('inet_pton', [_INT, _P, _P], _INT)
inet_ntop = external_c('inet_ntop', [_INT, _P, _P, socklen_t], _P)

# Sets of descriptors, for programs that call select() themselves.

fd_set = lltype.Ptr(rffi.CStruct(
    'fd_set', ('fds_bits', lltype.FixedSizeArray(rffi.ULONG, FD_SETSIZE // 64))))
timeval = rffi.CStruct('timeval', ('tv_sec', rffi.LONG), ('tv_usec', rffi.LONG))
select = rffi.llexternal('select', [rffi.INT, fd_set, fd_set, fd_set, lltype.Ptr(timeval)],
                         rffi.INT, save_err=SAVE_ERR)

def FD_ZERO(fds):
    for i in range(FD_SETSIZE // 64):
        fds.c_fds_bits[i] = rffi.cast(rffi.ULONG, 0)

def FD_SET(fd, fds):
    fds.c_fds_bits[fd >> 6] |= rffi.cast(rffi.ULONG, 1) << (fd & 63)

def FD_CLR(fd, fds):
    fds.c_fds_bits[fd >> 6] &= ~(rffi.cast(rffi.ULONG, 1) << (fd & 63))

def FD_ISSET(fd, fds):
    return intmask((fds.c_fds_bits[fd >> 6] >> (fd & 63)) & rffi.cast(rffi.ULONG, 1))


def geterrno():
    return get_saved_errno()

def invalid_socket(fd):
    return intmask(fd) == INVALID_SOCKET

def htons(x):
    return (x & 0xff) << 8 | (x >> 8) & 0xff

ntohs = htons

def htonl(x):
    x = rffi.cast(lltype.Unsigned, x)
    return ((x & 0xff) << 24 | (x & 0xff00) << 8 | (x >> 8) & 0xff00 | (x >> 24) & 0xff)

ntohl = htonl

def CMSG_SPACE(size):
    """Bytes that a control message takes, with what follows it to align the next one."""
    return (size + 7 & ~7) + 16

def CMSG_LEN(size):
    return size + 16

def socket_strerror_str(errno):
    return os.strerror(errno)

def socket_strerror_unicode(errno):
    return os.strerror(errno).decode('utf-8')

def socket_strerror_utf8(errno):
    msg = os.strerror(errno)
    return msg, len(msg)

def gai_strerror_str(errno):
    return rffi.charp2str(gai_strerror(errno))

def gai_strerror_unicode(errno):
    return gai_strerror_str(errno).decode('utf-8')

def gai_strerror_utf8(errno):
    msg = gai_strerror_str(errno)
    return msg, len(msg)

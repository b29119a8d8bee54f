"""Terminals: the C library's termios, for Linux on x86-64.

The attributes of a terminal are a tuple of four sets of flags (input, output, control,
local), the two speeds, and a list of control characters.
"""
from rpython.rlib._rposix_c import _c, _cast, _checked
from rpython.rlib.rarithmetic import intmask, widen
from rpython.rtyper.lltypesystem import lltype, rffi

SPEED_T = TCFLAG_T = rffi.UINT
CC_T = rffi.UCHAR

all_constants = {
    'B0': 0, 'B50': 1, 'B75': 2, 'B110': 3, 'B134': 4, 'B150': 5, 'B200': 6, 'B300': 7,
    'B600': 8, 'B1200': 9, 'B1800': 0xa, 'B2400': 0xb, 'B4800': 0xc, 'B9600': 0xd,
    'B19200': 0xe, 'B38400': 0xf, 'B57600': 0x1001, 'B115200': 0x1002, 'B230400': 0x1003,
    'B460800': 0x1004, 'CBAUDEX': 0x1000, 'TCSANOW': 0, 'TCSADRAIN': 1, 'TCSAFLUSH': 2,
    'TCIFLUSH': 0, 'TCOFLUSH': 1, 'TCIOFLUSH': 2, 'TCOOFF': 0, 'TCOON': 1, 'TCIOFF': 2,
    'TCION': 3, 'IGNBRK': 1, 'BRKINT': 2, 'IGNPAR': 4, 'PARMRK': 8, 'INPCK': 0x10,
    'ISTRIP': 0x20, 'INLCR': 0x40, 'IGNCR': 0x80, 'ICRNL': 0x100, 'IUCLC': 0x200, 'IXON': 0x400,
    'IXANY': 0x800, 'IXOFF': 0x1000, 'IMAXBEL': 0x2000, 'OPOST': 1, 'OLCUC': 2, 'ONLCR': 4,
    'OCRNL': 8, 'ONOCR': 0x10, 'ONLRET': 0x20, 'OFILL': 0x40, 'OFDEL': 0x80, 'NLDLY': 0x100,
    'CRDLY': 0x600, 'TABDLY': 0x1800, 'BSDLY': 0x2000, 'VTDLY': 0x4000, 'FFDLY': 0x8000,
    'NL0': 0, 'NL1': 0x100, 'CR0': 0, 'CR1': 0x200, 'CR2': 0x400, 'CR3': 0x600, 'TAB0': 0,
    'TAB1': 0x800, 'TAB2': 0x1000, 'TAB3': 0x1800, 'XTABS': 0x1800, 'BS0': 0, 'BS1': 0x2000,
    'VT0': 0, 'VT1': 0x4000, 'FF0': 0, 'FF1': 0x8000, 'CSIZE': 0x30, 'CSTOPB': 0x40,
    'CREAD': 0x80, 'PARENB': 0x100, 'PARODD': 0x200, 'HUPCL': 0x400, 'CLOCAL': 0x800,
    'CIBAUD': 0x100f0000, 'CRTSCTS': 0x80000000, 'CS5': 0, 'CS6': 0x10, 'CS7': 0x20,
    'CS8': 0x30, 'ISIG': 1, 'ICANON': 2, 'XCASE': 4, 'ECHO': 8, 'ECHOE': 0x10, 'ECHOK': 0x20,
    'ECHONL': 0x40, 'ECHOCTL': 0x200, 'ECHOPRT': 0x400, 'ECHOKE': 0x800, 'FLUSHO': 0x1000,
    'NOFLSH': 0x80, 'TOSTOP': 0x100, 'PENDIN': 0x4000, 'IEXTEN': 0x8000, 'VINTR': 0, 'VQUIT': 1,
    'VERASE': 2, 'VKILL': 3, 'VEOF': 4, 'VTIME': 5, 'VMIN': 6, 'VSWTC': 7, 'VSWTCH': 7,
    'VSTART': 8, 'VSTOP': 9, 'VSUSP': 0xa, 'VEOL': 0xb, 'VREPRINT': 0xc, 'VDISCARD': 0xd,
    'VWERASE': 0xe, 'VLNEXT': 0xf, 'VEOL2': 0x10, 'CBAUD': 0x100f, 'CDSUSP': 0x19, 'CEOF': 4,
    'CEOL': 0, 'CEOT': 4, 'CERASE': 0x7f, 'CFLUSH': 0xf, 'CINTR': 3, 'CKILL': 0x15,
    'CLNEXT': 0x16, 'CQUIT': 0x1c, 'CRPRNT': 0x12, 'CSTART': 0x11, 'CSTOP': 0x13, 'CSUSP': 0x1a,
    'CWERASE': 0x17, 'EXTA': 0xe, 'EXTB': 0xf, 'FIOASYNC': 0x5452, 'FIOCLEX': 0x5451,
    'FIONBIO': 0x5421, 'FIONCLEX': 0x5450, 'FIONREAD': 0x541b, 'IOCSIZE_MASK': 0x3fff0000,
    'IOCSIZE_SHIFT': 0x10, 'NCC': 8, 'NCCS': 0x20, 'N_MOUSE': 2, 'N_PPP': 3, 'N_SLIP': 1,
    'N_STRIP': 4, 'N_TTY': 0, 'TCFLSH': 0x540b, 'TCGETA': 0x5405, 'TCGETS': 0x5401,
    'TCSBRK': 0x5409, 'TCSBRKP': 0x5425, 'TCSETA': 0x5406, 'TCSETAF': 0x5408, 'TCSETAW': 0x5407,
    'TCSETS': 0x5402, 'TCSETSF': 0x5404, 'TCSETSW': 0x5403, 'TCXONC': 0x540a,
    'TIOCCONS': 0x541d, 'TIOCEXCL': 0x540c, 'TIOCGETD': 0x5424, 'TIOCGICOUNT': 0x545d,
    'TIOCGLCKTRMIOS': 0x5456, 'TIOCGPGRP': 0x540f, 'TIOCGSERIAL': 0x541e,
    'TIOCGSOFTCAR': 0x5419, 'TIOCGWINSZ': 0x5413, 'TIOCINQ': 0x541b, 'TIOCLINUX': 0x541c,
    'TIOCMBIC': 0x5417, 'TIOCMBIS': 0x5416, 'TIOCMGET': 0x5415, 'TIOCMIWAIT': 0x545c,
    'TIOCMSET': 0x5418, 'TIOCM_CAR': 0x40, 'TIOCM_CD': 0x40, 'TIOCM_CTS': 0x20,
    'TIOCM_DSR': 0x100, 'TIOCM_DTR': 2, 'TIOCM_LE': 1, 'TIOCM_RI': 0x80, 'TIOCM_RNG': 0x80,
    'TIOCM_RTS': 4, 'TIOCM_SR': 0x10, 'TIOCM_ST': 8, 'TIOCNOTTY': 0x5422, 'TIOCNXCL': 0x540d,
    'TIOCOUTQ': 0x5411, 'TIOCPKT': 0x5420, 'TIOCPKT_DATA': 0, 'TIOCPKT_DOSTOP': 0x20,
    'TIOCPKT_FLUSHREAD': 1, 'TIOCPKT_FLUSHWRITE': 2, 'TIOCPKT_NOSTOP': 0x10, 'TIOCPKT_START': 8,
    'TIOCPKT_STOP': 4, 'TIOCSCTTY': 0x540e, 'TIOCSERCONFIG': 0x5453, 'TIOCSERGETLSR': 0x5459,
    'TIOCSERGETMULTI': 0x545a, 'TIOCSERGSTRUCT': 0x5458, 'TIOCSERGWILD': 0x5454,
    'TIOCSERSETMULTI': 0x545b, 'TIOCSERSWILD': 0x5455, 'TIOCSER_TEMT': 1, 'TIOCSETD': 0x5423,
    'TIOCSLCKTRMIOS': 0x5457, 'TIOCSPGRP': 0x5410, 'TIOCSSERIAL': 0x541f,
    'TIOCSSOFTCAR': 0x541a, 'TIOCSTI': 0x5412, 'TIOCSWINSZ': 0x5414,
}
globals().update(all_constants)
# Requests of other systems.
TIOCGSIZE = TIOCSSIZE = None

TERMIOS = rffi.CStruct('termios', ('c_iflag', TCFLAG_T), ('c_oflag', TCFLAG_T),
                       ('c_cflag', TCFLAG_T), ('c_lflag', TCFLAG_T), ('c_line', CC_T),
                       ('c_cc', rffi.CFixedArray(CC_T, NCCS)), ('c_ispeed', SPEED_T),
                       ('c_ospeed', SPEED_T))
TERMIOS_P = lltype.Ptr(TERMIOS)

_INT = rffi.INT
_c_tcgetattr = _c('tcgetattr', [_INT, TERMIOS_P], _INT)
_c_tcsetattr = _c('tcsetattr', [_INT, _INT, TERMIOS_P], _INT)
_c_cfgetispeed = _c('cfgetispeed', [TERMIOS_P], SPEED_T)
_c_cfgetospeed = _c('cfgetospeed', [TERMIOS_P], SPEED_T)
_c_cfsetispeed = _c('cfsetispeed', [TERMIOS_P, SPEED_T], _INT)
_c_cfsetospeed = _c('cfsetospeed', [TERMIOS_P, SPEED_T], _INT)
_c_tcsendbreak = _c('tcsendbreak', [_INT, _INT], _INT)
_c_tcdrain = _c('tcdrain', [_INT], _INT)
_c_tcflush = _c('tcflush', [_INT, _INT], _INT)
_c_tcflow = _c('tcflow', [_INT, _INT], _INT)


def tcgetattr(fd):
    with lltype.scoped_alloc(TERMIOS) as p:
        _checked(_c_tcgetattr(_cast(_INT, fd), p), 'tcgetattr')
        characters = [chr(widen(p.c_c_cc[i])) for i in range(NCCS)]
        return (intmask(p.c_c_iflag), intmask(p.c_c_oflag), intmask(p.c_c_cflag),
                intmask(p.c_c_lflag), intmask(_c_cfgetispeed(p)), intmask(_c_cfgetospeed(p)),
                characters)


def tcsetattr(fd, when, attributes):
    iflag, oflag, cflag, lflag, ispeed, ospeed, characters = attributes
    with lltype.scoped_alloc(TERMIOS) as p:
        # What the tuple does not say stays as it is.
        _checked(_c_tcgetattr(_cast(_INT, fd), p), 'tcgetattr')
        rffi.setintfield(p, 'c_c_iflag', iflag)
        rffi.setintfield(p, 'c_c_oflag', oflag)
        rffi.setintfield(p, 'c_c_cflag', cflag)
        rffi.setintfield(p, 'c_c_lflag', lflag)
        for i in range(NCCS):
            p.c_c_cc[i] = _cast(CC_T, ord(characters[i][0]))
        _checked(_c_cfsetispeed(p, _cast(SPEED_T, ispeed)), 'tcsetattr')
        _checked(_c_cfsetospeed(p, _cast(SPEED_T, ospeed)), 'tcsetattr')
        _checked(_c_tcsetattr(_cast(_INT, fd), _cast(_INT, when), p), 'tcsetattr')


def tcsendbreak(fd, duration):
    _checked(_c_tcsendbreak(_cast(_INT, fd), _cast(_INT, duration)), 'tcsendbreak')


def tcdrain(fd):
    """Waits until everything is sent."""
    _checked(_c_tcdrain(_cast(_INT, fd)), 'tcdrain')


def tcflush(fd, queue_selector):
    """Drops what is waiting."""
    _checked(_c_tcflush(_cast(_INT, fd), _cast(_INT, queue_selector)), 'tcflush')


def tcflow(fd, action):
    """Stops or goes on."""
    _checked(_c_tcflow(_cast(_INT, fd), _cast(_INT, action)), 'tcflow')

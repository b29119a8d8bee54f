"""Compression with zlib."""
import sys

from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rstring import StringBuilder
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(includes=['zlib.h'], libraries=['z'])

constantnames = [
    'Z_OK', 'Z_STREAM_ERROR', 'Z_BUF_ERROR', 'Z_MEM_ERROR', 'Z_STREAM_END', 'Z_DATA_ERROR',
    'Z_DEFLATED', 'Z_DEFAULT_STRATEGY', 'Z_DEFAULT_COMPRESSION', 'Z_NO_FLUSH', 'Z_FINISH',
    'Z_SYNC_FLUSH', 'Z_FULL_FLUSH', 'MAX_WBITS', 'MAX_MEM_LEVEL', 'Z_BEST_SPEED',
    'Z_BEST_COMPRESSION', 'Z_FILTERED', 'Z_HUFFMAN_ONLY', 'Z_NEED_DICT', 'Z_NULL']

Bytefp = rffi.CArrayPtr(rffi.UCHAR)
uInt, uLong = rffi.UINT, rffi.ULONG


class _Config:
    _compilation_info_ = eci
    ZLIB_VERSION = rffi_platform.DefinedConstantString('ZLIB_VERSION')
    ZLIB_VERNUM = rffi_platform.DefinedConstantInteger('ZLIB_VERNUM')
    z_stream = rffi_platform.Struct('z_stream', [
        ('next_in', Bytefp), ('avail_in', uInt), ('total_in', uLong),
        ('next_out', Bytefp), ('avail_out', uInt), ('total_out', uLong),
        ('msg', rffi.CCHARP), ('data_type', rffi.INT), ('adler', uLong)])

for _name in constantnames:
    setattr(_Config, _name, rffi_platform.ConstantInteger(_name))
globals().update(rffi_platform.configure(_Config))

z_stream_p = lltype.Ptr(z_stream)
null_stream = lltype.nullptr(z_stream)

DEFLATED = Z_DEFLATED
DEF_MEM_LEVEL = min(MAX_MEM_LEVEL, 8)
OUTPUT_BUFFER_SIZE = 32 * 1024
CRC32_DEFAULT_START = 0
ADLER32_DEFAULT_START = 1


def zlib_external(name, args, result):
    return rffi.llexternal(name, args, result, compilation_info=eci)

_crc32 = zlib_external('crc32', [uLong, Bytefp, uInt], uLong)
_adler32 = zlib_external('adler32', [uLong, Bytefp, uInt], uLong)
_zlibVersion = zlib_external('zlibVersion', [], rffi.CCHARP)
# The C names are macros, which the compiler of the glue code sees.
_deflateInit2 = zlib_external('deflateInit2', [z_stream_p] + [rffi.INT] * 5, rffi.INT)
_deflate = zlib_external('deflate', [z_stream_p, rffi.INT], rffi.INT)
_deflateCopy = zlib_external('deflateCopy', [z_stream_p, z_stream_p], rffi.INT)
_deflateEnd = zlib_external('deflateEnd', [z_stream_p], rffi.INT)
_deflateSetDictionary = zlib_external('deflateSetDictionary', [z_stream_p, Bytefp, uInt],
                                      rffi.INT)
_inflateInit2 = zlib_external('inflateInit2', [z_stream_p, rffi.INT], rffi.INT)
_inflate = zlib_external('inflate', [z_stream_p, rffi.INT], rffi.INT)
_inflateCopy = zlib_external('inflateCopy', [z_stream_p, z_stream_p], rffi.INT)
_inflateEnd = zlib_external('inflateEnd', [z_stream_p], rffi.INT)
_inflateSetDictionary = zlib_external('inflateSetDictionary', [z_stream_p, Bytefp, uInt],
                                      rffi.INT)


# What a code of zlib means, where its stream does not say more.
_REASONS = {
    Z_MEM_ERROR: "out of memory", Z_BUF_ERROR: "incomplete or truncated stream",
    Z_STREAM_ERROR: "inconsistent stream state", Z_DATA_ERROR: "invalid input data"}


class RZlibError(Exception):
    """zlib has failed; msg is for those who read it."""

    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg

    @staticmethod
    def fromstream(stream, err, while_doing):
        """The error that a code of zlib and its stream tell of."""
        if stream.c_msg:
            reason = rffi.charp2str(stream.c_msg)
        else:
            reason = _REASONS.get(err, "")
        msg = "Error %d %s" % (err, while_doing)
        if reason:
            msg += ": " + reason
        return RZlibError(msg)


def zlibVersion():
    return rffi.charp2str(_zlibVersion())


def crc32(string, start=CRC32_DEFAULT_START):
    """The checksum of a string, an unsigned number; `start` is that of what precedes."""
    with rffi.scoped_nonmovingbuffer(string) as buf:
        return _crc32(rffi.cast(uLong, start), rffi.cast(Bytefp, buf), len(string))

def adler32(string, start=ADLER32_DEFAULT_START):
    with rffi.scoped_nonmovingbuffer(string) as buf:
        return _adler32(rffi.cast(uLong, start), rffi.cast(Bytefp, buf), len(string))

# ____________________________________________________________ streams

def _new_stream():
    return lltype.malloc(z_stream, flavor='raw', zero=True)

def _check_init(stream, err, while_doing):
    if err != Z_OK:
        error = RZlibError.fromstream(stream, err, while_doing)
        lltype.free(stream, flavor='raw')
        if err == Z_STREAM_ERROR:
            raise ValueError("Invalid initialization option")
        raise error

def deflateInit(level=Z_DEFAULT_COMPRESSION, method=Z_DEFLATED, wbits=MAX_WBITS,
                memLevel=DEF_MEM_LEVEL, strategy=Z_DEFAULT_STRATEGY, zdict=None):
    """A stream that compresses; deflateEnd() frees it."""
    stream = _new_stream()
    err = intmask(_deflateInit2(stream, level, method, wbits, memLevel, strategy))
    _check_init(stream, err, "while creating compression object")
    if zdict is not None:
        try:
            deflateSetDictionary(stream, zdict)
        except RZlibError:
            deflateEnd(stream)
            raise
    return stream

def inflateInit(wbits=MAX_WBITS, zdict=None):
    """A stream that decompresses; inflateEnd() frees it."""
    stream = _new_stream()
    err = intmask(_inflateInit2(stream, wbits))
    _check_init(stream, err, "while creating decompression object")
    if zdict is not None and wbits < 0:
        try:
            inflateSetDictionary(stream, zdict)
        except RZlibError:
            inflateEnd(stream)
            raise
    return stream

def deflateSetDictionary(stream, string):
    """Text that the compressor may refer to; before anything is compressed."""
    with rffi.scoped_nonmovingbuffer(string) as buf:
        err = intmask(_deflateSetDictionary(stream, rffi.cast(Bytefp, buf), len(string)))
    _check_dictionary(err)

def inflateSetDictionary(stream, string):
    """The text that the compressor had."""
    with rffi.scoped_nonmovingbuffer(string) as buf:
        err = intmask(_inflateSetDictionary(stream, rffi.cast(Bytefp, buf), len(string)))
    _check_dictionary(err)

def _check_dictionary(err):
    if err == Z_DATA_ERROR:
        raise RZlibError("The given dictionary doesn't match the expected one")
    if err == Z_STREAM_ERROR:
        raise RZlibError("Parameter is invalid or the stream state is inconsistent")

def deflateCopy(source):
    dest = _new_stream()
    err = intmask(_deflateCopy(dest, source))
    if err != Z_OK:
        lltype.free(dest, flavor='raw')
        raise RZlibError.fromstream(source, err, "while copying compression object")
    return dest

def inflateCopy(source):
    dest = _new_stream()
    err = intmask(_inflateCopy(dest, source))
    if err != Z_OK:
        lltype.free(dest, flavor='raw')
        raise RZlibError.fromstream(source, err, "while copying decompression object")
    return dest

def deflateEnd(stream):
    _deflateEnd(stream)
    lltype.free(stream, flavor='raw')

def inflateEnd(stream):
    _inflateEnd(stream)
    lltype.free(stream, flavor='raw')

# ____________________________________________________________ data

def compress(stream, data, flush=Z_NO_FLUSH):
    """Feeds data into a stream; answers what has come out of it so far."""
    result, _, rest = _operate(stream, data, flush, sys.maxint, _deflate,
                               "while compressing", None)
    assert not rest
    return result

def decompress(stream, data, flush=Z_SYNC_FLUSH, max_length=sys.maxint, zdict=None):
    """Feeds data into a stream. Answers at most max_length characters that have come out,
    whether the end of the stream was reached, and how many characters of `data` were
    not used."""
    finish = flush == Z_FINISH
    if finish:
        flush = Z_SYNC_FLUSH
    result, err, rest = _operate(stream, data, flush, max_length, _inflate,
                                 "while decompressing data", zdict)
    if finish:
        rffi.setintfield(stream, 'c_avail_in', 0)
        err = intmask(_inflate(stream, Z_FINISH))
        if err < 0:
            raise RZlibError.fromstream(stream, err, "while decompressing data")
    return result, err == Z_STREAM_END, rest

def _operate(stream, data, flush, max_length, function, while_doing, zdict):
    """Calls a function of zlib until it has taken all input, or filled max_length."""
    result = StringBuilder()
    with rffi.scoped_nonmovingbuffer(data) as inbuf:
        stream.c_next_in = rffi.cast(Bytefp, inbuf)
        rffi.setintfield(stream, 'c_avail_in', len(data))
        with lltype.scoped_alloc(rffi.CCHARP.TO, OUTPUT_BUFFER_SIZE) as outbuf:
            err = Z_OK
            while max_length > 0:
                size = min(OUTPUT_BUFFER_SIZE, max_length)
                stream.c_next_out = rffi.cast(Bytefp, outbuf)
                rffi.setintfield(stream, 'c_avail_out', size)
                err = intmask(function(stream, flush))
                if err == Z_NEED_DICT and zdict is not None:
                    inflateSetDictionary(stream, zdict)
                    err = intmask(function(stream, flush))
                room = intmask(stream.c_avail_out)
                if err == Z_BUF_ERROR and room == size:
                    break
                if err != Z_OK and err != Z_STREAM_END:
                    raise RZlibError.fromstream(stream, err, while_doing)
                result.append_charpsize(outbuf, size - room)
                max_length -= size - room
                if room > 0 or err == Z_STREAM_END:
                    break
        rest = intmask(stream.c_avail_in)
    return result.build(), err, rest
_operate._annspecialcase_ = 'specialize:arg(4)'

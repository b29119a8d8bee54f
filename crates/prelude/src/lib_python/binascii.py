"""Binary data as text."""


class Error(Exception):
    pass


def hexlify(data):
    return ''.join(['%02x' % ord(c) for c in data])


def unhexlify(text):
    if len(text) % 2:
        raise TypeError('Odd-length string')
    return ''.join([chr(int(text[i:i + 2], 16)) for i in range(0, len(text), 2)])


b2a_hex = hexlify
a2b_hex = unhexlify


def crc32(data, crc=0):
    crc ^= 0xffffffff
    for c in data:
        crc ^= ord(c)
        for i in range(8):
            crc = (crc >> 1) ^ (0xedb88320 if crc & 1 else 0)
    crc ^= 0xffffffff
    return crc - (1 << 32) if crc & 0x80000000 else crc

"""What codecs do about errors unless they are told otherwise: they raise, put something in
its place, or leave it out."""

def default_unicode_error_decode(errors, encoding, msg, s, startingpos, endingpos):
    if errors == 'replace':
        return u'\ufffd', endingpos
    if errors == 'ignore':
        return u'', endingpos
    raise UnicodeDecodeError(encoding, s, startingpos, endingpos, msg)


def default_unicode_error_encode(errors, encoding, msg, u, startingpos, endingpos):
    if errors == 'replace':
        return u'?', None, endingpos
    if errors == 'ignore':
        return u'', None, endingpos
    raise UnicodeEncodeError(encoding, u, startingpos, endingpos, msg)

"""Files in memory."""
from StringIO import StringIO

BytesIO = StringIO
TextIOWrapper = BufferedReader = object
open = open
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2

"""Files in memory."""
from StringIO import StringIO

BytesIO = StringIO
TextIOWrapper = BufferedReader = object
open = open

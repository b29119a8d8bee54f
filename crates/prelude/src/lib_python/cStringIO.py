"""Files in memory."""
from StringIO import StringIO

"""C declarations as low-level types."""
from rpython.tool.cparser.cts import CTypeSpace, parse_source

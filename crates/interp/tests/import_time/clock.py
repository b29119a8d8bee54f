# The calendar. Times are given, since the clock of import time is its own; the time zone is UTC.
import time
for seconds in [0, 1, 86399, 86400, 951782400, 951868800, 1078012799, 1234567890.75, 4107542400, -1, -86401]:
    t = time.gmtime(seconds)
    print tuple(t), t.tm_year, t.tm_yday, time.mktime(t)
    print time.strftime('%a %A %b %B %d %H %I %j %m %M %p %S %U %w %W %y %Y %%', t)
    print time.asctime(t), time.ctime(seconds)
    print time.strftime('%c|%x|%X|%Z|%e|%D|%F|%T|%R|%h|%u|%r|%%%%', t)
t = time.localtime(1234567890)
print t, len(t), t[0], t[:3], t == time.gmtime(1234567890), isinstance(t, tuple)
print time.strftime('%b %d %Y, %H:%M:%S', (2026, 11, 24, 3, 5, 9, 1, 328, 0))
print time.mktime((2026, 13, 1, 0, 0, 0, 0, 0, 0)) == time.mktime((2027, 1, 1, 0, 0, 0, 0, 0, 0))
print time.mktime((2026, 2, 30, 25, 61, 61, 0, 0, 0))
print time.sleep(0), time.tzname, time.timezone
for broken in [(2026, 13, 1, 0, 0, 0, 0, 1, 0), (2026, 1, 32, 0, 0, 0, 0, 1, 0), (2026, 1, 1, 24, 0, 0, 0, 1, 0), (1, 2)]:
    try:
        print time.strftime('%Y', broken)
    except (ValueError, TypeError) as e:
        print type(e).__name__, e
print time.gmtime().tm_year >= 1970, len(time.strftime('%Y')), len(time.asctime()), len(time.ctime())

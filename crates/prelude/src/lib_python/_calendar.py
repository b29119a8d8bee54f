"""Dates, for `time`: the Gregorian calendar in UTC, which is the time zone of import time."""

DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August',
          'September', 'October', 'November', 'December']
FIELDS = ['tm_year', 'tm_mon', 'tm_mday', 'tm_hour', 'tm_min', 'tm_sec', 'tm_wday',
          'tm_yday', 'tm_isdst']
# Lowest and highest values of the fields after the year; 0 is taken for 1 in dates.
RANGES = [('month', 0, 12), ('day of month', 0, 31), ('hour', 0, 23), ('minute', 0, 59),
          ('seconds', 0, 61), None, ('day of year', 0, 366)]
DAY = 24 * 60 * 60
EPOCH = 719163      # the number of 1 January 1970, counted from 1 January of the year 1


class struct_time(object):
    """The fields of a date: by position or by name."""

    def __init__(self, fields):
        self.fields = tuple(fields)
        for name, value in zip(FIELDS, self.fields):
            setattr(self, name, value)

    def __len__(self):
        return len(self.fields)

    def __getitem__(self, index):
        return self.fields[index]

    def __iter__(self):
        return iter(self.fields)

    def __contains__(self, value):
        return value in self.fields

    def __add__(self, other):
        return self.fields + tuple(other)

    def __cmp__(self, other):
        return cmp(self.fields, tuple(other))

    def __hash__(self):
        return hash(self.fields)

    def __repr__(self):
        named = ['%s=%r' % pair for pair in zip(FIELDS, self.fields)]
        return 'time.struct_time(%s)' % ', '.join(named)


def days_before_year(year):
    year -= 1
    return year * 365 + year // 4 - year // 100 + year // 400


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year, month):
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def gmtime(seconds):
    days, rest = divmod(int(seconds // 1), DAY)
    number = days + EPOCH - 1
    year = number // 366 + 1
    while days_before_year(year + 1) <= number:
        year += 1
    of_year = number - days_before_year(year)
    month, day = 1, of_year
    while day >= days_in_month(year, month):
        day -= days_in_month(year, month)
        month += 1
    return struct_time([year, month, day + 1, rest // 3600, rest // 60 % 60, rest % 60,
                        number % 7, of_year + 1, 0])


def fields_of(date):
    fields = tuple(date)
    if len(fields) != 9:
        raise TypeError('argument must be sequence of length 9, not %d' % len(fields))
    return fields


def mktime(date):
    year, month, day, hour, minute, second = fields_of(date)[:6]
    year += (month - 1) // 12
    month = (month - 1) % 12 + 1
    days = days_before_year(year) - EPOCH + 1 + day - 1
    for before in range(1, month):
        days += days_in_month(year, before)
    return float(days * DAY + hour * 3600 + minute * 60 + second)


def asctime(date):
    fields = fields_of(date)
    return strftime('%a %b ', fields) + '%2d ' % fields[2] + strftime('%H:%M:%S %Y', fields)


def strftime(format, date):
    fields = list(fields_of(date))
    for i, limits in enumerate(RANGES):
        if limits is None:
            continue
        name, lowest, highest = limits
        if not lowest <= fields[i + 1] <= highest:
            raise ValueError('%s out of range' % name)
    for i in 1, 2, 7:
        fields[i] = max(fields[i], 1)
    parts = format.split('%')
    out = [parts[0]]
    at = 1
    while at < len(parts):
        part = parts[at]
        at += 1
        if part:
            out.append(directive(part[0], fields))
            out.append(part[1:])
        elif at < len(parts):
            out.append('%' + parts[at])
            at += 1
        else:
            out.append('%')
    return ''.join(out)


def directive(letter, fields):
    year, month, day, hour, minute, second, weekday, of_year = fields[:8]
    weekday %= 7
    if letter in 'aA':
        return DAYS[weekday] if letter == 'A' else DAYS[weekday][:3]
    if letter in 'bBh':
        return MONTHS[month - 1] if letter == 'B' else MONTHS[month - 1][:3]
    if letter == 'p':
        return 'AM' if hour < 12 else 'PM'
    if letter == 'Z':
        return 'UTC'
    if letter == 'z':
        return '+0000'
    if letter in 'nt':
        return '\n' if letter == 'n' else '\t'
    if letter in COMPOUND:
        return strftime(COMPOUND[letter], fields)
    if letter in 'Yuw':
        return str({'Y': year, 'u': weekday + 1, 'w': (weekday + 1) % 7}[letter])
    numbers = {
        'd': '%02d' % day,
        'e': '%2d' % day,
        'H': '%02d' % hour,
        'I': '%02d' % ((hour + 11) % 12 + 1),
        'j': '%03d' % of_year,
        'm': '%02d' % month,
        'M': '%02d' % minute,
        'S': '%02d' % second,
        # Weeks are counted from the first Sunday, or Monday, of the year.
        'U': '%02d' % ((of_year + 6 - (weekday + 1) % 7) // 7),
        'W': '%02d' % ((of_year + 6 - weekday) // 7),
        'y': '%02d' % (year % 100),
    }
    if letter not in numbers:
        raise ValueError('%%%s is not supported by strftime() while a program is imported' % letter)
    return numbers[letter]


COMPOUND = {
    'c': '%a %b %e %H:%M:%S %Y',
    'D': '%m/%d/%y',
    'F': '%Y-%m-%d',
    'r': '%I:%M:%S %p',
    'R': '%H:%M',
    'T': '%H:%M:%S',
    'x': '%m/%d/%y',
    'X': '%H:%M:%S',
}

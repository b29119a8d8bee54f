"""sqlite3, which PyPy has by way of cffi: inserts and queries in memory."""
import sqlite3
import sys


def main(rounds):
    db = sqlite3.connect(':memory:')
    db.execute('create table items (id integer primary key, name text, price real)')
    total = 0
    for i in range(rounds):
        rows = [('item %d' % (i * 10 + j), j * 1.5) for j in range(10)]
        db.executemany('insert into items (name, price) values (?, ?)', rows)
        for name, price in db.execute('select name, price from items where id > ? limit 20', (i * 5,)):
            total += len(name) + int(price)
    total += db.execute('select count(*) from items').fetchone()[0]
    return total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))

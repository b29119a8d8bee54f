"""Lists of numbers from and to raw arrays of the same item type."""
from rpython.rlib.objectmodel import specialize


@specialize.argtype(0, 1)
def copy_list_to_raw_array(lst, array):
    for i in range(len(lst)):
        array[i] = lst[i]


@specialize.argtype(0, 1)
def populate_list_from_raw_array(lst, array, length):
    """Makes a list, which must be empty, hold the first items of an array."""
    assert not lst
    for i in range(length):
        lst.append(array[i])

\ quicksort in memory
create xs 50000 allot
variable seed
: random ( -- r ) seed @ 1103515 * 12345 + 2147483647 mod dup seed ! 100000 mod ;
: exchange ( a b -- ) over @ over @ >r swap ! r> swap ! ;
: swapcells ( a b -- ) 2dup @ swap @ rot ! swap ! ;
variable pivot
: upward ( a -- a ) begin dup @ pivot @ < while 1+ repeat ;
: downward ( a -- a ) begin dup @ pivot @ > while 1- repeat ;
: parts ( low high -- i j )
  2dup + 1 rshift @ pivot !
  begin
    swap upward swap downward
    2dup <= if 2dup swapcells 1- swap 1+ swap then
    2dup >
  until ;
: sort ( low high -- )
  2dup < if
    2dup parts ( low high i j )
    rot ( low i j high )
    rot ( low j high i )
    swap recurse ( low j )
    recurse
  else 2drop then ;
: main ( n -- check )
  42 seed !
  dup 0 do random xs i + ! loop
  xs over xs + 1- sort
  0 swap
  1 do
    xs i + @ xs i + 1- @ < if -99 throw then
    5 * xs i + @ + 16777215 and
  loop ;

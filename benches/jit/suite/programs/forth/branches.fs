\ loops whose branches depend on data
variable longest variable best
: steps ( x -- n )
  0 swap
  begin dup 1 <> while
    dup 1 and if 3 * 1+ else 1 rshift then
    swap 1+ swap
  repeat drop ;
: main ( n -- r )
  0 longest ! 0 best !
  1 do
    i steps dup longest @ > if longest ! i best ! else drop then
  loop
  longest @ 100000 * best @ + ;

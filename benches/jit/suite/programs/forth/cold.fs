\ 1,000 loops, each of n rounds
: part ( sum n -- sum )
  copies 1000
    swap over 0 do i 3 * + 65535 and loop swap
  endcopies drop ;
: main ( n -- sum ) 1 swap part ;

\ linked lists in memory: made, reversed, summed
: cons ( value next -- addr ) here >r 2 allot r@ 1+ ! r@ ! r> ;
: numbers ( n -- list ) 0 swap 0 do i swap cons loop ;
: reversed ( list -- list )
  0 swap begin dup while dup 1+ @ >r tuck 1+ ! r> repeat drop ;
: total ( list -- sum ) 0 swap begin dup while swap 3 * over @ + 16777215 and swap 1+ @ repeat drop ;
: main ( n -- sum )
  0 swap 0 do
    here 200 numbers reversed total rot 3 * + 16777215 and swap here - allot
  loop ;

\ objects: a cell with the word for the area and two numbers
create shapes 300 allot
: square ( addr -- area ) 1+ @ dup * ;
: box ( addr -- area ) dup 1+ @ swap 2 + @ * ;
: area ( addr -- area ) dup @ execute ;
: shape ( k -- addr ) 3 * shapes + ;
: prepare
  50 0 do
    i 7 * 3 mod 0= if ['] square else ['] box then
    i shape ! i i shape 1+ ! i 1+ i shape 2 + !
  loop ;
: total ( sum -- sum ) 50 0 do i shape area + 16777215 and loop ;
: main ( n -- sum ) prepare 0 swap 0 do total loop ;

\ catch and throw
: check ( i -- r ) dup 3 mod 0= if throw then dup 7 mod 0= if 7777777 throw then 2 * ;
: middle ( i -- r )
  ['] check catch dup if
    dup 7777777 = if 2drop 7 else throw then
  else drop 1+ then ;
: main ( n -- sum )
  0 swap 1 do
    i ['] middle catch dup if nip else drop then
    + 16777215 and
  loop ;

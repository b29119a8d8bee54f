\ primes below n, at most 100,000
create flags 100000 allot
: main ( n -- count )
  dup 0 do 1 flags i + ! loop
  0 swap
  dup 2 do
    flags i + @ if
      swap 1+ swap
      i dup + begin 2dup > while
        0 over flags + !
        i +
      repeat drop
    then
  loop drop ;

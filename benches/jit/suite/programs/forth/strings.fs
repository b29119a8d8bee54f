\ strings of characters in memory: made, reversed, compared
create word1 100 allot create word2 100 allot
: letter ( k -- c ) 26 mod 97 + ;
: make ( n -- ) 20 0 do dup i i * + letter word1 i + ! loop drop ;
: reverse 20 0 do word1 i + @ word2 19 i - + ! loop ;
: same ( -- count ) 0 20 0 do word1 i + @ word2 i + @ = if 1+ then loop ;
: hash ( -- h ) 0 20 0 do 31 * word2 i + @ + 16777215 and loop ;
: main ( n -- r ) 0 swap 0 do i make reverse same + hash xor loop ;

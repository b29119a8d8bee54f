\ nested loops with variables
variable sum variable rounds
: step ( k -- ) j * drop ;
: main ( n -- sum )
  1 sum ! 0 rounds !
  dup 0 do
    dup 0 do
      i 1 and 0= if j sum +! else sum @ i 5 * + 65535 and sum ! then
      1 rounds +!
    loop
  loop
  drop sum @ rounds @ + ;

\ product of matrices of floats, at most 30 by 30, at 100, 1100, 2100
variable n
: a ( i j -- addr ) swap n @ * + 100 + ;
: b ( i j -- addr ) swap n @ * + 1100 + ;
: c ( i j -- addr ) swap n @ * + 2100 + ;
: fill-both
  n @ 0 do n @ 0 do
    j 7 * i 3 * + 11 mod 5 - s>f fdup 0.5 f* j i a f! 0.25 f* j i b f!
  loop loop ;
: dot ( i j -- ) ( F: -- sum )
  0.0
  n @ 0 do
    over i a f@ i over b f@ f* f+
  loop 2drop ;
: main ( n -- r )
  n ! fill-both
  n @ 0 do n @ 0 do j i dot j i c f! loop loop
  0.0 n @ 0 do i n @ i 1+ - c f@ f+ loop
  8.0 f* f>s ;

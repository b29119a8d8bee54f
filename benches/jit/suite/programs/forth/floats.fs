\ floats: points of the Mandelbrot set in a square of n by n
\ cells: 0 re 1 im 2 x 3 y
: rounds ( -- k )
  0.0 2 f! 0.0 3 f!
  0
  begin
    2 f@ fdup f* 3 f@ fdup f* f+ 4.0 f< over 40 < and
  while
    2 f@ fdup f* 3 f@ fdup f* f- 0 f@ f+
    2 f@ 3 f@ f* 2.0 f* 1 f@ f+ 3 f!
    2 f!
    1+
  repeat ;
: main ( n -- sum )
  0 over 0 do
    over 0 do
      i s>f 3.0 f* over s>f f/ 2.0 f- 0 f!
      j s>f 2.0 f* over s>f f/ 1.0 f- 1 f!
      rounds +
    loop
  loop nip ;

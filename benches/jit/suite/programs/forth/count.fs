\ a counting loop
: main ( n -- sum ) 0 swap 0 do i 3 * + 1048575 and loop ;

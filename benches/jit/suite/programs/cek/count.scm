; a counting loop
(define (main n)
  (let loop ((i 0) (sum 0))
    (if (< i n) (loop (+ i 1) (bitwise-and (+ sum (* i 3)) 1048575)) sum)))

; 1,000 loops, each of n rounds
(define sum 0)
(define (part n)
  (copies 1000
    (set! sum (let loop ((i 0) (s sum)) (if (< i n) (loop (+ i 1) (bitwise-and (+ s (* i 3)) 65535)) s))))
  sum)
(define (main n) (begin (set! sum 1) (part n)))

; primes below n in a vector
(define (main n)
  (let ((flags (make-vector n #t)))
    (let outer ((i 2) (count 0))
      (if (< i n)
        (if (vector-ref flags i)
          (begin
            (let inner ((j (+ i i)))
              (if (< j n) (begin (vector-set! flags j #f) (inner (+ j i))) #f))
            (outer (+ i 1) (+ count 1)))
          (outer (+ i 1) count))
        count))))

; nested loops, a global that is set
(define total 0)
(define (main n)
  (set! total 1)
  (let outer ((i 0))
    (if (< i n)
      (begin
        (let inner ((j 0))
          (if (< j n)
            (begin
              (if (eq? (bitwise-and j 1) 0)
                (set! total (+ total i))
                (set! total (bitwise-and (+ total (* i j)) 65535)))
              (inner (+ j 1)))
            #f))
        (outer (+ i 1)))
      total)))

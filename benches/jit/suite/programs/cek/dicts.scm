; hash tables
(define (main n)
  (let ((seen (make-hash)) (words (make-hash)))
    (let loop ((i 0) (sum 0))
      (if (< i n)
        (let ((key (modulo (* i 31) 257)) (word (number->string (modulo i 11))))
          (begin
            (hash-set! seen key (+ i (hash-ref seen key 0)))
            (hash-set! words word (+ 1 (hash-ref words word 0)))
            (loop (+ i 1) (bitwise-and (+ sum (hash-ref seen (+ key 1) 1)) 16777215))))
        (+ sum (hash-ref words "7" 0))))))

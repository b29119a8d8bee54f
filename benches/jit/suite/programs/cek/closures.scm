; closures with state
(define (counter step)
  (let ((total 0)) (lambda (by) (begin (set! total (bitwise-and (+ total (* by step)) 1048575)) total))))
(define (compose f g) (lambda (x) (f (g x))))
(define (main n)
  (let ((both (compose (counter 1) (counter 2))))
    (let loop ((i 0) (sum 0))
      (if (< i n) (loop (+ i 1) (bitwise-xor sum (both i))) sum))))

# recursion with a stack
main:
fib:
  addi r2, r0, 2
  blt r1, r2, leaf
  addi r14, r14, -12
  sw r15, r14, 0
  sw r1, r14, 4
  addi r1, r1, -1
  jal fib
  sw r1, r14, 8
  lw r1, r14, 4
  addi r1, r1, -2
  jal fib
  lw r2, r14, 8
  add r1, r1, r2
  lw r15, r14, 0
  addi r14, r14, 12
leaf:
  jr r15

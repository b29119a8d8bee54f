# exceptions: a handler that counts and goes back
main:
  la r2, handler
  tvec r2
  addi r2, r0, 0
  addi r3, r0, 0
  addi r4, r0, 3
  addi r5, r0, 7
loop:
  rem r6, r2, r4
  bne r6, r0, other
  trap r2
other:
  rem r6, r2, r5
  bne r6, r0, fine
  trap r5
fine:
  addi r3, r3, 1
  addi r2, r2, 1
  blt r2, r1, loop
  addi r1, r3, 0
  jr r15
handler:
  bne r13, r5, plain
  addi r3, r3, 1000
  rett
plain:
  add r3, r3, r13
  rett

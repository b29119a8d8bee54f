# primes below n, flags are bytes
main:
  addi r2, r0, 0
  addi r7, r0, 1
clear:
  sb r7, r2, 0
  addi r2, r2, 1
  blt r2, r1, clear
  addi r2, r0, 2
  addi r3, r0, 0
outer:
  lb r4, r2, 0
  beq r4, r0, skip
  addi r3, r3, 1
  add r5, r2, r2
inner:
  bge r5, r1, skip
  sb r0, r5, 0
  add r5, r5, r2
  jump inner
skip:
  addi r2, r2, 1
  blt r2, r1, outer
  addi r1, r3, 0
  jr r15

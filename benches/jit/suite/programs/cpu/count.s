# a counting loop
main:
  addi r2, r0, 0
  addi r3, r0, 0
  lui r4, 16
  addi r4, r4, -1
loop:
  add r5, r2, r2
  add r5, r5, r2
  add r3, r3, r5
  and r3, r3, r4
  addi r2, r2, 1
  blt r2, r1, loop
  addi r1, r3, 0
  jr r15

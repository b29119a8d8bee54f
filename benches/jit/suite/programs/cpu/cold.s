# 1,000 loops, each of n rounds
main:
  addi r3, r0, 1
.repeat 1000
  addi r2, r0, 0
loop$:
  add r4, r2, r2
  add r3, r3, r4
  xor r3, r3, r2
  andi r3, r3, 65535
  addi r2, r2, 1
  blt r2, r1, loop$
.end
  addi r1, r3, 0
  jr r15

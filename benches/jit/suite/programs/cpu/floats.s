# the Mandelbrot set in a square of n by n
main:
  addi r9, r0, 0
  cvtf f7, r1
  addi r5, r0, 40
  addi r8, r0, 4
  addi r2, r0, 0
row:
  addi r3, r0, 0
column:
  addi r4, r0, 3
  mul r4, r4, r3
  cvtf f0, r4
  fdiv f0, f0, f7
  addi r4, r0, 2
  cvtf f5, r4
  fsub f0, f0, f5      # re
  mul r4, r4, r2
  cvtf f1, r4
  fdiv f1, f1, f7
  addi r4, r0, 1
  cvtf f5, r4
  fsub f1, f1, f5      # im
  cvtf f2, r0
  cvtf f3, r0
  cvtf f6, r8
  addi r6, r0, 0
point:
  fmul f4, f2, f2
  fmul f5, f3, f3
  fadd f4, f4, f5
  flt r7, f4, f6
  beq r7, r0, out
  bge r6, r5, out
  fmul f3, f2, f3
  fadd f3, f3, f3
  fadd f3, f3, f1
  fsub f2, f4, f5
  fsub f2, f2, f5
  fadd f2, f2, f0
  addi r6, r6, 1
  jump point
out:
  add r9, r9, r6
  addi r3, r3, 1
  blt r3, r1, column
  addi r2, r2, 1
  blt r2, r1, row
  addi r1, r9, 0
  jr r15

fn f(x) { return x * x + 0.5; }
fn go(n) { let i = 0; let t = 0.0; while i < n { t = t + f(t / (i + 1.0)); i = i + 1; } return t; }
print go(1000000);

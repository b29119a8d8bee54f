fn account(b) { let self = {"balance": b};
  self.deposit = fn(self, n) { self.balance = self.balance + n; return self.balance; };
  return self; }
let a = account(0);
fn go(n) { let i = 0; let t = 0; while i < n { t = a.deposit(2); i = i + 1; } return t; }
print go(500000);

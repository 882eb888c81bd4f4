// run: eval
// run: signs --set x=neg --set y=pos
// run: run --set x=3 --set y=4
// run: wlp --post 'x == 5 && y == 7'
// run: eval --json
// run: eval --smt2
// Fig. 1(a): swaps two numbers; Example 1 and the left-hand side of Example 5.
x = x ^ y;
y = x ^ y;
x = x ^ y;

// run: eval
// run: compose $FILE swap_last.pl
// Example 5: U_{1,2}; composed with U_3 it is the swap.
x = x ^ y;
y = x ^ y;

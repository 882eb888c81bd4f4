// run: eval
// Example 5: U_3.
x = x ^ y;

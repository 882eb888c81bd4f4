// run: eval
// The table of section 4, second row.
x = y;

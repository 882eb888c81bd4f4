// run: eval
// The table of section 4, first row.
x = 17;

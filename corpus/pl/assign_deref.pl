// run: eval
// The table of section 4, third row.
x = *q;

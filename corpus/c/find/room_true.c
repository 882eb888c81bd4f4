// finds: out-of-bounds
// entry: last
// One more than the declaration says.
typedef unsigned long size;
int last(size n, const char text[static n]) { return text[n]; } //~ out-of-bounds

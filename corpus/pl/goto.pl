// run: run --set x=7
// run: path --through again,again,end
// Labels and goto.
y = 0;
again: y = y + 1;
if (y * y < x) goto again;
end: ;

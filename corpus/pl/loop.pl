// run: run --set n=10
// run: eval --unroll 3
// run: path --through body,body,done
// run: eval --through body,body,done
// run: wlp --through body,body,done --post s==1
// run: signs --set n=pos
// Section 6, loops: a path goes round a given number of times.
i = 0;
s = 0;
while (i < n) {
    body: s = s + i;
    i = i + 1;
}
done: ;

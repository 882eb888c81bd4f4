"""The same in GDB with its own Python and breakpoints, running forwards only: gdb -x in_gdb.py with $WHICH and $OUT set.

Times of hits are counted, since GDB without a recording has none; nothing is kept between the two traces but the list.
"""

import json
import os
import time

import gdb

gdb.execute("set pagination off")
gdb.execute("set confirm off")


class Hits(gdb.Breakpoint):
    def __init__(self, where, see):
        super().__init__(where, internal=True)
        self.silent = True
        self.see = see
        self.hits = 0

    def stop(self):
        self.hits += 1
        self.see(gdb.selected_frame())
        return False


def run(*breakpoints):
    gdb.execute("run", to_string=True)
    hits = sum(one.hits for one in breakpoints)
    for one in breakpoints:
        one.delete()
    return hits


spent, seconds, hits = 0.0, [], 0


def action(act):
    global spent
    begun = time.perf_counter()
    result = act()
    spent += time.perf_counter() - begun
    seconds.append(round(spent, 6))
    return result


if os.environ["WHICH"] == "laziness":
    for rest in (0, 1):
        found = []

        def collect():
            global hits
            now = [0]

            def see(frame):
                now[0] += 1
                if int(frame.read_var("x")) % 2 == rest:
                    found.append(now[0])

            hits += run(Hits("foo", see))

        action(collect)
        for one in [*found, None]:
            action(lambda: one)
elif os.environ["WHICH"] == "hits":
    found = []

    def see(frame):
        if int(frame.read_var("z")) % 2 == 0:
            found.append(frame.pc())

    def collect():
        global hits
        hits += run(Hits("bar", see))

    action(collect)
else:
    tables, asked = [], []

    def collect():
        global hits
        table, now = {}, [0]

        def bar(frame):
            now[0] += 1
            table[int(frame.read_var("z"))] = now[0]
            tables.append(dict(table))

        def foo(frame):
            now[0] += 1
            asked.append((int(frame.read_var("y")), len(tables) - 1))

        hits += run(Hits("bar", bar), Hits("foo", foo))

    action(collect)
    for y, at in [*asked, (None, -1)]:
        action(lambda: tables[at].get(y))
with open(os.environ["OUT"], "w") as file:
    json.dump({"startup": 0.0, "seconds": seconds, "hits": hits}, file)

# The seats one by one: accesses of two threads, one of them a write, that no lock and no join orders.
seats = the_execution.breakpoints("main").first().value.read_var("seats")
found = analyses.races(the_execution, *((seat["taken"].address, 4) for seat in seats))
print(len(found), "races")
for item in found:
    for one in (*item.value.earlier, item.value.later):
        at = one.where.before()
        print("time", one.where.time, "thread", one.thread, one.kind + "s in", at.function, "line", at.line[1])
    print()

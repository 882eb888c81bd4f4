# Who wrote the pointer that the crash followed? Walk the list as `find` did, up to the pointer that leads nowhere.
crash = the_execution.get_at(the_execution.get_time())
bad = int(crash.backtrace()[1].read_var("guest"))
link = crash.backtrace()[1].read_var("guests")
while int(link) != bad:
    print(link.deref()["name"].string(), "in room", int(link.deref()["room"]))
    link = link.deref()["next"]

# `link` is the place in memory that holds the bad pointer. Its writes, the last one first, and the line that made each.
for write in reversed(the_execution.watchpoints(link, rw=WRITE)):
    frame = next(frame for frame in write.value.before().backtrace() if frame.line)
    print("time", write.time, "written by", frame.function, "line", frame.line[1])

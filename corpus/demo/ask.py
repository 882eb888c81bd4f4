# Questions about the run of stock.c that crashed: parallax script stock.rec ask.py
from parallax import WRITE

sells = the_execution.breakpoints("sell")
drops = the_execution.breakpoints("drop")
print(f"{len(sells)} call of sell, {len(drops)} call of drop")

# The last write to the pointer that was null in the end, and who made it.
written = the_execution.watchpoints("favourite", rw=WRITE).last()
print(f"favourite became {written.value.read_var('favourite')} at time {written.time}, in")
print(written.value.before().backtrace())

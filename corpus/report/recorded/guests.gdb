[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".

Program received signal SIGSEGV, Segmentation fault.
0x0000555555555279 in set_room (g=0x0, room=3) at /home/ada/src/guests.c:35
35	    g->room = room;
#0  0x0000555555555279 in set_room (g=0x0, room=3) at /home/ada/src/guests.c:35
#1  0x00005555555552bd in move (name=0x555555556031 "Nobody", room=3) at /home/ada/src/guests.c:44
#2  0x0000555555555428 in main (argc=2, argv=0x7fffffffe7d8) at /home/ada/src/guests.c:81
#0  0x0000555555555279 in set_room (g=0x0, room=3) at /home/ada/src/guests.c:35
No locals.
#1  0x00005555555552bd in move (name=0x555555556031 "Nobody", room=3) at /home/ada/src/guests.c:44
        g = 0x0
#2  0x0000555555555428 in main (argc=2, argv=0x7fffffffe7d8) at /home/ada/src/guests.c:81
No locals.

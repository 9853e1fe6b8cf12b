/*
 * The queue lock of Craig, Landin and Hagersten for two processes.
 * A fence before the lock is handed on.
 */
/* A cell for each process, and one that is free at first. */
bool locked[3];
byte tail = 2;
byte ncrit;

active [2] proctype user() {
  byte mine = _pid;
  byte before;
again:
  locked[mine] = true;
  before = xchg(tail, mine);
  (locked[before] == false);
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  fence;
  locked[mine] = false;
  mine = before;
  goto again
}

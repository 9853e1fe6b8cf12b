/*
 * Dijkstra's algorithm for two processes.
 * A process may look at the other's flag while its own is still in its buffer.
 */
/* 0 idle, 1 asks, 2 goes in */
byte flag[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
  byte holder;
again:
  flag[me] = 1;
  holder = turn;
  do
  :: holder != me ->
     if
     :: flag[holder] == 0 -> turn = me
     :: else
     fi;
     holder = turn
  :: else -> break
  od;
  flag[me] = 2;
  if
  :: flag[other] == 2 -> goto again
  :: else
  fi;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  flag[me] = 0;
  goto again
}

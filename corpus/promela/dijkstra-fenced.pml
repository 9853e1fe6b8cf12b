/*
 * Dijkstra's algorithm for two processes.
 * A fence after each flag, and one before the release for PSO.
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
  fence;
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
  fence;
  if
  :: flag[other] == 2 -> goto again
  :: else
  fi;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  fence;
  flag[me] = 0;
  goto again
}

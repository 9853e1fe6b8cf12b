/*
 * Peterson's algorithm for two processes, in which a process stores its wish again and again while it waits.
 * The buffer may grow without bound there; a fence before and after the wait is enough under TSO.
 * Under PSO the turn may be in memory before the wish.
 */
bool flag[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte other = 1 - _pid;
  do
  :: flag[_pid] = true;
     turn = other;
     fence;
     do
     :: flag[other] && turn == other -> flag[_pid] = true
     :: else -> break
     od;
     fence;
     ncrit++;
     assert(ncrit == 1);
     ncrit--;
     fence;
     flag[_pid] = false
  od
}

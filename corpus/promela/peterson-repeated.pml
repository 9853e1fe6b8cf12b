/*
 * Peterson's algorithm for two processes, entered again and again.
 * Nothing orders the stores with the look at the other's, so a store buffer breaks it.
 */
bool flag[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
again:
  flag[me] = true;
  turn = other;
  (flag[other] == false || turn == me);
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  flag[me] = false;
  goto again
}

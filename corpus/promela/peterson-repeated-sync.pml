/*
 * Peterson's algorithm for two processes, entered again and again.
 * The buffers of all processes drain before the wait, which is enough under TSO.
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
  sync;
  (flag[other] == false || turn == me);
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  flag[me] = false;
  goto again
}

/*
 * Peterson's algorithm for two processes, each of which enters once.
 * A fence before the wait; under PSO also between the two stores, and before the release for the counter.
 */
bool flag[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
  flag[me] = true;
  fence;
  turn = other;
  fence;
  (flag[other] == false || turn == me);
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  fence;
  flag[me] = false
}

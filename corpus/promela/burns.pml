/*
 * Burns' algorithm with one bit for each of three processes.
 * A process may look at the other bits while its own is still in its buffer.
 */
bool flag[3];
byte ncrit;

active [3] proctype user() {
  byte me = _pid;
  byte j;
again:
  flag[me] = false;
  j = 0;
  do
  :: j < me ->
     if
     :: flag[j] -> goto again
     :: else -> j++
     fi
  :: else -> break
  od;
  flag[me] = true;
  j = 0;
  do
  :: j < me ->
     if
     :: flag[j] -> goto again
     :: else -> j++
     fi
  :: else -> break
  od;
  for (j : me + 1 .. 2) {
    (flag[j] == false)
  }
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  flag[me] = false;
  goto again
}

/*
 * Burns' algorithm with one bit for each of three processes.
 * A fence after the bit is cleared or set, and one before the release for PSO.
 */
bool flag[3];
byte ncrit;

active [3] proctype user() {
  byte me = _pid;
  byte j;
again:
  flag[me] = false;
  fence;
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
  fence;
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
  fence;
  flag[me] = false;
  goto again
}

/*
 * A lock that is taken by swapping, for three processes.
 * Under PSO it may be free again before what was done under it is in memory.
 */
bit lock;
byte ncrit;

active [3] proctype user() {
  bit was;
again:
  do
  :: was = xchg(lock, 1);
     if
     :: was == 0 -> break
     :: else
     fi
  od;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  lock = 0;
  goto again
}

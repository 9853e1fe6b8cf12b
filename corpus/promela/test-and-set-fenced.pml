/*
 * A lock that is taken by swapping, for three processes.
 * A fence before it is free again.
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
  fence;
  lock = 0;
  goto again
}
